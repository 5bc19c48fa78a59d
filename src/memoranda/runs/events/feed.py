"""What all followers of one organization share: one reader of its events, and the newest of them."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from memoranda.runs.events.models import Event, Stretch

logger = logging.getLogger(__name__)

KEPT: Final = 256
"""Events that are held for followers who are nearly there; whoever is further behind reads for itself."""


class Feed:
    """Reads an organization's events on, when woken and every `poll` seconds, while somebody follows.

    However many follow, each event is read once, and no more than `KEPT` are held. A
    fault is logged and tried again: followers only hear later.
    """

    def __init__(
        self,
        last: Callable[[], Awaitable[int]],
        after: Callable[[int], Awaitable[Stretch]],
        poll: float,
    ) -> None:
        self.followers = 0
        self.closed = False
        self._last = last
        self._after = after
        self._poll = poll
        self._held: deque[Event] = deque()
        self._start = (
            self._end
        ) = -1  # what is held came after the one, up to the other; -1 is nothing yet
        self._failing = False
        self._woken = asyncio.Event()
        self._grown = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Read on now."""
        self._woken.set()

    async def close(self) -> None:
        """Read no more, and let nobody wait."""
        self.closed = True
        self._grown.set()
        self._task.cancel()
        await asyncio.wait({self._task})

    def after(self, number: int) -> Stretch | None:
        """What came after `number`, if all of it is held."""
        if not self._start <= number <= self._end:
            return None
        told = tuple(event for event in self._held if event.number > number)
        return Stretch(told, self._end, self._end)

    async def beyond(self, number: int, seconds: float) -> None:
        """Wait until something that came after `number` is known, or the time is over, or the feed closed."""
        try:
            async with asyncio.timeout(seconds):
                while self._end <= number and not self.closed:
                    await self._grown.wait()
        except TimeoutError:
            pass

    def failed(self, error: Exception) -> None:
        """Log that events could not be read, once until they can be."""
        if not self._failing:
            # The type alone: an error's message may quote a row.
            logger.warning("Events can't be read for now: %s.", type(error).__name__)
        self._failing = True

    async def _run(self) -> None:
        while True:
            try:
                more = await self._read_on()
            except Exception as error:  # noqa: BLE001 - whatever broke, followers wait for the next try
                self.failed(error)
                more = False
            else:
                self._failing = False
            if not more:
                await self._idle()

    async def _read_on(self) -> bool:
        """Read what came meanwhile; whether there is more."""
        self._woken.clear()
        if self._end < 0:
            self._start = self._end = await self._last()
            self._tell()
        found = await self._after(self._end)
        if not found.whole:
            self._held.clear()
            self._start = found.end
        self._held.extend(found.events)
        while len(self._held) > KEPT:
            self._start = self._held.popleft().number
        if found.end != self._end:
            self._end = found.end
            self._tell()
        return found.end < found.last

    def _tell(self) -> None:
        """Wake whoever waits, and let the next ones wait for the next time."""
        self._grown.set()
        self._grown = asyncio.Event()

    async def _idle(self) -> None:
        try:
            async with asyncio.timeout(self._poll):
                await self._woken.wait()
        except TimeoutError:
            pass
