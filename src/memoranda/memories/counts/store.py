"""The SQL of the counts: one row for each organization, changed by every write that changes a number."""

from typing import Any, Final, NamedTuple

from sqlalchemy import and_, bindparam, case, func, insert, select, update

from memoranda.memories.errors import MemoriesFull, PinsFull
from memoranda.memories.limits import MemoryLimits
from memoranda.storage import Transaction
from memoranda.storage.tables import memories, memory_counts, memory_proposals, memory_revisions


class Counts(NamedTuple):
    """How many memories are live (expired ones too), forgotten and pinned.

    And how many proposals wait, are discarded, and were dropped for want of room.
    """

    active: int
    forgotten: int
    pinned: int
    waiting: int
    discarded: int
    dropped: int


class Expired(NamedTuple):
    """How many live memories, and how many pinned ones among them, have expired."""

    active: int
    pinned: int


n, m, r, p = memory_counts.c, memories.c, memory_revisions.c, memory_proposals.c

KEPT: Final = select(*(n[name] for name in Counts._fields))
ADD: Final = (
    update(memory_counts)
    .values({name: n[name] + bindparam(f"more_{name}") for name in Counts._fields})
    .returning(*(n[name] for name in Counts._fields))
)
KEEP: Final = insert(memory_counts)
LIVE: Final = select(
    func.count().label("active"),
    func.coalesce(func.sum(case((m.pinned, 1), else_=0)), 0).label("pinned"),
).where(m.live)
EXPIRED: Final = LIVE.where(m.expires_at <= bindparam("now"))
# What was moved or merged away is no loss to anybody: another memory says it.
FORGOTTEN: Final = (
    select(func.count().label("forgotten"))
    .select_from(memories.join(memory_revisions, and_(r.memory_id == m.id, r.id == m.head_id)))
    .where(~m.live, r.continued_by_id.is_(None))
)
PROPOSED: Final = select(
    func.coalesce(func.sum(case((p.status == "waiting", 1), else_=0)), 0).label("waiting"),
    func.coalesce(func.sum(case((p.status == "discarded", 1), else_=0)), 0).label("discarded"),
)


def counts(tx: Transaction) -> Counts:
    """The organization's counts; counted anew as long as nothing has been written since they are kept."""
    row = tx.one(KEPT)
    return _counted(tx) if row is None else Counts(*row)


def expired(tx: Transaction) -> Expired:
    """How much of what is counted as live, and as pinned, says nothing any more."""
    row: Any = tx.one(EXPIRED, now=tx.now)
    return Expired(*row)


def bump(
    tx: Transaction,
    limits: MemoryLimits,
    *,
    active: int = 0,
    forgotten: int = 0,
    pinned: int = 0,
    waiting: int = 0,
    discarded: int = 0,
    dropped: int = 0,
    lapsed: int = 0,
    lapsed_pins: int = 0,
) -> Counts:
    """Add to the counts, last in a write: from here to the commit other writers of the organization wait.

    Raises `MemoriesFull` or `PinsFull` where what grows then passes its limit. Expired
    memories take no room, so what was counted and had expired, and is ended or active
    again, comes in `lapsed` and `lapsed_pins`: what replaces it needs its room anew.
    """
    row = tx.one(
        ADD,
        more_active=active,
        more_forgotten=forgotten,
        more_pinned=pinned,
        more_waiting=waiting,
        more_discarded=discarded,
        more_dropped=dropped,
    )
    now = _begun(tx, dropped) if row is None else Counts(*row)
    if active + lapsed > 0 and now.active > limits.active:
        _check(MemoriesFull, _FULL, now.active - expired(tx).active, limits.active)
    if pinned + lapsed_pins > 0 and now.pinned > limits.pinned:
        _check(PinsFull, _PINNED, now.pinned - expired(tx).pinned, limits.pinned)
    return now


_FULL: Final = (
    "This organization has {limit} active memories, as many as it may. "
    "Forget some of them, or raise MEMORANDA_MAX_MEMORIES."
)
_PINNED: Final = "{limit} memories are pinned, as many as may be. Unpin one first, or raise MEMORANDA_MAX_PINNED."


def _check(refusal: type[MemoriesFull | PinsFull], message: str, count: int, limit: int) -> None:
    if count > limit:
        raise refusal(message.format(limit=limit), limit=limit)


def _begun(tx: Transaction, dropped: int) -> Counts:
    """The first row of an organization, whose rows hold this write already."""
    counted = _counted(tx)._replace(dropped=dropped)
    tx.run(KEEP, **counted._asdict())
    return counted


def _counted(tx: Transaction) -> Counts:
    live: Any = tx.one(LIVE)
    gone: Any = tx.one(FORGOTTEN)
    proposed: Any = tx.one(PROPOSED)
    return Counts(
        active=live.active,
        forgotten=gone.forgotten,
        pinned=live.pinned,
        waiting=proposed.waiting,
        discarded=proposed.discarded,
        dropped=0,
    )
