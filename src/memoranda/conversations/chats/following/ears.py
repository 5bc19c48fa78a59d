"""Who follows a run in this process: woken after each commit that tells something of it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

POLL_S: Final = 0.5
"""How long what another process told of a run may go unnoticed."""


class Ears:
    """Wakes those who follow a run; for callers on their event loop. Waking costs next to nothing.

    Once `closed` is set, nobody follows any more.
    """

    def __init__(self, closed: asyncio.Event | None = None, *, poll_s: float = POLL_S) -> None:
        self.closed = closed or asyncio.Event()
        self._poll_s = poll_s
        self._open: dict[UUID, set[asyncio.Event]] = {}

    def wake(self, run_id: UUID) -> None:
        """Say that something may have been committed that is told of the run."""
        for ear in self._open.get(run_id, ()):
            ear.set()

    @contextmanager
    def open(self, run_id: UUID) -> Iterator[asyncio.Event]:
        """Listen for a run: the event is set when something is told of it."""
        ear = asyncio.Event()
        ears = self._open.setdefault(run_id, set())
        ears.add(ear)
        try:
            yield ear
        finally:
            ears.discard(ear)
            if not ears and self._open.get(run_id) is ears:
                del self._open[run_id]

    async def beyond(self, ear: asyncio.Event) -> None:
        """Wait until something was told, or may have been by another process."""
        try:
            async with asyncio.timeout(self._poll_s):
                await ear.wait()
        except TimeoutError:
            pass
