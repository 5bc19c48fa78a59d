"""The SQL of forgetting all memories and proposals of an organization, or of spaces, in one transaction."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, insert, select, update

from memoranda.memories.candidate import Author
from memoranda.memories.chain import Head
from memoranda.memories.changes.store import EVENT
from memoranda.memories.counts import store as counts
from memoranda.memories.errors import TooOften
from memoranda.memories.heads.store import COLUMNS, head_of
from memoranda.memories.limits import COLLECTION
from memoranda.memories.ways import Ways
from memoranda.runs.events.store import record_event
from memoranda.runs.store import record_activity
from memoranda.search.texts import store as words
from memoranda.search.vectors import store as vectors
from memoranda.storage import Transaction, one_of
from memoranda.storage.tables import activities, memories, memory_proposals, memory_revisions
from memoranda.words.ids import new_id

MOST: Final = 3
WITHIN: Final = timedelta(hours=1)
"""All memories may be forgotten so many times within so long."""
CLEARED: Final = "memory_facts_cleared"
SPACES_CLEARED: Final = "memory_spaces_cleared"

m, p, a = memories.c, memory_proposals.c, activities.c
LATELY: Final = (
    select(a.created_at)
    .where(a.type == CLEARED, a.created_at > bindparam("since"), a.created_at <= bindparam("until"))
    .order_by(a.created_at.desc())
    .limit(MOST)
)
# In the order of ids, and proposals before memories, as whoever decides on a proposal takes them.
WAITING: Final = select(p.id).where(p.status == "waiting").order_by(p.id).with_for_update()
LIVE: Final = select(*COLUMNS).where(m.live).order_by(m.id).with_for_update()
WAITING_IN: Final = WAITING.where(one_of(p.space, "spaces"))
LIVE_IN: Final = LIVE.where(one_of(m.space, "spaces"))
ADD_TOMBSTONE: Final = insert(memory_revisions)
END: Final = (
    update(memories)
    .where(m.id == bindparam("memory"))
    .values(
        head_id=bindparam("new_head"),
        version=bindparam("new_version"),
        recorded_at=bindparam("now"),
        live=False,
        pinned=False,
        folded=None,
        folded_digest=None,
        expires_at=None,
        words_version=0,
    )
)
DISCARD: Final = (
    update(memory_proposals)
    .where(one_of(p.id, "ids"))
    .values(status="discarded", decided_by=bindparam("by"), decided_at=bindparam("now"))
)


def forget_all(tx: Transaction, by: Author, ways: Ways) -> int:
    """End every live memory, also those that have expired, and discard every waiting proposal.

    Answers how many memories. Raises `TooOften`.
    """
    tx.lock("forget all")
    _check_rate(tx)
    # Everybody may hear it, so it tells no number: those count what is others' own.
    return _forget(tx, by, ways, None, [None])


def forget_spaces(tx: Transaction, spaces: Sequence[str], by: Author, ways: Ways) -> int:
    """End every live memory of these spaces, and discard every proposal that waits in them; how many memories."""
    return _forget(tx, by, ways, list(spaces), spaces) if spaces else 0


def _forget(
    tx: Transaction,
    by: Author,
    ways: Ways,
    within: list[str] | None,
    told_in: Sequence[str | None],
) -> int:
    """Take what there is `within` those spaces, or everything; the event is told in each of `told_in`."""
    heads, proposals = _take(tx, by, within)
    for space in told_in:
        record_event(tx, EVENT, space=space, action="cleared")
    # Who wrote at the same time has committed by now, and is seen by a second look; or can't before
    # this does, because each change needs the number that comes after this event's.
    late_heads, late_proposals = _take(tx, by, within)
    heads, discarded = heads + late_heads, len(proposals) + len(late_proposals)
    forgotten = len(heads)
    record_activity(
        tx,
        CLEARED if within is None else SPACES_CLEARED,
        user_id=by.user_id,
        agent_id=by.agent_id,
        forgotten=forgotten,
        discarded=discarded,
    )
    counts.bump(
        tx,
        ways.limits,
        active=-forgotten,
        forgotten=forgotten,
        pinned=-sum(head.pinned for head in heads),
        waiting=-discarded,
        discarded=discarded,
    )
    return forgotten


def _take(tx: Transaction, by: Author, within: list[str] | None) -> tuple[list[Head], list[UUID]]:
    """Discard the proposals that wait now and end the memories that are live now; which they are."""
    if within is None:
        waiting = [row.id for row in tx.all(WAITING)]
        heads = [head_of(row) for row in tx.all(LIVE)]
    else:
        waiting = [row.id for row in tx.all(WAITING_IN, spaces=within)]
        heads = [head_of(row) for row in tx.all(LIVE_IN, spaces=within)]
    tx.run(DISCARD, ids=waiting, by=by.user_id, now=tx.now)
    _end(tx, heads, by)
    ids = [head.memory_id for head in heads]
    words.drop(tx, COLLECTION, ids)
    vectors.drop(tx, COLLECTION, ids)
    return heads, waiting


def _end(tx: Transaction, heads: Sequence[Head], by: Author) -> None:
    """Write all tombstones together: one by one, thousands of them would take seconds."""
    ends = [head.followed_by(new_id(), live=False) for head in heads]
    written = {
        "tags": (),
        "origin": by.origin,
        "author_user_id": by.user_id,
        "author_agent_id": by.agent_id,
        "forgotten_at": tx.now,
        "created_at": tx.now,
    }
    tx.run_many(
        ADD_TOMBSTONE,
        [
            written
            | {
                "id": end.revision_id,
                "memory_id": end.memory_id,
                "version": end.version,
                "supersedes_id": head.revision_id,
            }
            for head, end in zip(heads, ends, strict=True)
        ],
    )
    tx.run_many(
        END,
        [
            {
                "memory": end.memory_id,
                "new_head": end.revision_id,
                "new_version": end.version,
                "now": tx.now,
            }
            for end in ends
        ],
    )


def _check_rate(tx: Transaction) -> None:
    # Others' clocks may be ahead, and whoever waited here began before those who went first. But a
    # clock that was set back must not make anybody wait for days.
    lately = tx.all(LATELY, since=tx.now - WITHIN, until=tx.now + WITHIN)
    if len(lately) < MOST:
        return
    wait = lately[-1].created_at + WITHIN - tx.now
    seconds = max(1, -int(-wait.total_seconds() // 1))
    raise TooOften(
        f"All memories were forgotten {MOST} times within an hour: try again in {seconds} seconds.",
        limit=MOST,
        retry_after_s=seconds,
    )
