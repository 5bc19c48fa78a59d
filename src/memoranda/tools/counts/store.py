"""The SQL of the counts: a row that the calls of one run add to in turn."""

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select

from memoranda.storage import Row, Transaction, upsert
from memoranda.storage.tables import tool_counts
from memoranda.tools.errors import TooManyToolCalls

AT_ONCE: Final = 1_000

c = tool_counts.c
ADD: Final = upsert(
    tool_counts, ["organization_id", "run_id", "caller", "tool"], add=["calls"]
).returning(c.calls)
OLDEST: Final = (
    select(c.created_at)
    .where(c.created_at < bindparam("before"))
    .order_by(c.created_at)
    .limit(bindparam("most"))
)
PRUNE: Final = delete(tool_counts).where(c.created_at <= bindparam("upto"))


def add(tx: Transaction, run_id: UUID, caller: str, tool: str) -> int:
    """Count one call; how many there are now. From here to the commit the run's other calls of the tool wait."""
    row: Row = tx.one(ADD, run_id=run_id, caller=caller, tool=tool, calls=1, created_at=tx.now)
    return int(row.calls)


def check(calls: int, most: int) -> None:
    """Raise `TooManyToolCalls` where a run has called a tool more often than it may."""
    if calls > most:
        raise TooManyToolCalls(
            f"A run may call a tool {most} times, and this one has. Go on without it.", limit=most
        )


def prune(tx: Transaction, before: datetime) -> int:
    """Delete the counts of runs that began to call before that time, a part of them at once; how many."""
    old = tx.all(OLDEST, before=before, most=AT_ONCE)
    return tx.run(PRUNE, upto=old[-1].created_at) if old else 0
