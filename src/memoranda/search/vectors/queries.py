"""Vectors of queries: made once for all who ask, remembered for a while, never waited for too long."""

import asyncio
import logging
from collections import OrderedDict
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.embedders.asking import ask
from memoranda.search.embedders.port import Embedder
from memoranda.words.errors import Unavailable

logger = logging.getLogger(__name__)

REMEMBERED: Final = 256
Vector = NDArray[np.float32]
# Organizations share nothing here: how quickly one is answered must not tell what another has asked.
_Key = tuple[UUID, str, str]


class QueryVectors:
    """Asks an embedder for the vectors of queries.

    Who asks waits `timeout_s` at most. An embedder that failed or was that late is left alone for
    `rest_s`, so that not every search waits for it; a late answer ends that.
    """

    def __init__(self, *, timeout_s: float, rest_s: float) -> None:
        self._timeout_s = timeout_s
        self._rest_s = rest_s
        self._made: OrderedDict[_Key, Vector] = OrderedDict()
        self._asked: dict[_Key, asyncio.Task[Vector | None]] = {}
        self._resting: dict[str, float] = {}

    async def vector(self, embedder: Embedder, organization_id: UUID, query: str) -> Vector | None:
        """Return the query's vector, or None where the embedder does not answer in time."""
        key = (organization_id, embedder.model, query)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        task = self._asked.get(key)
        if task is None:
            if self._rests(embedder.model):
                return None
            task = self._asked[key] = asyncio.create_task(self._ask(embedder, key))
            task.add_done_callback(lambda _: self._asked.pop(key, None))
        done, _ = await asyncio.wait([task], timeout=self._timeout_s)
        if not done:
            self._rest(embedder.model, "It did not answer in time.")
        return task.result() if done and not task.cancelled() else None

    async def close(self) -> None:
        """Let go of what is under way."""
        asked = list(self._asked.values())
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    async def _ask(self, embedder: Embedder, key: _Key) -> Vector | None:
        try:
            rows = await ask(embedder, [key[-1]])
        except Unavailable as error:
            self._rest(embedder.model, error.message)
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
        # Once for each rest, however many searches meet the same failure.
        if not self._rests(model):
            logger.warning("Searches do without the embedder %s for a while. %s", model, why)
        self._resting[model] = asyncio.get_running_loop().time() + self._rest_s
