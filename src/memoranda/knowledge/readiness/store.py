"""Which documents are ready under which model: one row for each, beside the vectors that it speaks of.

Vectors stand only where there is such a row, so a row goes last. `digest` is that of the texts that
were embedded: where it is another, the vectors are of an earlier version, and go before new ones come.
Callers hold the document (`claims.alone`) or its lease.
"""

from collections.abc import Collection
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import BindParameter, and_, bindparam, delete, func, select, update

from memoranda.knowledge.vectors import store as vectors
from memoranda.search.embedders.port import Matrix
from memoranda.storage import Transaction, insert_or_ignore, mine, one_of
from memoranda.storage.tables import (
    knowledge_embeddings,
    knowledge_settings,
    knowledge_sources,
    knowledge_vectors,
)

AT_ONCE: Final = 2_000
"""How many vectors one transaction clears at most."""

_source: BindParameter[UUID] = bindparam("of_source")
_model: BindParameter[str] = bindparam("of_model")
_E = knowledge_embeddings.c
_V = knowledge_vectors.c
_OWN = select(knowledge_sources.c.id).where(mine(knowledge_sources))
_OF_SOURCE = and_(_E.source_id == _source, _E.source_id.in_(_OWN))
_OF_BOTH = and_(_OF_SOURCE, _E.model == _model)
_FRESH: Final = {
    "status": "pending",
    "reason": None,
    "done": 0,
    "attempts": 0,
    "retry_at": None,
    "lease_owner": None,
    "lease_until": None,
}

