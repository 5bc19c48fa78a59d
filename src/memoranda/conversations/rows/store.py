"""The SQL of a conversation's rows: a row is placed and leaves, and what it says never changes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memoranda.conversations.models import ChangeAction, Conversation, ConversationKey
from memoranda.runs.events.store import record_event
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import conversation_archive, conversation_messages, conversations
from memoranda.words.ids import new_id

EVENT: Final = "conversation.updated"
"""The type of the event that every change of a conversation records."""

c, m, a = conversations.c, conversation_messages.c, conversation_archive.c
COLUMNS: Final = tuple(c[name] for name in Conversation.model_fields)
# Whoever changes a conversation holds its row until the commit, so that changes come one after the other.
_HELD: Final = select(*COLUMNS, c.last_position, c.ended_at).with_for_update()
HOLD: Final = _HELD.where(c.id == bindparam("conversation"))
_HOLD_KEY: Final = _HELD.where(
    c.workflow_id == bindparam("workflow"), c.generation == bindparam("number")
)
HOLD_KEY: Final = _HOLD_KEY.where(c.agent_id == bindparam("agent"))
HOLD_KEY_WITHOUT_AGENT: Final = _HOLD_KEY.where(c.agent_id.is_(None))
SETTLE: Final = (
    update(conversations)
    .where(c.id == bindparam("conversation"))
    .values(
        length=bindparam("new_length"),
        bytes=bindparam("new_bytes"),
        digest=bindparam("new_digest"),
        last_position=bindparam("new_last"),
        updated_at=bindparam("now"),
    )
)
PLACE: Final = insert(conversation_messages)
OUTLINE: Final = (
    select(m.position, m.digest, m.chain)
    .where(m.conversation_id == bindparam("conversation"))
    .order_by(m.position)
)
RECHAIN: Final = (
    update(conversation_messages)
    .where(m.conversation_id == bindparam("conversation"), m.position == bindparam("place"))
    .values(chain=bindparam("new_chain"))
)
_MOVED: Final = (
    "id",
    "conversation_id",
    "position",
    "role",
    "content",
    "metadata",
    "pinned",
    "bytes",
    "digest",
    "created_at",
    "placed_at",
)
_AT: Final = (
    m.conversation_id == bindparam("conversation"),
    one_of(m.position, "positions"),
)
WHOLE_ROWS: Final = select(*(m[name] for name in _MOVED)).where(*_AT).order_by(m.position)
ARCHIVE: Final = insert(conversation_archive)
TAKE_AWAY: Final = delete(conversation_messages).where(*_AT)
EMPTY_LIST: Final = delete(conversation_messages).where(one_of(m.conversation_id, "conversations"))
EMPTY_ARCHIVE: Final = delete(conversation_archive).where(
    one_of(a.conversation_id, "conversations")
)
# What a save took out; what was compacted stays for as long as its conversation.
LONG_REPLACED: Final = (
    select(a.id, a.conversation_id, a.left_at)
    .where(a.compaction_id.is_(None), a.left_at <= bindparam("before"))
    .order_by(a.left_at, a.id)
    .limit(bindparam("most"))
)
REPLACED: Final = (
    select(a.id, a.left_at, a.bytes)
    .where(a.conversation_id == bindparam("conversation"), a.compaction_id.is_(None))
    .order_by(a.left_at, a.id)
)
FORGET_REPLACED: Final = delete(conversation_archive).where(one_of(a.id, "ids"))
LOSE: Final = (
    update(conversations)
    .where(
        c.id == bindparam("conversation"),
        or_(c.whole_since.is_(None), c.whole_since < bindparam("since")),
    )
    .values(whole_since=bindparam("since"))
)


class Held(NamedTuple):
    """A conversation that nobody else changes until the commit. It takes nothing once it has ended."""

    conversation: Conversation
    last_position: int
    ended_at: datetime | None


class Written(NamedTuple):
    """A message as its row holds it."""

    role: str
    content: str
    metadata: str
    pinned: bool
    bytes: int
    digest: str


class Placed(NamedTuple):
    """A message's row: where it stands, its chain, and `ts` where it is older than its place."""

    position: int
    written: Written
    chain: str
    ts: datetime | None = None


class Outlined(NamedTuple):
    """What a row is known by, without what it says."""

    position: int
    digest: str
    chain: str


def hold(tx: Transaction, conversation_id: UUID) -> Held | None:
    """The conversation, to be changed in this transaction alone; None where there is none."""
    return _held(tx.one(HOLD, conversation=conversation_id))


def hold_key(tx: Transaction, key: ConversationKey) -> Held | None:
    """The conversation of that key, likewise."""
    statement = HOLD_KEY_WITHOUT_AGENT if key.agent_id is None else HOLD_KEY
    asked = {"workflow": key.workflow_id, "number": key.generation, "agent": key.agent_id}
    return _held(tx.one(statement, **asked))


