"""The SQL of removing memories for good: rows, words and vectors go, and that they were there stays."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, or_, select

from memoranda.access.store import check_subject
from memoranda.memories.candidate import Author
from memoranda.memories.changes.store import EVENT
from memoranda.memories.counts import store as counts
from memoranda.memories.errors import unknown_memory
from memoranda.memories.limits import COLLECTION, KEPT_WHEN_FORGOTTEN
from memoranda.memories.removal.models import AlsoErased, Elsewhere
from memoranda.memories.removal.reach.store import Extent, Reach, Start, hold, names, reach
from memoranda.memories.views import store as views
from memoranda.memories.ways import Ways
from memoranda.runs.events.store import record_event
from memoranda.runs.store import record_activity
from memoranda.search.texts import store as words
from memoranda.search.vectors import store as vectors
from memoranda.storage import Row, Transaction, insert_or_ignore, one_of
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import memories, memory_proposals, memory_revisions, purged_memories

m, r, p = memories.c, memory_revisions.c, memory_proposals.c

OF_USER: Final = select(m.id).where(m.user_id == bindparam("user")).order_by(m.id)
PURGED_OF_USER: Final = select(purged_memories.c.id).where(
    purged_memories.c.user_id == bindparam("user")
)
SOME_OF_USER: Final = OF_USER.limit(bindparam("most"))
LONG_FORGOTTEN: Final = (
    select(m.id)
    .where(~m.live, m.recorded_at <= bindparam("before"))
    .order_by(m.recorded_at, m.id)
    .limit(bindparam("most"))
)
# What waits and has expired can never be accepted, so that there is nothing to wait for.
PROPOSALS_DUE: Final = (
    select(p.id)
    .where(
        or_(
            and_(p.status == "discarded", p.decided_at <= bindparam("before")),
            and_(p.status == "waiting", p.expires_at <= bindparam("now")),
        )
    )
    .order_by(p.id)
    .limit(bindparam("most"))
)
NEWEST_FIRST: Final = select(r.id).where(one_of(r.memory_id, "ids")).order_by(r.version.desc())
DELETE_REVISION: Final = delete(memory_revisions).where(r.id == bindparam("revision"))
DELETE_MEMORIES: Final = delete(memories).where(one_of(m.id, "ids"))
DELETE_PROPOSALS: Final = delete(memory_proposals).where(one_of(p.id, "ids"))
KEEP_NAME: Final = insert_or_ignore(purged_memories)


class Removed(NamedTuple):
    """How many memories and proposals went."""

    memories: int = 0
    proposals: int = 0


def texts_of_memory(tx: Transaction, memory_id: UUID) -> frozenset[str]:
    """All that an erasure of the memory would take away; nothing where it is purged. Raises `NotFound`."""
    found = reach(tx, Start([memory_id]), Extent.ONE_FACT)
    if not found.memories and views.purged(tx, memory_id) is None:
        raise unknown_memory(memory_id)
    return found.texts


def texts_of_user(tx: Transaction, user_id: UUID) -> frozenset[str]:
    """All that an erasure of the user's memories would take away. Raises `NotFound`."""
    check_subject(tx, user_id=user_id, agent_id=None)
    rows = tx.all(OF_USER, user=user_id)
    return reach(tx, _of_user(tx, user_id, rows), Extent.NOT_GIVEN).texts


def erase(
    tx: Transaction, memory_id: UUID, by: Author, ways: Ways, *, elsewhere: Elsewhere
) -> Removed:
    """Remove a memory as one fact wherever it stood, and what is forgotten or proposed that says the same."""
    found = hold(tx, Start([memory_id]), Extent.ONE_FACT)
    return _purge(tx, found, "erased", by, ways, elsewhere=elsewhere)


def erase_some_of_user(
    tx: Transaction, user_id: UUID, most: int, by: Author, ways: Ways, *, elsewhere: Elsewhere
) -> tuple[Removed, AlsoErased]:
    """Remove all proposals for the user, and up to `most` memories with all that says what they said, but what lives for others.

    All else that there is of the user goes too, and is told beside.
    """
    rows = tx.all(SOME_OF_USER, user=user_id, most=most)
    found = hold(tx, _of_user(tx, user_id, rows), Extent.NOT_GIVEN)
    also = elsewhere.of_user(tx, user_id) or AlsoErased()
    return _purge(tx, found, "erased", by, ways, elsewhere=elsewhere), also


