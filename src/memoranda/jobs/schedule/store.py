"""The SQL of schedules: one row for each thing that happens at set times, held by a lease."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, or_, select, update

from memoranda.storage import Row, Transaction, insert_or_ignore
from memoranda.storage.tables import schedules

_NAMED = schedules.c.name == bindparam("called")
_MINE = schedules.c.lease_owner == bindparam("worker")

ADD = insert_or_ignore(schedules)
SOONER = (
    update(schedules)
    .where(_NAMED, schedules.c.due_at > bindparam("next_due"))
    .values(due_at=bindparam("next_due"))
)
FIND = select(schedules.c.due_at, schedules.c.lease_until).where(_NAMED)
TAKE = (
    update(schedules)
    .where(
        _NAMED,
        schedules.c.due_at <= bindparam("now"),
        or_(schedules.c.lease_until.is_(None), schedules.c.lease_until <= bindparam("now")),
    )
    .values(lease_owner=bindparam("worker"), lease_until=bindparam("until"))
)
HOLD = update(schedules).where(_NAMED, _MINE).values(lease_until=bindparam("until"))
HAND_BACK = update(schedules).where(_NAMED, _MINE).values(lease_owner=None, lease_until=None)
FINISH = (
    update(schedules)
    .where(_NAMED, _MINE)
    .values(due_at=bindparam("next_due"), lease_owner=None, lease_until=None)
)


class Due(NamedTuple):
    """When it is due next, until when somebody does it, and what time it is."""

    at: datetime
    held_until: datetime | None
    now: datetime


def add(tx: Transaction, name: str, due_at: datetime) -> None:
    """Put it on the schedule; what is there already is due then at the latest."""
    tx.run(ADD, name=name, due_at=due_at)
    tx.run(SOONER, called=name, next_due=due_at)


def due(tx: Transaction, name: str) -> Due:
    """When it is due: what is on the schedule stays there."""
    row: Row = tx.one(FIND, called=name)
    return Due(row.due_at, row.lease_until, tx.now)


def take(tx: Transaction, name: str, worker_id: UUID, lease: timedelta) -> bool:
    """Take the turn if it is due and nobody's; of all who ask at once, one gets it."""
    taken = tx.run(TAKE, called=name, worker=worker_id, now=tx.now, until=tx.now + lease)
    return taken == 1


def hold(tx: Transaction, name: str, worker_id: UUID, lease: timedelta) -> bool:
    """Keep the turn for longer; False where it is another's meanwhile."""
    return tx.run(HOLD, called=name, worker=worker_id, until=tx.now + lease) == 1


def hand_back(tx: Transaction, name: str, worker_id: UUID) -> None:
    """Leave the turn to another, who need not wait for the end of the lease."""
    tx.run(HAND_BACK, called=name, worker=worker_id)


def finish(tx: Transaction, name: str, worker_id: UUID, due_at: datetime) -> bool:
    """End the turn, and say when the next one is due; False where it was another's meanwhile."""
    return tx.run(FINISH, called=name, worker=worker_id, next_due=due_at) == 1
