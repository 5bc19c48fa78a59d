"""Puts vectors of given numbers into a database, and storages that tell or delay what is asked of them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np

from memoranda.search.vectors import store
from memoranda.search.vectors.making import store as making
from memoranda.search.vectors.matrix import Changes, pack
from memoranda.storage import Storage, Transaction
from memoranda.words.ids import new_id

COLLECTION = "memories"
MODEL = "made-up"
DIMENSIONS = 64


def unit(seed: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    """A direction of its own for each seed."""
    row = np.random.default_rng(seed).standard_normal(dimensions)
    return (row / np.linalg.norm(row)).astype(np.float32)


def put(
    tx: Transaction,
    vectors: Mapping[UUID, np.ndarray],
    model: str = MODEL,
    *,
    text: UUID | None = None,
) -> None:
    """Want and make the vectors of these items in one transaction."""
    for item_id in vectors:
        store.want(tx, COLLECTION, item_id, text or item_id, (model,))
    worker_id = new_id()
    claim = making.claim(
        tx, COLLECTION, model, worker_id, lease=timedelta(minutes=1), most=len(vectors)
    )
    making.keep(tx, claim, pack(np.stack([vectors[each.item_id] for each in claim.texts])))


def changed(*each: tuple[UUID, UUID, bytes | None]) -> Changes:
    """Changes of these items, each with its text and its vector."""
    items, texts = (b"".join(one[place].bytes for one in each) for place in (0, 1))
    return Changes(items, texts, [vector for _, _, vector in each], last=len(each))


def vectors_of(changes: Changes) -> dict[UUID, bytes | None]:
    """The vector of each item that changed."""
    return dict(zip(_ids(changes.items), changes.vectors, strict=True))


def current(
    tx: Transaction, collection: str, model: str, item_ids: Sequence[UUID]
) -> dict[UUID, UUID]:
    """Which text each of these items' vector is of; an item without one is left out."""
    made = store.changes(tx, collection, model, 0, 1_000)
    text_of = dict(zip(_ids(made.items), _ids(made.texts), strict=True))
    return {item_id: text_of[item_id] for item_id in item_ids if item_id in text_of}


def _ids(packed: bytes) -> list[UUID]:
    return [UUID(bytes=packed[start : start + 16]) for start in range(0, len(packed), 16)]


class Watched:
    """A storage that counts, and can hold one back after it has seen the rows."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.reads = self.writes = 0
        self.before: Callable[[], None] = lambda: None
        self.gate: asyncio.Event | None = None

    async def read(self, scope: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.reads += 1
        self.before()
        found = await self._storage.read(scope, fn, *args, **kwargs)
        if self.gate is not None:
            await self.gate.wait()
        return found

    async def write(self, scope: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.writes += 1
        return await self._storage.write(scope, fn, *args, **kwargs)

    async def take(self, scope: Any, fn: Any, *, give_back: Any) -> Any:
        self.writes += 1
        return await self._storage.take(scope, fn, give_back=give_back)
