"""The SQL of resets and purges: which generation goes on, and the fences of keys without a conversation."""

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from memoranda.conversations.models import LAST_GENERATION, Conversation, ConversationKey
from memoranda.conversations.rows.store import COLUMNS
from memoranda.storage import Row, Transaction, one_of, upsert
from memoranda.storage.scope import NIL
from memoranda.storage.tables import (
    conversation_branches,
    conversation_fences,
    conversations,
    workflow_generations,
)
from memoranda.words.errors import OverLimit

c, g, f = conversations.c, workflow_generations.c, conversation_fences.c
b = conversation_branches.c
_KEY: Final = (
    f.workflow_id == bindparam("workflow"),
    f.generation == bindparam("number"),
    f.agent_id == bindparam("agent"),
)

PRESENT: Final = select(g.generation).where(g.workflow_id == bindparam("workflow"))
NEWEST: Final = (
    select(c.generation)
    .where(c.workflow_id == bindparam("workflow"))
    .order_by(c.generation.desc())
    .limit(1)
)
GO_ON: Final = upsert(
    workflow_generations,
    ["organization_id", "workflow_id"],
    set_=["generation", "reset_at"],
)
FENCE: Final = select(f.fence).where(*_KEY)
SET_FENCE: Final = upsert(
    conversation_fences,
    ["organization_id", "workflow_id", "generation", "agent_id"],
    set_=["fence"],
)
DROP_FENCES: Final = delete(conversation_fences).where(
    f.workflow_id == bindparam("workflow"), f.generation < bindparam("present")
)
# A branch that has a conversation is needed to find it: both go together.
DROP_BRANCHES: Final = delete(conversation_branches).where(
    b.workflow_id == bindparam("workflow"),
    b.generation < bindparam("present"),
    b.conversation_id.is_(None),
)
_BRANCHES_KEY: Final = (
    b.workflow_id == bindparam("workflow"),
    b.generation == bindparam("number"),
    b.agent_id == bindparam("agent"),
)
DROP_BRANCHES_OF_KEY: Final = delete(conversation_branches).where(*_BRANCHES_KEY)
END_BRANCHES: Final = (
    update(conversation_branches)
    .where(one_of(b.conversation_id, "conversations"))
    .values(conversation_id=bindparam("nothing"), ended=bindparam("how"))
)
BRANCHES: Final = (
    select(*COLUMNS)
    .join_from(conversations, conversation_branches, b.conversation_id == c.id)
    .where(b.workflow_id == bindparam("workflow"))
    .order_by(c.id)
    .with_for_update()
)
BRANCHES_OF_KEY: Final = (
    select(*COLUMNS)
    .join_from(conversations, conversation_branches, b.conversation_id == c.id)
    .where(*_BRANCHES_KEY)
    .order_by(c.id)
    .with_for_update()
)
BRANCHES_THAT_GO_ON: Final = BRANCHES.where(c.ended_at.is_(None))
OF_WORKFLOW: Final = (
    select(*COLUMNS).where(c.workflow_id == bindparam("workflow")).order_by(c.id).with_for_update()
)
THAT_GO_ON: Final = OF_WORKFLOW.where(c.ended_at.is_(None))
OF_USER: Final = (
    select(*COLUMNS).where(c.user_id == bindparam("user")).order_by(c.id).with_for_update()
)
_EMPTIED: Final = {
    "length": 0,
    "bytes": 0,
    "digest": "",
    "fence": c.fence + 1,
    "whole_since": bindparam("now"),
    "updated_at": bindparam("now"),
}
EMPTY: Final = update(conversations).where(one_of(c.id, "conversations")).values(**_EMPTIED)
END: Final = EMPTY.values(ended_at=bindparam("now"))
DELETE: Final = delete(conversations).where(one_of(c.id, "conversations"))


def lock(tx: Transaction, workflow_id: str) -> None:
    """Let nobody else make a conversation of the workflow, or reset it, until the commit."""
    tx.lock(f"workflow {workflow_id}")


def present(tx: Transaction, workflow_id: str) -> int:
    """The generation that goes on: older ones have ended; 1 where there was no reset."""
    row = tx.one(PRESENT, workflow=workflow_id)
    return 1 if row is None else int(row.generation)


