"""A search by meaning: the query is embedded outside of any transaction, then one finds by the model that serves."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from memoranda.search.embedders.choice import Embedders
from memoranda.search.fusion import Meaning
from memoranda.search.vectors.queries import QueryVectors
from memoranda.storage import Scope, Storage, Transaction

T = TypeVar("T")

TRIES: Final = 3
"""How often a query is embedded anew because another model serves by then; after that, words answer."""
PATIENCE_S: Final = 1.5
REST_S: Final = 5.0
"""How long an embedder that does not answer queries is left alone."""


class Look(NamedTuple):
    """The model that serves a scope, and the text to embed for it."""

    model: str | None
    wording: str


class Asking:
    """Asks scopes by meaning, each by its own model. A query waits `timeout_s` for its embedder at most."""

    def __init__(self, storage: Storage, *, timeout_s: float = PATIENCE_S) -> None:
        self._storage = storage
        self._timeout_s = timeout_s
        self._queries = QueryVectors(timeout_s=timeout_s, rest_s=REST_S)

    async def found(
        self,
        scope: Scope,
        asker: UUID,
        embedders: Embedders | None,
        *,
        look: Callable[[Transaction], Look],
        find: Callable[[Transaction, Meaning], T | None],
        patience_s: float | None = None,
    ) -> tuple[T, str] | None:
        """Return what `find` found, and by which model; None where only words can answer.

        `look` says what to embed, and `find` answers None where another model serves by then: what
        was embedded can't be compared with its vectors.
        """
        patience = self._timeout_s if patience_s is None else min(patience_s, self._timeout_s)
        for _ in range(TRIES if embedders is not None else 0):
            seen = await self._storage.read(scope, look)
            meaning = await self._meaning(asker, embedders, seen, patience)
            if meaning is None:
                break
            found = await self._storage.read(scope, find, meaning)
            if found is not None:
                return found, meaning.model
        return None

    async def close(self) -> None:
        """Let go of what is under way."""
        await self._queries.close()

    async def _meaning(
        self, asker: UUID, embedders: Embedders | None, seen: Look, patience_s: float
    ) -> Meaning | None:
        embedder = embedders.of(seen.model) if embedders and seen.model else None
        if embedder is None or not seen.wording.strip():
            return None
        vector = None
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                vector = await self._queries.vector(embedder, asker, seen.wording)
        # A text that the model can't read has a vector of zeros: words alone answer it.
        if vector is None or not vector.any():
            return None
        return Meaning(embedder.model, vector, embedder.calibration)
