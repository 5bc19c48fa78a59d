"""Where the product is opened: what a framework asks for is run there, from whichever thread or loop it asks."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, Self, TypedDict, TypeVar
from uuid import UUID

from memoranda import app, sync
from memoranda.access.models import Principal

T = TypeVar("T")

STALLED_S: Final = 10.0
"""Seconds after which a loop that has not begun with what it was given is taken for one that does not run."""

Given = app.Memoranda | sync.Memoranda
"""Memoranda as it was opened: in `async with` on a running loop, or in a script's `with`."""


class WaitsForItself(RuntimeError, asyncio.InvalidStateError):
    """A call that waits was made on the loop that would have to do it. LangGraph's own raise the second."""


class Named(TypedDict):
    """The subject, as verbs take it."""

    user_id: UUID | None
    agent_id: UUID | None


@dataclass(frozen=True)
class Home:
    """The opened product, the loop that it lives on, and whom it is asked by and for."""

    memoranda: app.Memoranda
    loop: asyncio.AbstractEventLoop
    who: Principal
    user_id: UUID | None
    agent_id: UUID | None

    @classmethod
    def of(
        cls, memoranda: Given, who: Principal | None, user_id: UUID | None, agent_id: UUID | None
    ) -> Self:
        """Find where it lives. Raises `RuntimeError` where that can't be told: not on the loop that opened it."""
        if isinstance(memoranda, sync.Memoranda):
            opened, there = memoranda.lend(_here)
            return cls(opened, there, who or opened.owner, user_id, agent_id)
        loop = _running()
        if loop is None:
            raise RuntimeError(
                "Make it on the event loop on which Memoranda was opened; a script without one opens "
                "`memoranda.sync.Memoranda`."
            )
        return cls(memoranda, loop, who or memoranda.owner, user_id, agent_id)

    @property
    def subject(self) -> Named:
        """Whose items and threads are meant."""
        return {"user_id": self.user_id, "agent_id": self.agent_id}

    def wait(self, asked: Coroutine[Any, Any, T]) -> T:
        """Run it there, and wait. Raises `WaitsForItself` on that very loop."""
        if _running() is self.loop:
            asked.close()
            raise WaitsForItself(
                "This would wait for the event loop that it is called on. Use the asynchronous method, "
                "whose name begins with an a, or call it from another thread."
            )
        begin = _Begin(asked)
        done = asyncio.run_coroutine_threadsafe(begin.on_time(), self.loop)
        with suppress(TimeoutError):
            return done.result(STALLED_S)
        begin.give_up_unless_begun(done)
        return done.result()

    async def run(self, asked: Coroutine[Any, Any, T]) -> T:
        """Run it there, whichever loop this is. Raises `RuntimeError` where that loop is kept from running."""
        if asyncio.get_running_loop() is self.loop:
            return await asked
        begin = _Begin(asked)
        done = asyncio.run_coroutine_threadsafe(begin.on_time(), self.loop)
        waited = asyncio.wrap_future(done)
        try:
            await asyncio.wait([waited], timeout=STALLED_S)
        except asyncio.CancelledError:
            waited.cancel()
            begin.drop()
            raise
        if not waited.done():
            begin.give_up_unless_begun(done)
        return await waited


class _Begin(Generic[T]):
    """Something that is to be run on a loop: either it begins there, or it is given up, and never both."""

    def __init__(self, asked: Coroutine[Any, Any, T]) -> None:
        self._asked = asked
        self._claim = Lock()

    async def on_time(self) -> T:
        """Begin, unless that was given up."""
        if not self._claim.acquire(blocking=False):
            raise asyncio.CancelledError
        return await self._asked

    def drop(self) -> bool:
        """Give it up, unless it has begun; whether it was given up."""
        dropped = self._claim.acquire(blocking=False)
        if dropped:
            self._asked.close()
        return dropped

    def give_up_unless_begun(self, done: "Future[T]") -> None:
        """Raise `RuntimeError` where the loop has not come to it by now; nothing of it is done then."""
        if self.drop():
            done.cancel()
            raise RuntimeError(
                "The event loop that opened Memoranda does not run: something on it keeps it waiting, such as a "
                "thread that it joins. Nothing was done. Await there (asyncio.to_thread, asyncio.gather), or "
                "open `memoranda.sync.Memoranda`, which has a loop of its own."
            )


async def _here(memoranda: app.Memoranda) -> tuple[app.Memoranda, asyncio.AbstractEventLoop]:
    return memoranda, asyncio.get_running_loop()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
