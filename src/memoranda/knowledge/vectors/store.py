"""Vectors of chunks in the database: kept, and the nearest of one scope and one model.

There is no way to ask without both: the transaction brings the scope, every function here the model, and
storage refuses a statement that compares vectors of more than one. PostgreSQL finds the nearest by itself,
exactly among few and by an index among many; on SQLite they are compared in memory. Cosines are made here,
by one function for both, so that both answer alike.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, Select, bindparam, func, select

from memoranda.knowledge.models import COLLECTION
from memoranda.search.embedders.port import Matrix
from memoranda.search.vectors.cosines import inner, rounded
from memoranda.search.vectors.matrix import Changes, Snapshot, pack
from memoranda.search.vectors.parts import Part, cache_of, read_anew
from memoranda.storage import Transaction, id_bytes, id_of, one_of, one_of_pairs, upsert
from memoranda.storage.tables import (
    knowledge_embeddings,
    knowledge_settings,
    knowledge_sources,
    knowledge_vectors,
    search_totals,
)
from memoranda.storage.vectors import INDEXED_DIMENSIONS, Distance, HasDimensions

EXACT: Final = 20_000
"""Among so many chunks all are compared; among more, PostgreSQL asks its index for the nearest."""
SPARE: Final = 8
"""So many more are fetched than are wanted, because the last digits decide which are the last of them."""

Query: TypeAlias = NDArray[np.float32]
Place: TypeAlias = tuple[UUID, int]
"""A chunk: its source, and its ordinal there."""

_HALF: Final = np.dtype("<f2")
_PLACE: Final = np.dtype(">u8")

_V, _S, _E = knowledge_vectors.c, knowledge_sources.c, knowledge_embeddings.c
_model: BindParameter[str] = bindparam("of_model")
# A source is found by meaning once it is ready, and ready under this model.
_READY = (_S.status == "ready", _E.model == _model, _E.status == "ready")
_SEARCHED = (
    select(_V.source_id, _V.ordinal, _V.vector)
    .join(knowledge_sources, _V.source_id == _S.id)
    .join(knowledge_embeddings, _E.source_id == _S.id)
    .where(*_READY, _V.model == _model, _V.vector.is_not(None))
)

# Where rows are looked up, each asks for its own source. As a join, SQLite, which knows no sizes, begins
# with all sources of the scope.
_ITS_SOURCE = (
    select(_S.id)
    .join(knowledge_embeddings, _E.source_id == _S.id)
    .where(_S.id == _V.source_id, *_READY)
    .correlate(knowledge_vectors)
    .scalar_subquery()
)
_OF_MODEL = select(_V.source_id, _V.ordinal, _V.vector).where(
    _V.model == _model, _V.vector.is_not(None)
)
AT_PLACES: Final = _OF_MODEL.where(
    _V.source_id == _ITS_SOURCE, one_of_pairs(_V.source_id, _V.ordinal, "places")
)
# Of sources that are known to be ready.
ROWS: Final = _OF_MODEL.where(_V.source_id.in_(select(_S.id).where(one_of(_S.id, "sources"))))


def _nearest(dimensions: int | None) -> Select[Any]:
    """The nearest, through the index over vectors of that length; without one, of all that there are."""
    wanted: int | BindParameter[int] = bindparam("of_dimensions")
    if dimensions is not None:
        wanted = dimensions
    return (
        _SEARCHED.where(HasDimensions(_V.vector, wanted))
        .order_by(Distance(_V.vector, "query", dimensions), _V.source_id, _V.ordinal)
        .limit(bindparam("most"))
    )


COMPARED: Final = _nearest(None)
COMPARED_WITHIN: Final = COMPARED.where(one_of(_V.source_id, "sources"))
INDEXED: Final = {dimensions: _nearest(dimensions) for dimensions in INDEXED_DIMENSIONS}
INDEXED_WITHIN: Final = {
    dimensions: statement.where(one_of(_V.source_id, "sources"))
    for dimensions, statement in INDEXED.items()
}

PARTS: Final = (
    select(_S.id, _E.stamp, _S.chunks)
    .join(knowledge_embeddings, _E.source_id == _S.id)
    .where(*_READY)
)
SIZE: Final = select(search_totals.c.passages).where(search_totals.c.collection == COLLECTION)
SIZE_WITHIN: Final = select(func.sum(_S.chunks).label("passages")).where(
    _S.status == "ready", one_of(_S.id, "sources")
)
VERSION: Final = select(knowledge_settings.c.changes, knowledge_settings.c.since)

KEEP: Final = upsert(knowledge_vectors, ["source_id", "model", "ordinal"], set_=["vector"])


class Near(NamedTuple):
    """A chunk near a query, and the raw cosine of the two."""

    source_id: UUID
    ordinal: int
    cosine: float


def nearest(
    tx: Transaction,
    model: str,
    query: Query,
    most: int,
    *,
    source_ids: Sequence[UUID] | None = None,
    exact: int = EXACT,
) -> list[Near]:
    """Return up to `most` chunks of the scope's ready sources nearest to a query, best first.

    `query` is that model's vector of it, of length 1. Equal cosines go by source and ordinal.
    `source_ids` looks in those sources alone. All chunks are compared where they are `exact` or fewer,
    and always on SQLite; else an index finds nearly all of the nearest, and never another scope's.
    """
    _check(model)
    if most < 1 or not query.any():
        return []
    rounded_query = _as_kept(query)
    if not tx.compares_vectors:
        return _nearest_in_memory(tx, model, rounded_query, most, source_ids)
    asked: dict[str, Any] = {"of_model": model, "query": rounded_query.astype(_HALF).tobytes()}
    rows = _fetched(tx, asked | {"most": most + SPARE}, len(query), source_ids, exact)
    found = _compared(rows, rounded_query)
    near = [Near(*place, cosine) for place, cosine in found.items()]
    return sorted(near, key=lambda each: (-each.cosine, each.source_id.int, each.ordinal))[:most]


def cosines(
    tx: Transaction, model: str, query: Query, places: Sequence[Place]
) -> dict[Place, float]:
    """Return how near these chunks of the scope are; those that have no vector of the model are left out."""
    _check(model)
    if not places or not query.any():
        return {}
    rows = tx.all(AT_PLACES, of_model=model, places=list(dict.fromkeys(places)))
    return _compared(rows, _as_kept(query))


def put(tx: Transaction, source_id: UUID, model: str, first_ordinal: int, rows: Matrix) -> None:
    """Keep the vectors of chunks that follow one another, in the place of any that are there.

    A row of zeros is kept as one that is near nothing. The row of `knowledge_embeddings` that says
    how far the source is under the model is there before; until it says that the source is ready,
    nobody finds what is kept here, so that no cache and no other writer has to know of it.
    """
    _check(model)
    tx.send_many(
        KEEP,
        [
            {"source_id": source_id, "model": model, "ordinal": ordinal, "vector": packed or None}
            for ordinal, packed in enumerate(pack(rows), first_ordinal)
        ],
    )


def _check(model: str) -> None:
    if not model:
        msg = "Vectors are compared within one model: name it."
        raise ValueError(msg)


def _as_kept(query: Query) -> Query:
    """The query in the precision of what it is compared with, the same on both databases."""
    return query.astype(_HALF).astype(np.float32)


def _fetched(
    tx: Transaction,
    asked: dict[str, Any],
    dimensions: int,
    source_ids: Sequence[UUID] | None,
    exact: int,
) -> list[Any]:
    """The rows of the nearest, by the index where there are more than `exact` to be compared."""
    if source_ids is not None:
        asked["sources"] = list(source_ids)
    if dimensions in INDEXED and _size(tx, source_ids) > exact:
        by_index = INDEXED if source_ids is None else INDEXED_WITHIN
        found = tx.in_order(by_index[dimensions], **asked)
        # The index gives up where nearly all that it meets are others' rows.
        if len(found) == asked["most"]:
            return found
    compared = COMPARED if source_ids is None else COMPARED_WITHIN
    return tx.all(compared, **asked, of_dimensions=dimensions)


def _size(tx: Transaction, source_ids: Sequence[UUID] | None) -> int:
    """How many chunks there are to be compared."""
    row = tx.one(SIZE) if source_ids is None else tx.one(SIZE_WITHIN, sources=list(source_ids))
    return 0 if row is None else int(row.passages or 0)


def _compared(rows: Sequence[Any], query: Query) -> dict[Place, float]:
    """The cosine of each row that has as many numbers as the query."""
    size = len(query) * _HALF.itemsize
    fitting = [row for row in rows if len(row.vector) == size]
    packed = b"".join(row.vector for row in fitting)
    vectors = np.frombuffer(packed, _HALF).reshape(len(fitting), len(query)).astype(np.float32)
    found = rounded(inner(vectors, query))
    return {(row.source_id, row.ordinal): each for row, each in zip(fitting, found, strict=True)}


def _nearest_in_memory(
    tx: Transaction, model: str, query: Query, most: int, source_ids: Sequence[UUID] | None
) -> list[Near]:
    snapshot = _snapshot(tx, model)
    if snapshot.rows.shape[1] != len(query):
        return []
    ids = None if source_ids is None else b"".join(each.bytes for each in source_ids)
    hits = snapshot.closest(query, most, ids)
    return [Near(hit.item_id, hit.text_id.int, hit.score) for hit in hits]


def _snapshot(tx: Transaction, model: str) -> Snapshot:
    reader = _Reader(tx, model)
    # What a write sees may be taken back, and then nobody else may ever see it.
    if tx.writes or reader.version is None:
        return read_anew(model, reader)
    return cache_of(tx.memory, COLLECTION).snapshot((tx.scope, model), reader)


class _Reader:
    """What a transaction sees, for the cache."""

    def __init__(self, tx: Transaction, model: str) -> None:
        self._tx = tx
        self._model = model
        self.version: object | None = tx.one(VERSION)

    def parts(self) -> Mapping[UUID, Part]:
        rows = self._tx.plain(PARTS, of_model=self._model)
        return {id_of(source_id): Part(stamp, chunks) for source_id, stamp, chunks in rows}

    def rows(self, documents: list[UUID]) -> Changes:
        rows = self._tx.plain(ROWS, of_model=self._model, sources=documents)
        ids, ordinals, vectors = zip(*rows, strict=True) if rows else ((), (), ())
        texts = np.zeros((len(ordinals), 2), _PLACE)
        texts[:, 1] = ordinals
        return Changes(id_bytes(ids), texts.tobytes(), vectors, 0)
