"""The SQL of what was said in the index: what waits to be read, what is read, and what leaves.

Whoever changes the index here takes the conversation's mark first, then the index of words, then the
row of the vectors' stamps, then segments, so that no two of them can wait for each other.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)

from memoranda.conversations.content import NO_METADATA, read, read_metadata
from memoranda.conversations.finding.passages import (
    COLLECTION,
    FULL,
    Row,
    Segment,
    pack_places,
    segment,
)
from memoranda.conversations.models import StoredMessage
from memoranda.search import store as index
from memoranda.search.document import IndexedDocument
from memoranda.search.vectors.store import turn_if_any
from memoranda.storage import Row as Columns
from memoranda.storage import Transaction, one_of, upsert
from memoranda.storage.signals import CONVERSATION_VECTORS, CONVERSATIONS, signal
from memoranda.storage.tables import (
    conversation_archive,
    conversation_marks,
    conversation_messages,
    conversation_segments,
)
from memoranda.words.ids import new_id

AT_ONCE: Final = 100
"""Messages that are read together."""
TRIED: Final = 8
"""Marks that a worker tries to take before it looks again: others may take them at the same moment."""
CLEARED_AT_ONCE: Final = 32
"""Segments whose rows go in the transaction that takes them out for good."""
CLEARED: Final = 5_000
"""Rows of the index that one transaction clears."""
_LAST_ID: Final = UUID(int=2**128 - 1)

k, s = conversation_marks.c, conversation_segments.c
_KEY: Final = ["organization_id", "conversation_id"]
_FREE: Final = {"lease_owner": None, "lease_until": None}
_of_mark = k.conversation_id == bindparam("conversation")
_held = k.lease_owner == bindparam("worker")
_unheld = k.lease_until.is_(None) | (k.lease_until < bindparam("now"))

MARK: Final = upsert(conversation_marks, _KEY, add=["stamp"])
MARK_ANEW: Final = upsert(
    conversation_marks, _KEY, add=["stamp"], set_=["lease_owner", "lease_until"]
)
WAITING: Final = select(k.conversation_id).limit(1)
UNHELD: Final = (
    select(k.conversation_id)
    .where(_unheld)
    .order_by(k.marked_at, k.conversation_id)
    .limit(bindparam("most"))
)
CLAIM: Final = (
    update(conversation_marks)
    .where(_of_mark, _unheld)
    .values(lease_owner=bindparam("worker"), lease_until=bindparam("until"))
    .returning(k.stamp)
)
HOLD: Final = (
    update(conversation_marks).where(_of_mark, _held).values(lease_until=bindparam("until"))
)
SETTLE: Final = delete(conversation_marks).where(_of_mark, _held, k.stamp == bindparam("seen"))
RELEASE: Final = (
    update(conversation_marks)
    .where(_of_mark, _held)
    .values(lease_owner=None, lease_until=None, marked_at=bindparam("now"))
)
DROP_MARKS: Final = delete(conversation_marks).where(one_of(k.conversation_id, "conversations"))

_of_conversation = s.conversation_id == bindparam("conversation")
LAST: Final = (
    select(s.id, s.number, s.first_position, s.last_position, s.passages)
    .where(_of_conversation)
    .order_by(s.number.desc())
    .limit(1)
)
SEGMENTS_FROM: Final = select(s.id).where(_of_conversation, s.last_position >= bindparam("since"))
SEGMENTS_OF: Final = select(s.id).where(one_of(s.conversation_id, "conversations"))
ADD_SEGMENT: Final = insert(conversation_segments)
LENGTHEN: Final = (
    update(conversation_segments)
    .where(s.id == bindparam("segment"))
    .values(last_position=bindparam("last"))
)
GROW: Final = LENGTHEN.values(
    passages=bindparam("count"), places=bindparam("packed"), lacks=True, failures=0, retry_at=None
)
DROP_SEGMENTS: Final = delete(conversation_segments).where(one_of(s.id, "segments"))


def _page(messages: Table, *which: ColumnElement[bool]) -> Select[tuple[object, ...]]:
    """Messages in their order, from after one of them."""
    m = messages.c
    later = or_(
        m.position > bindparam("after"),
        and_(m.position == bindparam("after"), m.id > bindparam("after_id")),
    )
    return (
        select(m.id, m.position, m.role, m.content, m.metadata, m.pinned, m.created_at)
        .where(m.conversation_id == bindparam("conversation"), later, *which)
        .order_by(m.position, m.id)
        .limit(bindparam("most"))
    )


# What a compaction put away is still found; what a save replaced is not.
PAGES: Final = (
    _page(conversation_messages),
    _page(conversation_archive, conversation_archive.c.compaction_id.is_not(None)),
)


class Work(NamedTuple):
    """A conversation that a worker reads, and the stamp that its mark had."""

    conversation_id: UUID
    worker_id: UUID
    stamp: int


class Piece(NamedTuple):
    """The next segment to write: a new one, or `grown` with more passages than it had (`had`)."""

    segment: Segment
    number: int
    grown: UUID | None
    had: int


def mark(tx: Transaction, conversation_id: UUID) -> None:
    """Say, in the transaction that puts messages in, that the conversation has some that no search finds."""
    tx.send(MARK, conversation_id=conversation_id, stamp=1, marked_at=tx.now, **_FREE)
    signal(tx, CONVERSATIONS)


def take_out(tx: Transaction, conversation_id: UUID, *, since: int) -> None:
    """Let no search find what stands at the position `since` or later, from this transaction's end on.

    What is there then is read anew. The rows of the index are cleared by a worker; see `erase`.
    """
    tx.send(MARK_ANEW, conversation_id=conversation_id, stamp=1, marked_at=tx.now, **_FREE)
    rows = tx.all(SEGMENTS_FROM, conversation=conversation_id, since=since)
    for row in rows:
        index.hide_document(tx, COLLECTION, row.id)
    _drop(tx, [row.id for row in rows])
    signal(tx, CONVERSATIONS)


def erase(tx: Transaction, conversation_ids: Sequence[UUID]) -> None:
    """Let no search find what these conversations hold, and clear its rows, before their own rows go.

    Where there are very many, some are left: `clear_some` clears them, and a worker does so by itself.
    """
    if not conversation_ids:
        return
    named = {"conversations": list(conversation_ids)}
    tx.run(DROP_MARKS, **named)
    rows = tx.all(SEGMENTS_OF, **named)
    for row in rows:
        index.hide_document(tx, COLLECTION, row.id)
    _drop(tx, [row.id for row in rows])
    # What left before and waits to be cleared may be of these too.
    hidden = index.unfinished_documents(tx, COLLECTION)
    for document_id in hidden[:CLEARED_AT_ONCE]:
        index.clear_document(tx, COLLECTION, document_id)
    if len(hidden) > CLEARED_AT_ONCE:
        signal(tx, CONVERSATIONS)


def waiting(tx: Transaction) -> bool:
    """Whether a conversation waits to be read, with another worker included, or rows wait to be cleared."""
    return tx.one(WAITING) is not None or bool(index.unfinished_documents(tx, COLLECTION))


def claim(tx: Transaction, worker_id: UUID, lease: timedelta) -> Work | None:
    """Take the conversation that has waited longest; None where none waits that nobody holds."""
    for row in tx.all(UNHELD, now=tx.now, most=TRIED):
        taken = tx.one(
            CLAIM,
            conversation=row.conversation_id,
            worker=worker_id,
            now=tx.now,
            until=tx.now + lease,
        )
        if taken is not None:
            return Work(row.conversation_id, worker_id, taken.stamp)
    return None


def next_piece(tx: Transaction, conversation_id: UUID) -> Piece | None:
    """The first segment that is not written yet; None where all that is said is."""
    last = tx.one(LAST, conversation=conversation_id)
    if last is None:
        found = segment(rows(tx, conversation_id, after=0), 1)
        return None if found is None else Piece(found, 1, None, 0)
    if last.passages < FULL:
        found = segment(rows(tx, conversation_id, last.first_position - 1), last.first_position)
        if found is None or found.last_position == last.last_position:
            return None
        return Piece(found, last.number, last.id, last.passages)
    found = segment(rows(tx, conversation_id, last.last_position), last.last_position + 1)
    return None if found is None else Piece(found, last.number + 1, None, 0)


def put(
    tx: Transaction, work: Work, piece: Piece, indexed: IndexedDocument, lease: timedelta
) -> bool:
    """Write a segment; False where the conversation is not the worker's any more."""
    if not _hold(tx, work, lease):
        return False
    found = piece.segment
    if piece.grown is not None and piece.had == len(found.passages):
        tx.run(LENGTHEN, segment=piece.grown, last=found.last_position)
        return True
    segment_id = piece.grown or new_id()
    counted = {"count": len(found.places), "packed": pack_places(found.places)}
    if piece.grown is not None:
        index.remove_document(tx, COLLECTION, segment_id)
        tx.run(GROW, segment=segment_id, last=found.last_position, **counted)
    else:
        tx.run(
            ADD_SEGMENT,
            id=segment_id,
            conversation_id=work.conversation_id,
            number=piece.number,
            first_position=found.first_position,
            last_position=found.last_position,
            passages=counted["count"],
            places=counted["packed"],
        )
    index.add_document(tx, COLLECTION, segment_id, indexed)
    signal(tx, CONVERSATION_VECTORS)
    return True


