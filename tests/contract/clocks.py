"""A clock for tests in which time has to pass, or to stand."""

from datetime import UTC, datetime, timedelta


class SteppedClock:
    """A clock that a test moves by hand; several writes can share one time."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, by: timedelta = timedelta(seconds=1)) -> datetime:
        self.now += by
        return self.now