def _of_user(tx: Transaction, user_id: UUID, rows: list[Row]) -> Start:
    """These memories, and the names of purged ones, which others that hold their texts may still link to."""
    ids = [row.id for row in (*rows, *tx.all(PURGED_OF_USER, user=user_id))]
    return Start(ids, user_id=user_id)


def purge_due(tx: Transaction, most: int, ways: Ways, *, elsewhere: Elsewhere) -> Removed:
    """Remove up to `most` memories, and as many proposals, whose time to be restored or accepted is over."""
    before = tx.now - KEPT_WHEN_FORGOTTEN
    start = Start(
        [row.id for row in tx.all(LONG_FORGOTTEN, before=before, most=most)],
        [row.id for row in tx.all(PROPOSALS_DUE, before=before, now=tx.now, most=most)],
    )
    due = _due(tx, hold(tx, start, Extent.ALONE), before)
    return _purge(tx, due, "retention", Author(), ways, elsewhere=elsewhere)


def _due(tx: Transaction, found: Reach, before: datetime) -> Reach:
    """What of it nobody has restored or accepted before it was held."""
    gone = [row for row in found.memories if not row.live and row.recorded_at <= before]
    ids = {row.id for row in gone}
    return found._replace(
        memories=gone,
        proposals=[
            row
            for row in found.proposals
            if (row.status == "discarded" and row.decided_at <= before)
            or (row.status == "waiting" and row.expires_at is not None and row.expires_at <= tx.now)
            or names(row, ids)
        ],
    )


def _purge(
    tx: Transaction, found: Reach, reason: str, by: Author, ways: Ways, *, elsewhere: Elsewhere
) -> Removed:
    """Delete what is held, and write what follows in the order in which every write takes shared rows."""
    memory_ids, proposal_ids = found.ids
    if not memory_ids and not proposal_ids:
        return Removed()
    elsewhere.of_memories(tx, [*memory_ids, *proposal_ids])
    tx.run(DELETE_PROPOSALS, ids=proposal_ids)
    # One by one, because each deletion takes the revisions after it along, one within the other.
    revisions = tx.all(NEWEST_FIRST, ids=memory_ids)
    tx.run_many(DELETE_REVISION, [{"revision": row.id} for row in revisions])
    tx.run(DELETE_MEMORIES, ids=memory_ids)
    words.drop(tx, COLLECTION, memory_ids)
    vectors.drop(tx, COLLECTION, memory_ids)
    # An accepted proposal is one name of its memory, or of none that was ever seen.
    proposed = [row for row in found.proposals if row.status != "accepted"]
    began = [(row, row.created_at) for row in found.memories]
    # No run was ever told of what nobody accepted: it began and ended just now.
    _keep_names(tx, [*began, *((row, tx.now) for row in proposed)], reason)
    signal(tx, SCRUB)
    _record(tx, found.memories, reason, by)
    _count(tx, found, ways)
    return Removed(len(memory_ids), len(proposal_ids))


def _keep_names(tx: Transaction, rows: list[tuple[Row, datetime]], reason: str) -> None:
    """Keep for whom each was, and from when to when."""
    names = ("id", "user_id", "agent_id", "space")
    of = {"reason": reason, "purged_at": tx.now}
    tx.run_many(
        KEEP_NAME,
        [
            of | {"began_at": began} | {name: getattr(row, name) for name in names}
            for row, began in rows
        ],
    )


def _record(tx: Transaction, rows: list[Row], reason: str, by: Author) -> None:
    """All activities first: from the first event on, other writers of the organization wait."""
    for row in rows:
        record_activity(
            tx,
            "memory_fact_purged",
            subject_id=row.id,
            user_id=by.user_id,
            agent_id=by.agent_id,
            reason=reason,
        )
    for row in rows:
        record_event(
            tx,
            EVENT,
            user_id=row.user_id,
            agent_id=row.agent_id,
            space=row.space,
            memory_id=str(row.id),
            version=row.version,
            action="purged",
        )


def _count(tx: Transaction, found: Reach, ways: Ways) -> None:
    ended = [row for row in found.memories if not row.live]
    statuses = [row.status for row in found.proposals]
    counts.bump(
        tx,
        ways.limits,
        active=len(ended) - len(found.memories),
        forgotten=-sum(row.continued_by_id is None for row in ended),
        pinned=-sum(row.pinned for row in found.memories),
        waiting=-statuses.count("waiting"),
        discarded=-statuses.count("discarded"),
    )
