"""The SQL of rates: how much of each minute's allowance is set aside or used."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, update

from memoranda.storage import Row, Transaction, upsert
from memoranda.storage.tables import rate_windows

SHARE: Final = 8
"""The part of what is left that is set aside at once: an eighth, and at least one."""
KEPT: Final = timedelta(minutes=10)
"""How long a window that is over is kept: clocks of other processes may be behind."""

_OF_WHOM = (rate_windows.c.who == bindparam("asker"), rate_windows.c.kind == bindparam("asked"))

COUNT_ONE = upsert(
    rate_windows, ["organization_id", "who", "kind", "window_start"], add=["used"]
).returning(rate_windows.c.used)
SET_USED = (
    update(rate_windows)
    .where(*_OF_WHOM, rate_windows.c.window_start == bindparam("start"))
    .values(used=bindparam("now_used"))
)
FORGET_OLDER = delete(rate_windows).where(*_OF_WHOM, rate_windows.c.window_start < bindparam("end"))
FORGET_ALL = delete(rate_windows).where(rate_windows.c.window_start < bindparam("end"))


def reserve(tx: Transaction, who: str, kind: str, start: datetime, most: int) -> int:
    """Set aside a part of what is left of `most` in the window from `start`; 0 where nothing is.

    The part shrinks with what is left, so that processes that share a window leave little of
    it unused; all of them together never get more than `most`.
    """
    counted: Row = tx.one(COUNT_ONE, who=who, kind=kind, window_start=start, used=1)
    # The row is locked from here on: nobody else's part comes in between.
    left = most - (counted.used - 1)
    part = max(1, left // SHARE) if left > 0 else 0
    if part != 1:
        used = counted.used - 1 + part
        tx.send(SET_USED, asker=who, asked=kind, start=start, now_used=used)
    if counted.used == 1:
        tx.send(FORGET_OLDER, asker=who, asked=kind, end=start - KEPT)
    return part


def prune(tx: Transaction) -> int:
    """Delete the windows that are over, of whoever did not come back; how many."""
    return tx.run(FORGET_ALL, end=tx.now - KEPT)
