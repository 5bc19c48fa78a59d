"""Time is handed in, so that a test or a past date can stand in for now."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the current time, aware and in UTC."""


def system_clock() -> datetime:
    """Return the machine's time as an aware UTC datetime."""
    return datetime.now(UTC)
