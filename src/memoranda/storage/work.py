"""One transaction on its way to a thread and back, which the waiting task may cancel at any moment."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from threading import Event, Lock
from typing import Any, Generic, TypeVar

from memoranda.storage.scope import Scope
from memoranda.storage.transaction import Transaction

T = TypeVar("T")
U = TypeVar("U")


class Work(ABC, Generic[T]):
    """A transaction function, its scope, and what came of it.

    The thread keeps the outcome here, and hands it out to whoever waits.
    Only the thread that runs the work calls `begin`, `end`, `succeed` and `fail`.
    """

    __slots__ = (
        "_args", "_asides", "_error", "_fn", "_interrupt", "_kwargs", "_value", "ended", "scope",
        "writes",
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
        self.ended = False
        self._fn = fn
        self._args = args
        self._kwargs = kwargs
        self._interrupt: Callable[[], None] | None = None
        self._value: T | None = None
        self._error: BaseException | None = None
        self._asides: list[Aside[Any]] = []

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether nobody waits any more."""

    @abstractmethod
    def take(self) -> bool:
        """Called by the thread that would run it: whether it is still to be run."""

    @abstractmethod
    def hand_out(self) -> None:
        """Give the outcome to whoever waits; harmless when that is done already."""

    def run(self, transaction: Transaction) -> T:
        """Call the function."""
        return self._fn(transaction, *self._args, **self._kwargs)

    def beside(self, fn: Callable[..., U], args: tuple[object, ...]) -> "Aside[U]":
        """Make a read for this transaction alone, which stops with it."""
        aside = Aside(self, fn, args)
        self._asides.append(aside)
        return aside

    def leave_asides(self) -> None:
        """The function has ended: of its asides, those that no thread has begun with are not begun any more."""
        for aside in self._asides:
            aside.take()

    def interrupt(self) -> None:
        """Stop what runs for this transaction, if anything does; `cancelled` is true by then."""
        interrupt = self._interrupt
        if interrupt is not None:
            interrupt()
        for aside in self._asides:
            aside.interrupt()

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


class Awaited(Work[T]):
    """A transaction that a task waits for."""

    __slots__ = ("_cancelled", "_future", "loop")

    def __init__(
        self,
        scope: Scope,
        fn: Callable[..., T],
        args: tuple[object, ...],
        kwargs: dict[str, Any],
        *,
        writes: bool,
    ) -> None:
        super().__init__(scope, fn, args, kwargs, writes=writes)
        self.loop = asyncio.get_running_loop()
        self._future: asyncio.Future[T] = self.loop.create_future()
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def take(self) -> bool:
        return not self._cancelled

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
        self._cancelled = True
        self.interrupt()

    def hand_out(self) -> None:
        _call(self.loop, self.resolve)

    def resolve(self) -> None:
        """Wake the waiting task, on its event loop; a task that went away loses the outcome."""
        if self._future.done():
            return
        if self._error is not None:
            self._future.set_exception(self._error)
        else:
            self._future.set_result(self._value)  # type: ignore[arg-type]  # T may be None itself


class Aside(Work[T]):
    """A read beside another transaction, on whichever thread is free; the other waits for it on its own."""

    __slots__ = ("_done", "_known", "_owner", "_taken")

    def __init__(self, owner: Work[Any], fn: Callable[..., T], args: tuple[object, ...]) -> None:
        super().__init__(owner.scope, fn, args, {}, writes=False)
        self._owner = owner
        self._taken = Lock()
        self._done = Event()
        self._known = False

    @property
    def cancelled(self) -> bool:
        return self._owner.cancelled

    def take(self) -> bool:
        """Whether nobody had taken it yet: it is run once, by a free thread or by the one that waits."""
        return self._taken.acquire(blocking=False)

    def result(self, transaction: Transaction) -> T:
        """Wait for the value. Where no thread has begun, or none came of it there, it is read right here."""
        # A wait for a thread to become free could last for ever: all of them may wait so.
        if self.take():
            self._done.set()
        self._done.wait()
        if self._known and not self.cancelled:
            return self._value  # type: ignore[return-value]  # T may be None itself
        return self.run(transaction)

    def succeed(self, value: T) -> None:
        super().succeed(value)
        self._known = True

    def hand_out(self) -> None:
        self._done.set()


def deliver(finished: Sequence[Awaited[Any]]) -> None:
    """Hand out outcomes with one wake-up per event loop; a loop that is closed has nobody waiting."""
    if len(finished) == 1:
        finished[0].hand_out()
        return
    loops: dict[asyncio.AbstractEventLoop, list[Awaited[Any]]] = {}
    for work in finished:
        loops.setdefault(work.loop, []).append(work)
    for loop, waiting in loops.items():
        _call(loop, partial(_resolve_all, waiting))


def _resolve_all(waiting: Iterable[Awaited[Any]]) -> None:
    for work in waiting:
        work.resolve()


def _call(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # closed, perhaps only just now
        loop.call_soon_threadsafe(what)
