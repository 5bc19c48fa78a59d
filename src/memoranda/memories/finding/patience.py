"""Waits for work as long as there is time, and leaves behind what takes longer."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from memoranda.words.errors import Unavailable

T = TypeVar("T")

# The loop holds tasks weakly; what is left behind must not vanish half-way.
_LEFT: Final[set[asyncio.Task[Any]]] = set()


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns, or raise what it raises; after `seconds` cancel it and raise TimeoutError.

    Unlike `wait_for`, this never waits for the cancelled work to end, because it may refuse to.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            _leave(task)
    if not task.done():
        raise TimeoutError
    if task.cancelled():  # by somebody else: to the caller, who was not, that is a failure
        raise Unavailable("The work was cancelled before it was done: try again.")
    return task.result()


def _leave(task: asyncio.Task[Any]) -> None:
    _LEFT.add(task)
    task.add_done_callback(_end)
    task.cancel()


def _end(task: asyncio.Task[Any]) -> None:
    _LEFT.discard(task)
    if not task.cancelled():
        task.exception()  # marks it as seen; nobody waits for it any more
