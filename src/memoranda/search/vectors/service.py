"""Searching by meaning: which of an organization's texts are nearest to a query."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration
from memoranda.search.embedders.choice import Embedders
from memoranda.search.vectors.cache import VectorCache
from memoranda.search.vectors.holders import Holders
from memoranda.search.vectors.matrix import Hit, Snapshot
from memoranda.search.vectors.queries import QueryVectors
from memoranda.settings import MEGABYTE
from memoranda.storage import Storage, Transaction
from memoranda.storage.signals import EMBEDDING, signal

logger = logging.getLogger(__name__)

SMALL: Final = 1_000_000
"""Numbers that are multiplied in less time than it takes to wake a thread."""


class Nearest(NamedTuple):
    """What is near a query, best first; equal scores go by id. `model` found it.

    `bare` says that there was no vector to compare with, so that nothing could be near. `holders`
    are a help to find what holds letters.
    """

    hits: list[Hit]
    model: str
    bare: bool = False
    holders: Holders | None = None


class AtHand(NamedTuple):
    """A query's vector, and what a process has in memory to compare it with.

    It is used within the transaction that shows what is found, which can tell at once whether
    anything has changed: so a search mostly needs no other.
    """

    holders: Holders
    compare: Callable[[], Nearest]

    def nearest(self, tx: Transaction) -> Nearest | None:
        """Return what `Vectors.nearest` would, or None where it has to be asked, as something has changed."""
        seen, collection = self.holders.seen, self.holders.collection
        return self.compare() if seen.is_all(tx, collection) else None


class Vectors:
    """The vectors of one collection of texts, and an embedder's search among them.

    `models` is what a write wants vectors of. A query is embedded outside of any transaction, and
    waits `timeout_s` for its embedder at most; one that is away is left alone for `rest_s`.
    """

    def __init__(
        self,
        storage: Storage,
        embedders: Embedders,
        collection: str,
        *,
        cache_mb: int = 256,
        timeout_s: float = 1.5,
        rest_s: float = 5.0,
    ) -> None:
        self.embedders = embedders
        self.collection = collection
        self._storage = storage
        self._noticed: dict[UUID, asyncio.Task[None]] = {}
        self._cache = VectorCache(storage, collection, max_bytes=cache_mb * MEGABYTE)
        self._queries = QueryVectors(timeout_s=timeout_s, rest_s=rest_s)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that there is an embedder of, the one to use first."""
        return self.embedders.models

    async def look(
        self, organization_id: UUID, query: str, *, at_least: float, most: int
    ) -> AtHand | Nearest | None:
        """Return what makes `nearest` within the caller's own transaction, or its answer at once."""
        held = self._cache.held(organization_id)
        embedder = self.embedders.of(held[1].model) if held else None
        if held is None or embedder is None:
            return await self.nearest(organization_id, query, at_least=at_least, most=most)
        seen, snapshot = held
        if snapshot.model != self.models[0]:
            self._notice(organization_id)
        vector = await self._queries.vector(embedder, organization_id, query)
        if vector is None or not _fits(snapshot, len(vector)):
            return None
        curve = embedder.calibration
        holders = Holders(self.collection, seen, snapshot)
        compare = partial(_compare, holders, vector, curve, at_least=at_least, most=most)
        return AtHand(holders, compare)

    async def nearest(
        self, organization_id: UUID, query: str, *, at_least: float, most: int
    ) -> Nearest | None:
        """Return up to `most` of the organization's items that score `at_least`, by one model alone.

        None where no embedder answers in time, and until there are vectors of a model that has one.
        The items are not filtered: whoever shows them asks what they say now, and for whom.
        """
        held = await self._cache.brought_up(organization_id)
        if held is None or held.snapshot.model != self.models[0]:
            self._notice(organization_id)
        if held is None:
            return Nearest([], self.models[0], bare=True)
        seen, snapshot = held
        embedder = self.embedders.of(snapshot.model)
        if embedder is None:
            return None
        vector = await self._queries.vector(embedder, organization_id, query)
        if vector is None or not _fits(snapshot, len(vector)):
            return None
        curve = embedder.calibration
        holders = Holders(self.collection, seen, snapshot)
        compare = partial(_compare, holders, vector, curve, at_least=at_least, most=most)
        if snapshot.rows.size <= SMALL:
            return compare()
        return await to_thread.run_sync(compare, abandon_on_cancel=True)

    async def snapshot(self, organization_id: UUID) -> Snapshot | None:
        """Return all of the organization's vectors as they are now; None until a model serves."""
        return await self._cache.fresh(organization_id)

    def evict(self, organization_id: UUID) -> None:
        """Forget what is in memory of an organization; the next search reads it anew."""
        self._cache.evict(organization_id)

    async def close(self) -> None:
        """Let go of what is under way and of the embedders; the storage may be closed after this."""
        await asyncio.gather(*self._noticed.values(), return_exceptions=True)
        await self._queries.close()
        await self._cache.close()
        await self.embedders.close()

    def _notice(self, organization_id: UUID) -> None:
        """Tell a worker, once, that another model serves than is to; no search waits for that or fails by it."""
        if organization_id not in self._noticed:
            telling = asyncio.create_task(self._storage.write(organization_id, signal, EMBEDDING))
            telling.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._noticed[organization_id] = telling


def _compare(
    holders: Holders,
    query: NDArray[np.float32],
    curve: Calibration,
    *,
    at_least: float,
    most: int,
) -> Nearest:
    snapshot = holders.snapshot
    if len(snapshot.rows) == len(snapshot.gone):
        return Nearest([], snapshot.model, bare=True)
    hits = snapshot.nearest(query, curve, at_least=at_least, most=most)
    return Nearest(hits, snapshot.model, holders=holders)


def _fits(snapshot: Snapshot, size: int) -> bool:
    """Whether vectors of this size can be compared; those of a model that changed its size can't."""
    fits = not len(snapshot.rows) or snapshot.rows.shape[1] == size
    if not fits:
        logger.warning(
            "The embedder %s answers with %d numbers, and its vectors here have %d: "
            "set MEMORANDA_EMBEDDER_DIMENSIONS, so that they are made again.",
            snapshot.model,
            size,
            snapshot.rows.shape[1],
        )
    return fits