def outline(tx: Transaction, conversation_id: UUID) -> list[Outlined]:
    """Every row in its order."""
    return [Outlined(*row) for row in tx.plain(OUTLINE, conversation=conversation_id)]


def place(tx: Transaction, conversation_id: UUID, rows: Iterable[Placed]) -> None:
    """Put rows in their places, where none stands."""
    made = [
        {
            "id": new_id(),
            "conversation_id": conversation_id,
            "position": row.position,
            **row.written._asdict(),
            "chain": row.chain,
            "created_at": row.ts or tx.now,
            "placed_at": tx.now,
        }
        for row in rows
    ]
    if made:
        tx.send_many(PLACE, made)


def take_away(
    tx: Transaction,
    conversation_id: UUID,
    positions: Sequence[int],
    *,
    compaction_id: UUID | None = None,
) -> list[Row]:
    """Move rows to the archive; what they were, in their order. The caller settles what is left."""
    if not positions:
        return []
    at = {"conversation": conversation_id, "positions": list(positions)}
    rows = tx.all(WHOLE_ROWS, **at)
    left = {"left_at": tx.now, "compaction_id": compaction_id}
    tx.run_many(ARCHIVE, [row._asdict() | left for row in rows])
    tx.run(TAKE_AWAY, **at)
    return rows


def rechain(tx: Transaction, conversation_id: UUID, links: Iterable[tuple[int, str]]) -> None:
    """Give the rows at these positions their chains, because something before them changed."""
    made = [
        {"conversation": conversation_id, "place": position, "new_chain": chain}
        for position, chain in links
    ]
    if made:
        tx.send_many(RECHAIN, made)


def settle(
    tx: Transaction, held: Held, *, length: int, size: int, digest: str, last_position: int
) -> Conversation:
    """Write down what the conversation holds once its rows are as they shall be; what it is then."""
    tx.send(
        SETTLE,
        conversation=held.conversation.id,
        new_length=length,
        new_bytes=size,
        new_digest=digest,
        new_last=last_position,
        now=tx.now,
    )
    return held.conversation.model_copy(
        update={"length": length, "bytes": size, "digest": digest, "updated_at": tx.now}
    )


def changed(tx: Transaction, conversation: Conversation, action: ChangeAction) -> None:
    """Record the event. Late: until the commit nobody else of the organization records one."""
    record_event(
        tx,
        EVENT,
        user_id=conversation.user_id,
        agent_id=conversation.agent_id,
        conversation_id=str(conversation.id),
        generation=conversation.generation,
        length=conversation.length,
        action=action,
    )


def empty(tx: Transaction, conversation_ids: Sequence[UUID]) -> None:
    """Delete every message of these conversations, and all that the archive keeps of them."""
    tx.run(EMPTY_LIST, conversations=list(conversation_ids))
    tx.run(EMPTY_ARCHIVE, conversations=list(conversation_ids))


def prune(tx: Transaction, before: datetime, most: int) -> int:
    """Delete up to `most` messages that were replaced before that time; how many. Nobody can be told of them then."""
    old = tx.all(LONG_REPLACED, before=before, most=most)
    lost: dict[UUID, datetime] = {}
    for row in old:
        lost[row.conversation_id] = max(row.left_at, lost.get(row.conversation_id, row.left_at))
    _forget(tx, lost, [row.id for row in old])
    return len(old)


def keep_within(tx: Transaction, conversation_id: UUID, most: int) -> None:
    """Delete the oldest of what was replaced here, where all of it has more than `most` bytes, down to half of that.

    So a host that saves another list each time fills nobody's disk.
    """
    there = tx.all(REPLACED, conversation=conversation_id)
    size = sum(row.bytes for row in there)
    if size <= most:
        return
    gone: list[Row] = []
    for row in there:
        # What left together is told together.
        if size <= most // 2 and row.left_at != gone[-1].left_at:
            break
        gone.append(row)
        size -= row.bytes
    _forget(tx, {conversation_id: gone[-1].left_at}, [row.id for row in gone])


def _forget(tx: Transaction, lost: Mapping[UUID, datetime], ids: Sequence[UUID]) -> None:
    """Delete these, of conversations that can't tell of any time before the one at which the last of theirs left."""
    # In one order, as everybody takes conversations.
    tx.run_many(LOSE, [{"conversation": each, "since": lost[each]} for each in sorted(lost)])
    tx.run(FORGET_REPLACED, ids=list(ids))


def _held(row: Row | None) -> Held | None:
    if row is None:
        return None
    values = row._asdict()
    last, ended = values.pop("last_position"), values.pop("ended_at")
    return Held(Conversation.model_validate(values), last, ended)
