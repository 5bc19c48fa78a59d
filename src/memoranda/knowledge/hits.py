"""Which chunks of a scope answer a query: by words, and by meaning where there is a vector of it."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from memoranda.knowledge.models import COLLECTION
from memoranda.knowledge.vectors import store as chunks
from memoranda.knowledge.vectors.store import Query as QueryVector
from memoranda.search.both import both
from memoranda.search.candidates import Place
from memoranda.search.fusion import Meaning
from memoranda.search.lexical import Hit
from memoranda.search.terms import Query
from memoranda.storage import Transaction


class _Chunks:
    """The vectors of chunks, as a search of both asks for them."""

    def nearest(
        self,
        tx: Transaction,
        model: str,
        query: QueryVector,
        most: int,
        source_ids: Sequence[UUID] | None,
    ) -> dict[Place, float]:
        near = chunks.nearest(tx, model, query, most, source_ids=source_ids)
        return {(each.source_id, each.ordinal): each.cosine for each in near}

    def cosines(
        self, tx: Transaction, model: str, query: QueryVector, places: Iterable[Place]
    ) -> dict[Place, float]:
        return chunks.cosines(tx, model, query, list(places))


_CHUNKS: Final = _Chunks()


def hits(
    tx: Transaction,
    query: Query,
    limit: int,
    source_ids: Sequence[UUID] | None = None,
    meaning: Meaning | None = None,
) -> list[Hit]:
    """Return the best chunks of the scope's ready sources, or of those named, best first."""
    found = both(
        tx,
        COLLECTION,
        query,
        limit=limit,
        document_ids=source_ids,
        meaning=meaning,
        vectors=_CHUNKS,
    )
    return found.hits
