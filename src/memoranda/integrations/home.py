"""Where the product is opened: what a framework asks for is run there, from whichever thread or loop it asks."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Self, TypedDict, TypeVar
from uuid import UUID

from memoranda import app, sync
from memoranda.access.models import Principal

T = TypeVar("T")

Given = app.Memoranda | sync.Memoranda
"""Memoranda as it was opened: in `async with` on a running loop, or in a script's `with`."""


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
        """Run it there, and wait. Raises `RuntimeError` on that very loop, which would wait for itself."""
        if _running() is self.loop:
            asked.close()
            raise RuntimeError(
                "This would wait for the event loop that it is called on. Use the asynchronous method, "
                "whose name begins with an a, or call it from another thread."
            )
        return asyncio.run_coroutine_threadsafe(asked, self.loop).result()

    async def run(self, asked: Coroutine[Any, Any, T]) -> T:
        """Run it there, whichever loop this is."""
        if asyncio.get_running_loop() is self.loop:
            return await asked
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, self.loop))


async def _here(memoranda: app.Memoranda) -> tuple[app.Memoranda, asyncio.AbstractEventLoop]:
    return memoranda, asyncio.get_running_loop()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
