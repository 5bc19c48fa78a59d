"""The SQL of cursors and snapshots, and of the lists that they are compared with."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, func, insert, select, update

from memoranda.conversations.chats.branches.marks import Line, Mark
from memoranda.conversations.chats.branches.models import (
    MOST_SNAPSHOTS,
    SNAPSHOT_BYTES,
    Cursor,
    Ground,
    Kept,
    Snapshot,
    packed,
    unpacked,
)
from memoranda.conversations.chats.models import NO_AGENT, Chat
from memoranda.conversations.rows.store import Written
from memoranda.storage import Row, Transaction, insert_or_ignore, one_of
from memoranda.storage.tables import (
    chat_branch_snapshots,
    chat_run_cursors,
    chat_runs,
    conversation_compactions,
    conversation_messages,
)
from memoranda.words.ids import new_id

u, s, m, r = chat_run_cursors.c, chat_branch_snapshots.c, conversation_messages.c, chat_runs.c
k = conversation_compactions.c
INSERT_CURSOR = insert_or_ignore(chat_run_cursors)
CURSORS = select(chat_run_cursors).where(one_of(u.run_id, "runs"))
CURSOR = CURSORS.where(u.agent_id == bindparam("agent"))
AGENTS = (
    select(u.agent_id)
    .select_from(chat_run_cursors.join(chat_runs, r.id == u.run_id))
    .where(r.chat_id == bindparam("chat"))
    .distinct()
)
SAVED = (
    update(chat_run_cursors)
    .where(u.run_id == bindparam("run"), u.agent_id == bindparam("agent"))
    .values(saved_at=bindparam("now"))
)
TOLD = (
    select(u.run_id)
    .select_from(chat_run_cursors.join(chat_runs, r.id == u.run_id))
    .where(
        r.chat_id == bindparam("chat"),
        u.agent_id == bindparam("agent"),
        u.saved_at.is_not(None),
    )
)
COMPACTIONS = select(func.max(k.number).label("number")).where(
    k.conversation_id == bindparam("conversation")
)
LINES = (
    select(m.role, m.digest)
    .where(m.conversation_id == bindparam("conversation"))
    .order_by(m.position)
)
_WRITTEN: Final = tuple(m[name] for name in Written._fields)
WHOLE = (
    select(*_WRITTEN, m.created_at)
    .where(m.conversation_id == bindparam("conversation"))
    .order_by(m.position)
)
INSERT_SNAPSHOT = insert(chat_branch_snapshots)
SNAPSHOTS = select(s.agent_id, s.fence, s.compactions, s.messages).where(
    s.leaf_id == bindparam("leaf")
)
DROP = delete(chat_branch_snapshots).where(one_of(s.leaf_id, "leaves"))
DROP_ALL = delete(chat_branch_snapshots).where(s.chat_id == bindparam("chat"))
SIZES = (
    select(s.leaf_id, s.bytes)
    .where(s.chat_id == bindparam("chat"))
    .order_by(s.revision.desc(), s.id.desc())
)


def record(tx: Transaction, cursor: Cursor) -> None:
    """Keep where a run began with an agent, unless that is known: it begins once."""
    tx.run(
        INSERT_CURSOR,
        run_id=cursor.run_id,
        agent_id=cursor.agent_id or NO_AGENT,
        generation=cursor.generation,
        **cursor.ground._asdict(),
        length=cursor.stored.length,
        digest=cursor.stored.digest,
        given_length=cursor.given.length,
        given_digest=cursor.given.digest,
        created_at=tx.now,
    )


def cursor(tx: Transaction, run_id: UUID, agent_id: UUID | None) -> Cursor | None:
    """Where the run began with this agent, if it did."""
    row = tx.one(CURSOR, runs=[run_id], agent=agent_id or NO_AGENT)
    return None if row is None else _cursor(row)


def cursors(tx: Transaction, run_ids: Sequence[UUID]) -> list[Cursor]:
    """Where these runs began, in their order."""
    order = {each: place for place, each in enumerate(run_ids)}
    found = [_cursor(row) for row in tx.all(CURSORS, runs=list(run_ids))] if run_ids else []
    return sorted(found, key=lambda each: order[each.run_id])


def agents(tx: Transaction, chat_id: UUID) -> list[UUID | None]:
    """The agents that runs of the chat began with."""
    return [_agent(row.agent_id) for row in tx.all(AGENTS, chat=chat_id)]


def saved(tx: Transaction, run_id: UUID, agent_id: UUID | None) -> None:
    """Keep that the run saved what it came to."""
    tx.send(SAVED, run=run_id, agent=agent_id or NO_AGENT, now=tx.now)


def told(tx: Transaction, chat_id: UUID, agent_id: UUID | None) -> frozenset[UUID]:
    """The runs of the chat that saved for this agent what they came to."""
    rows = tx.all(TOLD, chat=chat_id, agent=agent_id or NO_AGENT)
    return frozenset(row.run_id for row in rows)


def compactions(tx: Transaction, conversation_id: UUID) -> int:
    """How often the conversation was compacted."""
    row = tx.one(COMPACTIONS, conversation=conversation_id)
    return 0 if row is None else row.number or 0


def lines(tx: Transaction, conversation_id: UUID) -> list[Line]:
    """The lines of a conversation's list."""
    return [Line(*row) for row in tx.plain(LINES, conversation=conversation_id)]


