"""One transaction on its way to a thread and back, which the waiting task may cancel at any moment."""

import asyncio
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Generic, TypeVar

from memoranda.storage.scope import Scope
from memoranda.storage.transaction import Transaction

T = TypeVar("T")


class Work(Generic[T]):
    """A transaction function, its scope, and the future that waits for it.

    Cancelling the await interrupts the statement that runs: `interrupt` is
    called at most once, and never after `end`, so that it can't hit the next
    transaction on the same connection.
    """

    def __init__(self, scope: Scope, run: Callable[[Transaction], T]) -> None:
        self.scope = scope
        self.run = run
        self.cancelled = False
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[T] = self._loop.create_future()
        self._guard = Lock()
        self._interrupt: Callable[[], None] | None = None

    async def result(self) -> T:
        """Wait for the outcome; a cancelled wait stops the statement and raises CancelledError."""
        try:
            return await self._future
        except asyncio.CancelledError:
            self._loop.run_in_executor(None, self._cancel)
            raise

    def _cancel(self) -> None:
        with self._guard:
            self.cancelled = True
            if self._interrupt is not None:
                self._interrupt()
                self._interrupt = None

    def begin(self, interrupt: Callable[[], None]) -> bool:
        """Called by the thread before the first statement; False when nobody waits any more."""
        with self._guard:
            self._interrupt = None if self.cancelled else interrupt
            return not self.cancelled

    def end(self) -> None:
        """Called by the thread after the last statement; no interrupt comes after it."""
        with self._guard:
            self._interrupt = None

    def succeed(self, value: T) -> None:
        """Hand the value to the waiting task; a task that went away loses it."""
        _call(self._loop, lambda: self._future.done() or self._future.set_result(value))

    def fail(self, error: BaseException) -> None:
        """Hand the error to the waiting task."""
        _call(self._loop, lambda: self._future.done() or self._future.set_exception(error))

    @staticmethod
    def settle(outcomes: Iterable[tuple["Work[object]", object]]) -> None:
        """Hand out the values of one batch with one wake-up per event loop."""
        loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[object], object]]] = {}
        for work, value in outcomes:
            loops.setdefault(work._loop, []).append((work._future, value))
        for loop, waiting in loops.items():
            _call(loop, lambda waiting=waiting: _set_all(waiting))


def _set_all(waiting: list[tuple[asyncio.Future[object], object]]) -> None:
    for future, value in waiting:
        if not future.done():
            future.set_result(value)


def _call(loop: asyncio.AbstractEventLoop, what: Callable[[], object]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(what)
