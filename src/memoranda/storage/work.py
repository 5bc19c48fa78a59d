"""One transaction on its way to a thread and back, which the waiting task may cancel at any moment."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from memoranda.storage.scope import Scope
from memoranda.storage.transaction import Transaction

T = TypeVar("T")


class Work(Generic[T]):
    """A transaction function, its scope, and the future that waits for it.

    The thread keeps the outcome here, and `deliver` takes it to the event loop.
    Only the thread that runs the work calls `begin`, `end`, `succeed` and `fail`.
    """

    __slots__ = (
        "_args", "_error", "_fn", "_future", "_interrupt", "_kwargs", "_value",
        "cancelled", "ended", "loop", "scope", "writes",
    )  # fmt: skip

    def __init__(
        self,
        scope: Scope,
        fn: Callable[..., T],
        args: tuple[object, ...],
        kwargs: dict[str, Any],
        *,
        writes: bool,
    ) -> None:
        self.scope = scope
        self.writes = writes
        self.cancelled = False
        self.ended = False
        self.loop = asyncio.get_running_loop()
        self._fn = fn
        self._args = args
        self._kwargs = kwargs
        self._future: asyncio.Future[T] = self.loop.create_future()
        self._interrupt: Callable[[], None] | None = None
        self._value: T | None = None
        self._error: BaseException | None = None

    def run(self, transaction: Transaction) -> T:
        """Call the function."""
        return self._fn(transaction, *self._args, **self._kwargs)

    async def result(self) -> T:
        """Wait for the outcome; a cancelled wait stops the statement and raises CancelledError."""
        try:
            return await self._future
        except asyncio.CancelledError:
            self._cancel()
            raise

    async def outcome(self) -> T:
        """Wait for the outcome; a cancelled wait stops nothing, and this may be called again."""
        return await asyncio.shield(self._future)

    def _cancel(self) -> None:
        # The flag first and then the look: begin() does the reverse, so one of the two sees the other.
        self.cancelled = True
        interrupt = self._interrupt
        if interrupt is not None:
            interrupt()

    def begin(self, interrupt: Callable[[], None]) -> bool:
        """Before the first statement: `interrupt` is what stops one, called on the event loop.

        False when nobody waits any more, and then nothing may run.
        """
        self.ended = False
        self._interrupt = interrupt
        return not self.cancelled

    def end(self) -> None:
        """After the last statement: whoever cancels from now on interrupts nothing.

        If `cancelled` is false after this call, no interrupt was or will be asked for.
        """
        self._interrupt = None
        self.ended = True

    def succeed(self, value: T) -> None:
        """Keep the value that the function returned."""
        self._value, self._error = value, None

    def fail(self, error: BaseException) -> None:
        """Keep the error in the value's place."""
        if isinstance(error, StopIteration | GeneratorExit):
            # A future can't carry these: they would end the coroutine that waits for it.
            wrapped = RuntimeError(f"A transaction function raised {type(error).__name__}.")
            wrapped.__cause__ = error
            error = wrapped
        self._error = error

    def resolve(self) -> None:
        """Hand the outcome to the waiting task, on its event loop; a task that went away loses it."""
        if self._future.done():
            return
        if self._error is not None:
            self._future.set_exception(self._error)
        else:
            self._future.set_result(self._value)  # type: ignore[arg-type]  # T may be None itself


def deliver(finished: Sequence[Work[Any]]) -> None:
    """Hand out outcomes with one wake-up per event loop; a loop that is closed has nobody waiting."""
    if len(finished) == 1:
        _call(finished[0].loop, finished[0].resolve)
        return
    loops: dict[asyncio.AbstractEventLoop, list[Work[Any]]] = {}
    for work in finished:
        loops.setdefault(work.loop, []).append(work)
    for loop, waiting in loops.items():
        _call(loop, partial(_resolve_all, waiting))


def _resolve_all(waiting: Iterable[Work[Any]]) -> None:
    for work in waiting:
        work.resolve()


def _call(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # closed, perhaps only just now
        loop.call_soon_threadsafe(what)