def begin_next(tx: Transaction, workflow_id: str) -> int:
    """Let a generation begin that is newer than any that there was; the caller holds the lock."""
    newest = tx.one(NEWEST, workflow=workflow_id)
    last = max(present(tx, workflow_id), newest.generation if newest else 1)
    if last >= LAST_GENERATION:
        raise OverLimit(
            "The workflow has no generation left: give it another id.", limit=LAST_GENERATION
        )
    tx.run(GO_ON, workflow_id=workflow_id, generation=last + 1, reset_at=tx.now)
    return last + 1


def drop_fences(tx: Transaction, workflow_id: str, present: int) -> None:
    """Forget the fences of generations older than the present one, whose saves are refused anyway, and the names of their ended branches.

    After the conversations are held: whoever purges one takes it before its fence.
    """
    tx.run(DROP_FENCES, workflow=workflow_id, present=present)
    tx.run(DROP_BRANCHES, workflow=workflow_id, present=present)


def fence(tx: Transaction, key: ConversationKey) -> int:
    """The fence of a key without a conversation."""
    row = tx.one(FENCE, workflow=key.workflow_id, number=key.generation, agent=key.agent_id or NIL)
    return 0 if row is None else int(row.fence)


def set_fence(tx: Transaction, key: ConversationKey, fence: int) -> None:
    """Give a key without a conversation its fence."""
    tx.run(
        SET_FENCE,
        workflow_id=key.workflow_id,
        generation=key.generation,
        agent_id=key.agent_id or NIL,
        fence=fence,
    )


def going_on(tx: Transaction, workflow_id: str) -> list[Conversation]:
    """The workflow's conversations that have not ended, held, and those of their branches."""
    named = {"workflow": workflow_id}
    return _conversations([*tx.all(THAT_GO_ON, **named), *tx.all(BRANCHES_THAT_GO_ON, **named)])


def of_workflow(tx: Transaction, workflow_id: str) -> list[Conversation]:
    """All conversations of the workflow, held, and those of their branches."""
    named = {"workflow": workflow_id}
    return _conversations([*tx.all(OF_WORKFLOW, **named), *tx.all(BRANCHES, **named)])


def branches_of(tx: Transaction, there: Conversation) -> list[Conversation]:
    """The conversations of the branches of that one, held; the caller holds its workflow."""
    if there.workflow_id is None:
        return []
    return _conversations(tx.all(BRANCHES_OF_KEY, **_key_of(there)))


def of_user(tx: Transaction, user_id: UUID) -> list[Conversation]:
    """All conversations of the user, held."""
    return _conversations(tx.all(OF_USER, user=user_id))


def emptied(tx: Transaction, rows: list[Conversation], *, ended: bool) -> list[Conversation]:
    """Write down that these hold nothing any more, and have ended where they have; what they are then."""
    tx.run(END if ended else EMPTY, conversations=[each.id for each in rows], now=tx.now)
    return [
        each.model_copy(
            update={
                "length": 0,
                "bytes": 0,
                "digest": "",
                "fence": each.fence + 1,
                "updated_at": tx.now,
            }
        )
        for each in rows
    ]


def remove(tx: Transaction, rows: list[Conversation]) -> None:
    """Delete the conversations with all that hangs on them: what a workflow's was branched into, names too.

    A branch that goes by itself keeps its name, so that nobody who still holds it writes into another.
    """
    ids = [each.id for each in rows]
    tx.run(END_BRANCHES, conversations=ids, nothing=None, how="deleted")
    for each in rows:
        if each.workflow_id is not None:
            tx.run(DROP_BRANCHES_OF_KEY, **_key_of(each))
    tx.run(DELETE, conversations=ids)


def _key_of(there: Conversation) -> dict[str, object]:
    return {
        "workflow": there.workflow_id,
        "number": there.generation,
        "agent": there.agent_id or NIL,
    }


def _conversations(rows: list[Row]) -> list[Conversation]:
    return [Conversation.model_validate(row._asdict()) for row in rows]
