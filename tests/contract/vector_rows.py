"""Sources with vectors, as ingestion leaves them, for tests about the nearest."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, delete, func, insert, select, update

from memoranda.knowledge.active import store as active
from memoranda.knowledge.models import COLLECTION
from memoranda.knowledge.vectors import store
from memoranda.storage import PLATFORM, Transaction, insert_or_ignore, mine, upsert
from memoranda.storage.scope import NIL
from memoranda.storage.tables import (
    knowledge_embeddings,
    knowledge_settings,
    knowledge_sources,
    knowledge_vectors,
    search_totals,
)
from memoranda.words.ids import new_id

Rows = NDArray[np.float32]

NEW_SOURCE = insert(knowledge_sources)
NEW_EMBEDDING = insert(knowledge_embeddings)
NEW_SETTINGS = insert_or_ignore(knowledge_settings)
MORE = upsert(search_totals, ["scope_id", "collection"], add=["documents", "passages", "tokens"])
SET_STATUS = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == bindparam("source"))
    .values(status=bindparam("new_status"))
)


def unit_rows(count: int, seed: int, dimensions: int = 8) -> Rows:
    """Rows of length 1 that point anywhere."""
    rows = np.random.default_rng(seed).standard_normal((count, dimensions))
    unit: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _of_source(statement: Any) -> Any:
    parent = select(knowledge_sources.c.id).where(mine(knowledge_sources))
    column = statement.table.c.source_id
    return statement.where(column == bindparam("source"), column.in_(parent))


CHANGES = select(func.coalesce(func.max(knowledge_settings.c.changes), 0)).scalar_subquery()
STAMP = _of_source(update(knowledge_embeddings).values(stamp=CHANGES))
DROP = _of_source(delete(knowledge_vectors))
DROP_OF_MODEL = DROP.where(knowledge_vectors.c.model == bindparam("of_model"))
KEPT = (
    select(func.count().label("rows"))
    .select_from(knowledge_vectors)
    .join(knowledge_sources, knowledge_vectors.c.source_id == knowledge_sources.c.id)
    .where(
        knowledge_vectors.c.source_id == bindparam("source"),
        knowledge_vectors.c.model == bindparam("of_model"),
    )
)


def settle(tx: Transaction) -> None:
    """Give the scope its row of settings."""
    tx.run(NEW_SETTINGS, scope_id=NIL if tx.scope is PLATFORM else tx.scope, since=tx.now)


def add_source(
    tx: Transaction, rows: Rows, models: Sequence[str] = ("m",), status: str = "ready"
) -> UUID:
    """A source of as many chunks as there are rows, embedded under each of the models."""
    source_id = new_id()
    settle(tx)
    tx.run(
        NEW_SOURCE,
        id=source_id,
        kind="text",
        title="x",
        digest="0" * 64,
        status=status,
        chunks=len(rows),
        created_at=tx.now,
        updated_at=tx.now,
    )
    for model in models:
        embed(tx, source_id, model, rows)
    tx.run(MORE, collection=COLLECTION, documents=1, passages=len(rows), tokens=len(rows))
    return source_id


def embed(tx: Transaction, source_id: UUID, model: str, rows: Rows, status: str = "ready") -> None:
    """Keep a source's vectors of a model."""
    tx.run(NEW_EMBEDDING, source_id=source_id, model=model, status=status, updated_at=tx.now)
    keep(tx, source_id, model, 0, rows)


def keep(tx: Transaction, source_id: UUID, model: str, first: int, rows: Rows) -> None:
    """Change the vectors of a source that is ready, as a new version of it does in the end."""
    store.put(tx, source_id, model, first, rows)
    _renewed(tx, source_id)


def drop(tx: Transaction, source_id: UUID, model: str | None = None) -> None:
    """Take a source's vectors away, of one model or of all."""
    if model is None:
        tx.run(DROP, source=source_id)
    else:
        tx.run(DROP_OF_MODEL, source=source_id, of_model=model)
    _renewed(tx, source_id)


def kept(tx: Transaction, source_id: UUID, model: str) -> int:
    """How many vectors of a model a source has."""
    row = tx.one(KEPT, source=source_id, of_model=model)
    return int(row.rows) if row else 0


def _renewed(tx: Transaction, source_id: UUID) -> None:
    active.pass_turn(tx)
    tx.run(STAMP, source=source_id)


def set_status(tx: Transaction, source_id: UUID, status: str) -> None:
    """Take a source out of searches, or put it into them."""
    tx.run(SET_STATUS, source=source_id, new_status=status)
    active.pass_turn(tx)


def halves(rows: Rows) -> Rows:
    """The rows as they are kept."""
    return rows.astype(np.float16).astype(np.float32)
