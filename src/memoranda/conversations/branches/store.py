"""The SQL of branches: which there are under a key, and the messages that one begins with."""

from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import Uuid, bindparam, func, insert, select, update

from memoranda.access.reach import NOBODY, Reach
from memoranda.conversations.branches.models import KeptBranch
from memoranda.conversations.content import read_metadata
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.rows.store import Written
from memoranda.storage import Transaction
from memoranda.storage.scope import NIL
from memoranda.storage.tables import conversation_branches, conversation_messages, conversations

b, m, c = conversation_branches.c, conversation_messages.c, conversations.c
NEWEST: Final = UUID(int=2**128 - 1)
Ended = Literal["deleted", "cleared"]
_KEY: Final = (
    b.workflow_id == bindparam("workflow"),
    b.generation == bindparam("number"),
    b.agent_id == bindparam("agent"),
)
ADD: Final = insert(conversation_branches)
NAMED: Final = select(b.conversation_id, b.ended, b.created_at).where(
    *_KEY, b.name == bindparam("branch")
)
GOING_ON: Final = (
    select(b.name, b.conversation_id, b.created_at)
    .where(*_KEY, b.ended.is_(None))
    .order_by(b.created_at, b.name)
)
END: Final = (
    update(conversation_branches)
    .where(*_KEY, b.name == bindparam("branch"))
    .values(conversation_id=bindparam("nothing"), ended=bindparam("how"))
)
_OF: Final = m.conversation_id == bindparam("conversation")


def _id(name: str) -> Any:
    return bindparam(name, type_=Uuid())


_SEEN: Final = (
    func.coalesce(c.user_id, _id("nobody")).between(_id("first_user"), _id("last_user")),
    func.coalesce(c.agent_id, _id("nobody")).between(_id("first_agent"), _id("last_agent")),
)
_OF_ALL: Final = (
    select(
        c.id,
        b.workflow_id,
        b.generation,
        b.name,
        c.user_id,
        c.agent_id,
        c.length.label("messages"),
        b.created_at,
    )
    .join_from(conversation_branches, conversations, b.conversation_id == c.id)
    .where(*_SEEN, c.id < bindparam("before"))
    .order_by(c.id.desc())
    .limit(bindparam("most"))
)
PAGE: Final = _OF_ALL
PAGE_OF_WORKFLOW: Final = _OF_ALL.where(b.workflow_id == bindparam("workflow"))
COUNT_ALL: Final = (
    select(func.count())
    .select_from(conversation_branches)
    .join(conversations, b.conversation_id == c.id)
    .where(*_SEEN)
)
USERS: Final = (
    select(m.position, m.metadata).where(_OF, m.role == bindparam("speaker")).order_by(m.position)
)
COUNT: Final = (
    select(func.count())
    .select_from(conversation_messages)
    .where(_OF, m.role == bindparam("speaker"))
)
BEFORE: Final = (
    select(m.role, m.content, m.metadata, m.pinned, m.bytes, m.digest)
    .where(_OF, m.position < bindparam("end"))
    .order_by(m.position)
)


class Kept(NamedTuple):
    """A branch as its row has it: no conversation once it has ended."""

    conversation_id: UUID | None
    ended: str | None


class Going(NamedTuple):
    """A branch that goes on."""

    name: str
    conversation_id: UUID
    created_at: object


def add(tx: Transaction, key: ConversationKey, name: str, conversation_id: UUID) -> None:
    """Give a branch its name; `ConstraintViolated` where it was given before."""
    tx.run(
        ADD,
        workflow_id=key.workflow_id,
        generation=key.generation,
        agent_id=key.agent_id or NIL,
        name=name,
        conversation_id=conversation_id,
        created_at=tx.now,
    )


def named(tx: Transaction, key: ConversationKey, name: str) -> Kept | None:
    """The branch of that name, ended or not."""
    row = tx.one(NAMED, branch=name, **_asked(key))
    return None if row is None else Kept(row.conversation_id, row.ended)


def going_on(tx: Transaction, key: ConversationKey) -> list[Going]:
    """The branches that have not ended, the oldest first."""
    return [Going(*row) for row in tx.all(GOING_ON, **_asked(key))]


def page(
    tx: Transaction, reach: Reach, workflow_id: str | None, before: UUID | None, most: int
) -> list[KeptBranch]:
    """Branches within reach, of a workflow or of any, the newest first."""
    asked = {**reach._asdict(), "nobody": NOBODY, "before": before or NEWEST, "most": most}
    if workflow_id is None:
        rows = tx.all(PAGE, **asked)
    else:
        rows = tx.all(PAGE_OF_WORKFLOW, workflow=workflow_id, **asked)
    return [KeptBranch(**row._asdict()) for row in rows]


def count(tx: Transaction, reach: Reach) -> int:
    """How many branches there are within reach."""
    row = tx.one(COUNT_ALL, **reach._asdict(), nobody=NOBODY)
    return 0 if row is None else int(row[0])


def end(tx: Transaction, key: ConversationKey, name: str, how: Ended) -> None:
    """Take a branch's conversation from it; its name stays given."""
    tx.run(END, branch=name, nothing=None, how=how, **_asked(key))


def turns(tx: Transaction, conversation_id: UUID) -> list[int]:
    """The positions of what users said; a summary that stands for what was compacted is no turn."""
    rows = tx.all(USERS, conversation=conversation_id, speaker="user")
    return [row.position for row in rows if read_metadata(row.metadata).get("summary") is not True]


def count_turns(tx: Transaction, conversation_id: UUID) -> int:
    """How many messages are a user's."""
    row = tx.one(COUNT, conversation=conversation_id, speaker="user")
    return 0 if row is None else int(row[0])


def before(tx: Transaction, conversation_id: UUID, position: int) -> list[Written]:
    """The messages before a position, as their rows hold them."""
    return [Written(*row) for row in tx.all(BEFORE, conversation=conversation_id, end=position)]


def _asked(key: ConversationKey) -> dict[str, object]:
    return {
        "workflow": key.workflow_id,
        "number": key.generation,
        "agent": key.agent_id or NIL,
    }
