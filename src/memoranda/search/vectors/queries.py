"""Vectors of queries: made once for all who ask, remembered for a while, never waited for too long."""

import asyncio
import logging
from collections import OrderedDict
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.embedders.asking import ask, is_away
from memoranda.search.embedders.port import Embedder
from memoranda.words.errors import Unavailable

logger = logging.getLogger(__name__)

REMEMBERED: Final = 256
Vector = NDArray[np.float32]
# Organizations share nothing here: how quickly one is answered must not tell what another has asked.
_Key = tuple[UUID, str, str]

FAIR: Final = 0.5
"""The part of `timeout_s` that a call has to be given before its silence says that the embedder is away."""
LATE: Final = "It did not answer in time."


class _Call:
    """A call that is under way, since when, and how many wait for it."""

    def __init__(self, key: _Key, task: asyncio.Task[Vector | None]) -> None:
        self.key = key
        self.task = task
        self.began = asyncio.get_running_loop().time()
        self.waiting = 0

    @property
    def age(self) -> float:
        return asyncio.get_running_loop().time() - self.began


class QueryVectors:
    """Asks an embedder for the vectors of queries.

    Who asks waits `timeout_s` at most. An embedder that is away, or was given up on for time, is left
    alone for `rest_s`, so that not every search waits for it; a text that it refused says nothing
    about others. A call that was given up is cancelled.
    """

    def __init__(self, *, timeout_s: float, rest_s: float) -> None:
        self._timeout_s = timeout_s
        self._rest_s = rest_s
        self._made: OrderedDict[_Key, Vector] = OrderedDict()
        self._calls: dict[_Key, _Call] = {}
        self._running: set[asyncio.Task[Vector | None]] = set()
        self._resting: dict[str, float] = {}
        self._said: dict[str, float] = {}

    async def vector(self, embedder: Embedder, organization_id: UUID, query: str) -> Vector | None:
        """Return the query's vector, or None where the embedder does not answer in time.

        Who is cancelled meanwhile has given up too: whoever's deadline it was, it counts.
        """
        key = (organization_id, embedder.model, query)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        if self._rests(embedder.model):
            return None
        call = self._calls.get(key) or self._call(embedder, key)
        call.waiting += 1
        try:
            await asyncio.wait([call.task], timeout=self._timeout_s)
        finally:
            call.waiting -= 1
            if not call.task.done():
                self._leave(call)
        return call.task.result() if call.task.done() and not call.task.cancelled() else None

    async def close(self) -> None:
        """Let go of what is under way."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _call(self, embedder: Embedder, key: _Key) -> _Call:
        call = self._calls[key] = _Call(key, asyncio.create_task(self._ask(embedder, key)))
        self._running.add(call.task)

        def end(task: asyncio.Task[Vector | None]) -> None:
            self._running.discard(task)
            self._forget(call)

        call.task.add_done_callback(end)
        return call

    def _leave(self, call: _Call) -> None:
        """Somebody has given up on the call. One who hardly waited has learned nothing about the embedder."""
        to_wait = self._timeout_s * FAIR - call.age
        if to_wait <= 0:
            self._give_up(call)
        elif not call.waiting:
            asyncio.get_running_loop().call_later(to_wait, self._give_up, call)

    def _give_up(self, call: _Call) -> None:
        if call.task.done():
            return
        self._rest(call.key[1], LATE)
        if not call.waiting:
            self._forget(call)
            call.task.cancel()

    def _forget(self, call: _Call) -> None:
        if self._calls.get(call.key) is call:
            del self._calls[call.key]

    async def _ask(self, embedder: Embedder, key: _Key) -> Vector | None:
        try:
            rows = await ask(embedder, [key[-1]], within_s=self._timeout_s)
        except Unavailable as error:
            if is_away(error):
                self._rest(embedder.model, error.message)
            else:
                self._say("A search does without the embedder", embedder.model, error.message)
            return None
        self._resting.pop(embedder.model, None)
        vector: Vector = rows[0]
        self._made[key] = vector
        if len(self._made) > REMEMBERED:
            self._made.popitem(last=False)
        return vector

    def _rests(self, model: str) -> bool:
        return self._resting.get(model, 0.0) > asyncio.get_running_loop().time()

    def _rest(self, model: str, why: str) -> None:
        if not self._rests(model):
            self._say("For a while, searches do without the embedder", model, why)
        self._resting[model] = asyncio.get_running_loop().time() + self._rest_s

    def _say(self, what: str, model: str, why: str) -> None:
        # Once in a while, however many searches meet the same failure.
        now = asyncio.get_running_loop().time()
        if self._said.get(model, 0.0) <= now:
            self._said[model] = now + self._rest_s
            logger.warning("%s %s. %s", what, model, why)
