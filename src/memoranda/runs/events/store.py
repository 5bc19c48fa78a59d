"""The SQL of events."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select

from memoranda.runs.events.models import Event, Stretch
from memoranda.storage import Row, Transaction, upsert
from memoranda.storage.tables import event_counters, events

LAST = select(event_counters.c.last)
NEXT_NUMBER = upsert(event_counters, ["organization_id"], add=["last"])
# The number that the transaction has just dealt out, without a round trip that fetches it.
INSERT = insert(events).values(number=LAST.scalar_subquery()).inline()
AFTER = (
    select(*[events.c[name] for name in Event.model_fields], events.c.space)
    .where(events.c.number > bindparam("after"))
    .order_by(events.c.number)
    .limit(bindparam("most"))
)
OLDEST = (
    select(events.c.number, events.c.created_at).order_by(events.c.number).limit(bindparam("most"))
)
FORGET = delete(events).where(events.c.number <= bindparam("upto"))


def record_event(
    tx: Transaction,
    type: str,
    *,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    space: str | None = None,
    **metadata: Any,
) -> None:
    """Say, within the transaction that does it, what listeners are to be told once it is committed.

    Call it late: from here to the commit no other transaction of the organization can
    number an event, which is what makes the numbers follow the commits without a gap.
    The audience is that of the changed thing, and `metadata` is ids, counts and fixed
    words, never text. The platform has no listeners: in its scope nothing is recorded.
    """
    if not isinstance(tx.scope, UUID):
        return
    tx.send(NEXT_NUMBER, last=1)
    tx.send(
        INSERT,
        type=type,
        user_id=user_id,
        agent_id=agent_id,
        space=space,
        metadata=metadata,
        created_at=tx.now,
    )


def last(tx: Transaction) -> int:
    """The newest event's number; 0 where there never was one."""
    row = tx.one(LAST)
    return 0 if row is None else int(row.last)


def after(tx: Transaction, number: int, most: int) -> Stretch:
    """What came after `number`, in order, at most so many events; what belongs to a space is nobody's.

    Numbers have no gaps, so a gap is what was pruned, and a number that is yet to come is
    one of another database.
    """
    newest = last(tx)
    rows = tx.all(AFTER, after=number, most=most)
    if (rows[0].number != number + 1) if rows else (number != newest):
        return Stretch((), newest, newest, whole=False)
    told = tuple(_event(row) for row in rows if row.space is None)
    return Stretch(told, rows[-1].number if rows else number, newest)


def prune(tx: Transaction, before: datetime, most: int) -> int:
    """Delete the oldest events, as far as they are from before that time; how many went.

    They go in the order of their numbers, so that those that stay have no gap.
    """
    old = [row.number for row in tx.all(OLDEST, most=most) if row.created_at < before]
    return tx.run(FORGET, upto=old[-1]) if old else 0


def _event(row: Row) -> Event:
    values = row._asdict()
    del values["space"]
    return Event.model_validate(values)
