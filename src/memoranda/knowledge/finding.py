"""A search of documents: each scope is found in by its own model, or by words, and what was found is merged."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.knowledge import store
from memoranda.knowledge.active import store as active
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.models import SearchAnswer, SearchResult
from memoranda.search.fusion import Meaning
from memoranda.search.terms import Query, read_query
from memoranda.search.vectors.asking import PATIENCE_S, Asking, Look
from memoranda.storage import Scope, Storage, Transaction

LONGEST_QUERY: Final = 10_000
"""The most characters of a query that are read; the rest of a longer one is not searched for."""


class _Asked(NamedTuple):
    said: str
    query: Query
    limit: int
    source_ids: Sequence[UUID] | None


class Finding:
    """Searches scopes, each by itself and by its own model, so that none moves the other's scores."""

    def __init__(
        self, storage: Storage, embedding: DocumentEmbedding, *, timeout_s: float = PATIENCE_S
    ) -> None:
        self._storage = storage
        self._embedding = embedding
        self._asking = Asking(storage, timeout_s=timeout_s)

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
        asked = _Asked(said, read_query(said), limit, source_ids)
        found = [await self._within(scope, organization_id, asked, patience_s) for scope in scopes]
        results = [result for each, _ in found for result in each]
        models = list(dict.fromkeys(model for _, model in found if model is not None))
        return SearchAnswer(
            # A stable sort: of two equal scores, the organization's own comes first.
            results=sorted(results, key=lambda result: -result.score)[:limit],
            semantic=bool(models),
            model=", ".join(models) or None,
        )

    async def close(self) -> None:
        """Let go of what is under way."""
        await self._asking.close()

    async def _within(
        self, scope: Scope, asker: UUID, asked: _Asked, patience_s: float | None
    ) -> tuple[list[SearchResult], str | None]:
        found = await self._asking.found(
            scope,
            asker,
            self._embedding.embedders if asked.limit > 0 else None,
            look=partial(_look, asked=asked),
            find=partial(_find, asked=asked),
            patience_s=patience_s,
        )
        if found is not None:
            return found
        words = await self._storage.read(
            scope, store.search, asked.query, asked.limit, asked.source_ids
        )
        return words, None


def _look(tx: Transaction, *, asked: _Asked) -> Look:
    serving = active.now(tx)
    if serving is None or serving.model is None:
        return Look(None, "")
    return Look(serving.model, store.wording(tx, asked.said, asked.query, asked.source_ids))


def _find(tx: Transaction, meaning: Meaning, *, asked: _Asked) -> list[SearchResult] | None:
    """None where another model serves by now: what was embedded can't be compared with its vectors."""
    serving = active.now(tx)
    if serving is None or serving.model != meaning.model:
        return None
    return store.search(tx, asked.query, asked.limit, asked.source_ids, meaning)