def finish(tx: Transaction, work: Work) -> None:
    """Take the mark away where nothing came meanwhile; else give it back, behind those that wait."""
    of = {"conversation": work.conversation_id, "worker": work.worker_id}
    if not tx.run(SETTLE, seen=work.stamp, **of):
        tx.run(RELEASE, now=tx.now, **of)


def hand_back(tx: Transaction, work: Work) -> None:
    """Give the conversation back as if it had not been taken."""
    tx.run(RELEASE, now=tx.now, conversation=work.conversation_id, worker=work.worker_id)


def clear_some(tx: Transaction) -> bool:
    """Clear some rows of what was taken out; whether there were any."""
    hidden = index.unfinished_documents(tx, COLLECTION)
    if not hidden:
        return False
    index.clear_terms(tx, COLLECTION, hidden[0], CLEARED)
    return True


def rows(tx: Transaction, conversation_id: UUID, after: int) -> Iterator[Row]:
    """The messages after a position, and those that a compaction put away, in their order."""
    last = after, _LAST_ID
    while True:
        asked = {"conversation": conversation_id, "after": last[0], "after_id": last[1]}
        pages = [tx.all(statement, **asked, most=AT_ONCE) for statement in PAGES]
        # Where one list goes on, the other is read no further than it was.
        ends = [_key(page[-1]) for page in pages if len(page) == AT_ONCE]
        found = sorted((row for page in pages for row in page), key=_key)
        for row in found:
            if not ends or _key(row) <= min(ends):
                last = _key(row)
                yield Row(row.id, read_row(row))
        if not ends:
            return


def read_row(row: Columns) -> StoredMessage:
    """The message of a row, of the list or of the archive."""
    return StoredMessage(
        role=row.role,
        content=read(row.content),
        metadata=read_metadata(row.metadata or NO_METADATA),
        pinned=row.pinned,
        position=row.position,
        ts=row.created_at,
    )


def _key(row: Columns) -> tuple[int, UUID]:
    return row.position, row.id


def _hold(tx: Transaction, work: Work, lease: timedelta) -> bool:
    of = {"conversation": work.conversation_id, "worker": work.worker_id}
    return tx.run(HOLD, until=tx.now + lease, **of) == 1


def _drop(tx: Transaction, segment_ids: Sequence[UUID]) -> None:
    """Drop segments with their vectors, and have caches notice."""
    if segment_ids:
        turn_if_any(tx, COLLECTION, 1)
        tx.run(DROP_SEGMENTS, segments=list(segment_ids))
