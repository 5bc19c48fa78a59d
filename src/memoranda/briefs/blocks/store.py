"""The SQL of blocks."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memoranda.briefs.blocks.bare import bare_account, bare_explain
from memoranda.briefs.models import ContextBrief, ContextPolicy
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import memories, run_block_items, run_blocks, runs
from memoranda.words.ref import ResourceRef

b, i = run_blocks.c, run_block_items.c
MEMORY: Final = "memory"
LONGEST_KIND: Final = 100
LONGEST_ID: Final = 500
"""Characters of a kind and of an id by which a block is found again; nothing that is erased has longer ones."""
_OWN: Final = ("text", "digest", "tokens", "explain")
_ASKED: Final = ("stable_prefix_bytes", "as_of", "times")
"""What a brief says only to whoever asked for it."""

SHOWN: Final = (b.run_id, b.stage, b.policy, b.account, b.built_at, *(b[name] for name in _OWN))
LATEST: Final = (
    select(*SHOWN)
    .where(b.run_id == bindparam("run"), b.stage <= bindparam("upto"))
    .order_by(b.stage.desc())
    .limit(1)
)
LAST_OF_CONVERSATION: Final = (
    select(b.text)
    .where(b.conversation_id == bindparam("conversation"))
    .order_by(b.built_at.desc(), b.run_id.desc(), b.stage.desc())
    .limit(1)
)
INSERT: Final = insert(run_blocks)
INSERT_ITEM: Final = insert(run_block_items)
DELETE_ITEMS: Final = delete(run_block_items).where(
    i.run_id == bindparam("run"), i.stage == bindparam("of_stage")
)
DELETE: Final = delete(run_blocks).where(
    b.run_id == bindparam("run"), b.stage == bindparam("of_stage")
)
# Held until the block is kept: whoever erases one of them comes before, or finds the block.
HOLD_MEMORIES: Final = (
    select(memories.c.id)
    .where(one_of(memories.c.id, "ids"))
    .order_by(memories.c.id)
    .with_for_update()
)
WITH_ROWS: Final = select(i.run_id, i.stage).where(i.kind == MEMORY, one_of(i.ref_id, "ids"))
OF_USER: Final = (
    select(b.run_id, b.stage)
    .select_from(run_blocks.join(runs, runs.c.id == b.run_id))
    .where(runs.c.user_id == bindparam("user"), b.text.is_not(None))
)
IN_CONVERSATIONS: Final = select(b.run_id, b.stage).where(
    one_of(b.conversation_id, "ids"), b.text.is_not(None)
)
CLEAR: Final = (
    update(run_blocks)
    .where(b.run_id == bindparam("run"), b.stage == bindparam("of_stage"))
    .values(text=None, digest=None, account=None, explain=None)
)
later = run_blocks.alias("later")
_REPLACED: Final = (
    select(later.c.run_id).where(later.c.run_id == b.run_id, later.c.stage > b.stage).exists()
)
# The newest block of a run that goes on is what its next stage may be given.
LONG_KEPT: Final = (
    select(b.run_id, b.stage, b.account, b.explain)
    .select_from(run_blocks.join(runs, runs.c.id == b.run_id))
    .where(
        b.text.is_not(None),
        b.built_at < bindparam("before"),
        or_(runs.c.ended_at < bindparam("before"), _REPLACED),
    )
    .order_by(b.built_at)
    .limit(bindparam("most"))
)
BARE: Final = (
    update(run_blocks)
    .where(b.run_id == bindparam("run"), b.stage == bindparam("of_stage"), b.text.is_not(None))
    .values(
        text=None,
        account=bindparam("new_account", type_=b.account.type),
        explain=bindparam("new_explain", type_=b.explain.type),
    )
)


class Kept(NamedTuple):
    """A block as it is kept; without a brief it was erased, and a `pruned` one has lost its text to time."""

    run_id: UUID
    stage: int
    policy: ContextPolicy
    brief: ContextBrief | None
    built_at: datetime
    pruned: bool = False


def latest(tx: Transaction, run_id: UUID, upto: int) -> Kept | None:
    """The newest block of the run that was built for that stage or one before it."""
    row = tx.one(LATEST, run=run_id, upto=upto)
    return None if row is None else _kept(row)


def last_of_conversation(tx: Transaction, conversation_id: UUID) -> str | None:
    """The text of the block that was built last for a run in that conversation."""
    row = tx.one(LAST_OF_CONVERSATION, conversation=conversation_id)
    return None if row is None else row.text


def keep(
    tx: Transaction,
    run_id: UUID,
    stage: int,
    brief: ContextBrief,
    policy: ContextPolicy,
    *,
    conversation_id: UUID | None,
    replace: bool,
) -> Kept | None:
    """Keep the stage's block, and answer the one that is kept then; it replaces one that was erased.

    Where another call was quicker, its block stands, unless this one is to `replace` it. None,
    and nothing is kept, where a memory in it has been erased since it was read.
    """
    tx.lock(f"block of {run_id}")
    rows = _rows(brief)
    named = _memory_ids(rows)
    # Memories before blocks: so does whoever erases take them.
    if named and len(tx.all(HOLD_MEMORIES, ids=named)) < len(named):
        return None
    before = latest(tx, run_id, stage)
    if before is not None and before.stage == stage:
        if before.brief is not None and not replace:
            return before
        tx.run(DELETE_ITEMS, run=run_id, of_stage=stage)
        tx.run(DELETE, run=run_id, of_stage=stage)
    written = brief.model_dump(mode="json", exclude={*_OWN, *_ASKED})
    said = brief.model_dump(mode="json", include={*_OWN})
    place = {"run_id": run_id, "stage": stage}
    tx.run(
        INSERT,
        **place,
        **said,
        policy=policy.model_dump(mode="json"),
        account=written,
        conversation_id=conversation_id,
        built_at=tx.now,
    )
    tx.send_many(INSERT_ITEM, [{**place, "kind": ref.kind, "ref_id": ref.id} for ref in rows])
    return Kept(run_id, stage, policy, brief, tx.now)


def clear(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    """Take the text of every block that was offered one of these memories, in the transaction that removes them."""
    _clear(tx, tx.all(WITH_ROWS, ids=[str(each) for each in memory_ids]))


def clear_user(tx: Transaction, user_id: UUID) -> None:
    """Take the text of every block of a run that was for this user. When, as for `clear`."""
    _clear(tx, tx.all(OF_USER, user=user_id))


def clear_conversations(tx: Transaction, conversation_ids: Sequence[UUID]) -> None:
    """Take the text of every block that was built in one of these conversations. When, as for `clear`."""
    _clear(tx, tx.all(IN_CONVERSATIONS, ids=list(conversation_ids)))


def prune(tx: Transaction, before: datetime, most: int) -> int:
    """Take the text of up to `most` blocks from before that time, of runs that ended before it too; how many.

    So does an earlier stage's of a run that goes on. What became of each row stays, without its words.
    """
    rows = tx.all(LONG_KEPT, before=before, most=most)
    changes = [
        {
            "run": row.run_id,
            "of_stage": row.stage,
            "new_account": bare_account(row.account),
            "new_explain": bare_explain(row.explain),
        }
        for row in rows
    ]
    tx.run_many(BARE, changes)
    return len(rows)


def _clear(tx: Transaction, rows: Sequence[Row]) -> None:
    places = [
        {"run": run_id, "of_stage": stage}
        for run_id, stage in sorted({(row.run_id, row.stage) for row in rows})
    ]
    tx.run_many(CLEAR, places)
    tx.run_many(DELETE_ITEMS, places)
    if places:
        signal(tx, SCRUB)


def _rows(brief: ContextBrief) -> list[ResourceRef]:
    """The rows that the block says anything of, kept or not: its explain quotes those too."""
    offered = [entry.ref for entry in brief.explain or () if entry.ref is not None]
    rows: Iterable[ResourceRef] = dict.fromkeys([*offered, *brief.items])
    return [ref for ref in rows if len(ref.kind) <= LONGEST_KIND and len(ref.id) <= LONGEST_ID]


def _memory_ids(rows: Iterable[ResourceRef]) -> list[UUID]:
    return [UUID(ref.id) for ref in rows if ref.kind == MEMORY and _is_id(ref.id)]


def _is_id(written: str) -> bool:
    try:
        return str(UUID(written)) == written
    except ValueError:
        return False


def _kept(row: Row) -> Kept:
    values: dict[str, Any] = row._asdict()
    said = {name: values.pop(name) for name in _OWN}
    account = values.pop("account")
    pruned = account is not None and said["text"] is None
    if pruned:
        said["text"] = ""
    brief = None if account is None else ContextBrief.model_validate({**account, **said})
    policy = ContextPolicy.model_validate(values.pop("policy"))
    return Kept(**values, policy=policy, brief=brief, pruned=pruned)