def whole(tx: Transaction, conversation_id: UUID) -> list[Kept]:
    """All of a conversation's list, as it is written."""
    return [
        Kept(Written(*row[:-1]), row[-1]) for row in tx.all(WHOLE, conversation=conversation_id)
    ]


def keep(tx: Transaction, chat: Chat, leaf_id: UUID, snapshot: Snapshot) -> None:
    """Keep a snapshot for the leaf that is left at the chat's revision."""
    text = packed(snapshot.messages)
    tx.run(
        INSERT_SNAPSHOT,
        id=new_id(),
        chat_id=chat.id,
        leaf_id=leaf_id,
        agent_id=snapshot.agent_id or NO_AGENT,
        **snapshot.ground._asdict(),
        bytes=len(text.encode()),
        messages=text,
        revision=chat.revision,
        kept_at=tx.now,
    )


def kept(tx: Transaction, leaf_id: UUID) -> dict[UUID | None, Snapshot]:
    """The snapshots of a leaf, by agent."""
    return {_agent(row.agent_id): _snapshot(row) for row in tx.all(SNAPSHOTS, leaf=leaf_id)}


def drop(tx: Transaction, leaf_ids: Sequence[UUID]) -> None:
    """Delete the snapshots of these leaves."""
    tx.run(DROP, leaves=list(leaf_ids))


def drop_all(tx: Transaction, chat_id: UUID) -> None:
    """Delete every snapshot of the chat."""
    tx.run(DROP_ALL, chat=chat_id)


def keep_within(tx: Transaction, chat_id: UUID) -> None:
    """Delete the oldest leaves' snapshots, where there are more than a chat may keep; the newest leaf's stay."""
    gone: dict[UUID, None] = {}
    newest, count, size = None, 0, 0
    for row in tx.all(SIZES, chat=chat_id):
        newest = newest or row.leaf_id
        count, size = count + 1, size + row.bytes
        if row.leaf_id != newest and (count > MOST_SNAPSHOTS or size > SNAPSHOT_BYTES):
            gone[row.leaf_id] = None
    if gone:
        drop(tx, list(gone))


def _cursor(row: Row) -> Cursor:
    return Cursor(
        run_id=row.run_id,
        agent_id=_agent(row.agent_id),
        generation=row.generation,
        ground=Ground(row.fence, row.compactions),
        stored=Mark(row.length, row.digest),
        given=Mark(row.given_length, row.given_digest),
    )


def _snapshot(row: Row) -> Snapshot:
    return Snapshot(
        agent_id=_agent(row.agent_id),
        ground=Ground(row.fence, row.compactions),
        messages=unpacked(row.messages),
    )


def _agent(agent_id: UUID) -> UUID | None:
    return None if agent_id == NO_AGENT else agent_id
