"""A search of documents: the query is embedded first, then one transaction finds, by one model or by words."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.knowledge import store
from memoranda.knowledge.active import store as active
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.models import SearchAnswer, SearchResult
from memoranda.search.fusion import Meaning
from memoranda.search.terms import Query, read_query
from memoranda.search.vectors.queries import QueryVectors
from memoranda.storage import Scope, Storage, Transaction

LONGEST_QUERY: Final = 10_000
"""The most characters of a query that are read; the rest of a longer one is not searched for."""
TRIES: Final = 3
"""How often a query is embedded anew because another model serves by then; after that, words answer."""
PATIENCE_S: Final = 1.5
REST_S: Final = 5.0
"""How long an embedder that does not answer queries is left alone."""


class _Asked(NamedTuple):
    query: Query
    limit: int
    source_ids: Sequence[UUID] | None


class _Look(NamedTuple):
    """The model that serves a scope, and the text to embed for it."""

    model: str | None
    wording: str


class _Found(NamedTuple):
    results: list[SearchResult]
    model: str | None


class Finding:
    """Searches scopes, each by itself and by its own model, so that none moves the other's scores."""

    def __init__(
        self, storage: Storage, embedding: DocumentEmbedding, *, timeout_s: float = PATIENCE_S
    ) -> None:
        self._storage = storage
        self._embedding = embedding
        self._timeout_s = timeout_s
        self._queries = QueryVectors(timeout_s=timeout_s, rest_s=REST_S)

    async def search(
        self,
        organization_id: UUID,
        scopes: Sequence[Scope],
        query: str,
        limit: int,
        source_ids: Sequence[UUID] | None = None,
        *,
        patience_s: float | None = None,
    ) -> SearchAnswer:
        """Search each scope, then merge. `patience_s` is how long the embedder may take, if not as set."""
        said = query[:LONGEST_QUERY]
        asked = _Asked(read_query(said), limit, source_ids)
        patience = self._timeout_s if patience_s is None else min(patience_s, self._timeout_s)
        found = [
            await self._within(scope, organization_id, said, asked, patience) for scope in scopes
        ]
        results = [result for each in found for result in each.results]
        models = list(dict.fromkeys(each.model for each in found if each.model is not None))
        return SearchAnswer(
            # A stable sort: of two equal scores, the organization's own comes first.
            results=sorted(results, key=lambda result: -result.score)[:limit],
            semantic=bool(models),
            model=", ".join(models) or None,
        )

    async def close(self) -> None:
        """Let go of what is under way."""
        await self._queries.close()

    async def _within(
        self, scope: Scope, asker: UUID, said: str, asked: _Asked, patience_s: float
    ) -> _Found:
        tries = TRIES if self._embedding.embedders is not None and asked.limit > 0 else 0
        for _ in range(tries):
            look = await self._storage.read(scope, _look, said, asked)
            meaning = await self._meaning(asker, look, patience_s)
            if meaning is None:
                break
            found = await self._storage.read(scope, _find, asked, meaning)
            if found is not None:
                return _Found(found, meaning.model)
        words = await self._storage.read(
            scope, store.search, asked.query, asked.limit, asked.source_ids
        )
        return _Found(words, None)

    async def _meaning(self, asker: UUID, look: _Look, patience_s: float) -> Meaning | None:
        embedders = self._embedding.embedders
        embedder = embedders.of(look.model) if embedders and look.model else None
        if embedder is None or not look.wording.strip():
            return None
        vector = None
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                vector = await self._queries.vector(embedder, asker, look.wording)
        # A text that the model can't read has a vector of zeros: words alone answer it.
        if vector is None or not vector.any():
            return None
        return Meaning(embedder.model, vector, embedder.calibration)


def _look(tx: Transaction, said: str, asked: _Asked) -> _Look:
    serving = active.now(tx)
    if serving is None or serving.model is None:
        return _Look(None, "")
    return _Look(serving.model, store.wording(tx, said, asked.query, asked.source_ids))


def _find(tx: Transaction, asked: _Asked, meaning: Meaning) -> list[SearchResult] | None:
    """None where another model serves by now: what was embedded can't be compared with its vectors."""
    serving = active.now(tx)
    if serving is None or serving.model != meaning.model:
        return None
    return store.search(tx, asked.query, asked.limit, asked.source_ids, meaning)