ADD: Final = insert_or_ignore(knowledge_embeddings)
ROW: Final = (
    select(_E.digest, _E.done, _E.status)
    .join(knowledge_sources, _E.source_id == knowledge_sources.c.id)
    .where(_E.source_id == _source, _E.model == _model)
)
BEGIN: Final = (
    update(knowledge_embeddings)
    .where(_OF_BOTH)
    .values(
        digest=bindparam("new_digest"),
        done=0,
        status="pending",
        reason=None,
        updated_at=bindparam("now"),
    )
)
GO_ON: Final = (
    update(knowledge_embeddings)
    .where(_OF_BOTH, _E.status != "ready")
    .values(status="pending", reason=None, updated_at=bindparam("now"))
)
ADVANCE: Final = (
    update(knowledge_embeddings)
    .where(_OF_BOTH, _E.done == bindparam("before"))
    .values(done=bindparam("after"), updated_at=bindparam("now"))
)
FINISH: Final = (
    update(knowledge_embeddings)
    .where(_OF_SOURCE, one_of(_E.model, "models"))
    .values(
        status="ready",
        # Between two versions of a document's vectors there is a change: so caches tell them apart.
        stamp=func.coalesce(select(knowledge_settings.c.changes).scalar_subquery(), 0),
        reason=None,
        attempts=0,
        retry_at=None,
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)
FAIL: Final = (
    update(knowledge_embeddings)
    .where(_OF_BOTH)
    .values(
        status="failed",
        reason=bindparam("why"),
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)
TELL: Final = (
    update(knowledge_embeddings)
    .where(_OF_BOTH, _E.status == "pending")
    .values(reason=bindparam("why"))
)
RESET: Final = (
    update(knowledge_embeddings)
    .where(_OF_SOURCE)
    .values(digest="", updated_at=bindparam("now"), **_FRESH)
)
WAITS_FOR: Final = (
    select(_E.reason)
    .join(knowledge_sources, _E.source_id == knowledge_sources.c.id)
    .where(_E.source_id == _source, _E.status == "pending", _E.reason.is_not(None))
    .order_by(_E.model)
)
FAR: Final = (
    select(_E.source_id, _E.done, _E.reason)
    .join(knowledge_sources, _E.source_id == knowledge_sources.c.id)
    .where(one_of(_E.source_id, "sources"), one_of(_E.model, "models"))
)
_KEPT = (
    select(_V.model, _V.ordinal)
    .join(knowledge_sources, _V.source_id == knowledge_sources.c.id)
    .where(_V.source_id == _source)
)
LAST_KEPT: Final = _KEPT.order_by(_V.model.desc(), _V.ordinal.desc()).limit(1)
LAST_KEPT_OF: Final = _KEPT.where(_V.model == _model).order_by(_V.ordinal.desc()).limit(1)
DROP_SOME: Final = delete(knowledge_vectors).where(
    _V.source_id == _source,
    _V.source_id.in_(_OWN),
    _V.model == _model,
    _V.ordinal >= bindparam("first"),
)
DROP_ROW: Final = delete(knowledge_embeddings).where(_OF_BOTH)


class RowGone(Exception):
    """The row was taken away, or another worker went on with it: the model is wanted no more, or by others."""


def begin(tx: Transaction, source_id: UUID, model: str, digest: str) -> int | None:
    """Return how many vectors of these very texts are kept already; None while older ones have to go first.

    Each call that answers None has cleared a step of them.
    """
    of = {"of_source": source_id, "of_model": model}
    _add(tx, source_id, model)
    row = tx.one(ROW, **of)
    if row is not None and row.digest == digest:
        tx.run(GO_ON, **of, now=tx.now)
        return int(row.done)
    if drop_some(tx, source_id, model) >= AT_ONCE:
        return None
    tx.run(BEGIN, **of, new_digest=digest, now=tx.now)
    return 0


def keep(tx: Transaction, source_id: UUID, model: str, first: int, rows: Matrix) -> int:
    """Keep vectors of the chunks from `first` on; how many of the document are kept then. Raises `RowGone`."""
    of = {"of_source": source_id, "of_model": model}
    done = first + len(rows)
    if tx.run(ADVANCE, **of, before=first, after=done, now=tx.now) != 1:
        raise RowGone
    vectors.put(tx, source_id, model, first, rows)
    return done


def finish(tx: Transaction, source_id: UUID, models: Collection[str]) -> None:
    """Say that the document is ready under these models."""
    tx.run(FINISH, of_source=source_id, models=list(models), now=tx.now)


def fail(tx: Transaction, source_id: UUID, model: str, reason: str) -> None:
    """Say that the document can't be embedded under the model, and why; it is found by its words."""
    _add(tx, source_id, model)
    tx.run(FAIL, of_source=source_id, of_model=model, why=reason, now=tx.now)


def tell(tx: Transaction, source_id: UUID, model: str, reason: str) -> None:
    """Say why the document waits for the model."""
    _add(tx, source_id, model)
    tx.run(TELL, of_source=source_id, of_model=model, why=reason)


def waits_for(tx: Transaction, source_id: UUID) -> str | None:
    """Why the document waits for a model, where an embedder has said so."""
    row = tx.one(WAITS_FOR, of_source=source_id)
    return None if row is None else row.reason


class Far(NamedTuple):
    """How many vectors a document has, and why it waits for more, where an embedder has said so."""

    made: int
    waits_for: str | None


def far(tx: Transaction, source_ids: Collection[UUID], models: Collection[str]) -> dict[UUID, Far]:
    """How far these documents are under these models; one of which nothing is known is left out."""
    found: dict[UUID, Far] = {}
    for row in tx.all(FAR, sources=list(source_ids), models=list(models)):
        made, why = found.get(row.source_id, Far(0, None))
        found[row.source_id] = Far(made + row.done, row.reason or why)
    return found


def reset(tx: Transaction, source_id: UUID) -> None:
    """Say that the vectors of a document that is renewed are of an earlier version."""
    tx.run(RESET, of_source=source_id, now=tx.now)


def drop_some(tx: Transaction, source_id: UUID, model: str, most: int | None = None) -> int:
    """Take at most `most` vectors of one model away, the last first; how many. Fewer says that none is left."""
    last = tx.one(LAST_KEPT_OF, of_source=source_id, of_model=model)
    if last is None:
        return 0
    first = max(0, last.ordinal + 1 - (AT_ONCE if most is None else most))
    return tx.run(DROP_SOME, of_source=source_id, of_model=model, first=first)


def drop_of_any(tx: Transaction, source_id: UUID) -> bool:
    """Take a step's worth of vectors away, of whichever model; True once none is left."""
    left = AT_ONCE
    while left > 0:
        last = tx.one(LAST_KEPT, of_source=source_id)
        if last is None:
            return True
        left -= max(1, drop_some(tx, source_id, last.model, left))
    return False


def drop_row(tx: Transaction, source_id: UUID, model: str) -> None:
    """Take the row away, of whose vectors none is left."""
    tx.run(DROP_ROW, of_source=source_id, of_model=model)


def _add(tx: Transaction, source_id: UUID, model: str) -> None:
    tx.run(
        ADD,
        source_id=source_id,
        model=model,
        status="pending",
        digest="",
        done=0,
        updated_at=tx.now,
    )
