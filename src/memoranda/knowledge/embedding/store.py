"""The work of a switch: which ready documents lack a model's vectors, who makes them, and what is left to clear."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import BindParameter, and_, bindparam, case, func, select, update

from memoranda.knowledge.active import store as active
from memoranda.knowledge.active.store import Active
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.models import SourceFailure
from memoranda.knowledge.readiness import store as readiness
from memoranda.storage import Row, Transaction, insert_or_ignore, mine, one_of
from memoranda.storage.scope import NIL
from memoranda.storage.tables import knowledge_chunks, knowledge_embeddings, knowledge_sources

_PAUSES: Final = (timedelta(minutes=1), timedelta(minutes=10))
"""How long a document waits after a first and a second fault that was not said to be its own."""
TRIES: Final = 3
MOST_FAILURES: Final = 50
_ROWS_AT_ONCE: Final = 200

_model: BindParameter[str] = bindparam("of_model")
_S = knowledge_sources.c
_E = knowledge_embeddings.c
_OWN = select(_S.id).where(mine(knowledge_sources))
_UNDER = knowledge_sources.outerjoin(
    knowledge_embeddings, and_(_E.source_id == _S.id, _E.model == _model)
)
_READY = _S.status == "ready"
_DUE = (_E.retry_at.is_(None) | (_E.retry_at <= bindparam("now"))) & (
    _E.lease_until.is_(None) | (_E.lease_until < bindparam("now"))
)
_LACKS = _E.source_id.is_(None) | (_E.status == "pending")
_OF_BOTH = and_(_E.source_id == bindparam("of_source"), _E.source_id.in_(_OWN), _E.model == _model)
_HELD = and_(_OF_BOTH, _E.status == "pending", _E.lease_owner == bindparam("worker"))

LACKING: Final = (
    select(_S.id)
    .select_from(_UNDER)
    .where(
        _READY,
        _S.id > bindparam("after"),
        _E.source_id.is_(None) | ((_E.status == "pending") & _DUE),
    )
    .order_by(_S.id)
    .limit(1)
)
UNMADE: Final = select(_S.id).select_from(_UNDER).where(_READY, _LACKS).limit(1)
BLOCKING: Final = select(_S.id).select_from(_UNDER).where(_READY, _E.status == "failed").limit(1)
STILL_READY: Final = select(_S.id, _S.title).where(_S.id == bindparam("source"), _READY)
ADD: Final = insert_or_ignore(knowledge_embeddings)
CLAIM: Final = (
    update(knowledge_embeddings)
    .where(_OF_BOTH, _E.status == "pending", _DUE)
    .values(lease_owner=bindparam("worker"), lease_until=bindparam("until"))
)
EXTEND: Final = update(knowledge_embeddings).where(_HELD).values(lease_until=bindparam("until"))
GIVE_BACK: Final = (
    update(knowledge_embeddings)
    .where(_HELD)
    .values(
        lease_owner=None,
        lease_until=None,
        retry_at=bindparam("later"),
        reason=bindparam("why"),
        attempts=_E.attempts + bindparam("more"),
    )
)
ATTEMPTS: Final = (
    select(_E.attempts)
    .join(knowledge_sources, _E.source_id == _S.id)
    .where(_E.source_id == bindparam("of_source"), _E.model == _model)
)
AGAIN: Final = (
    update(knowledge_embeddings)
    .where(_E.model == _model, _E.status == "failed", _E.source_id.in_(_OWN))
    .values(status="pending", reason=None, attempts=0, retry_at=None)
)
CHUNKS: Final = (
    select(
        knowledge_chunks.c.text,
        knowledge_chunks.c.place,
        knowledge_chunks.c.speaker,
        knowledge_chunks.c.at,
    )
    .join(knowledge_sources, knowledge_chunks.c.source_id == _S.id)
    .where(knowledge_chunks.c.source_id == bindparam("source"), _READY)
    .order_by(knowledge_chunks.c.ordinal)
)
UNWANTED: Final = (
    select(_E.source_id, _E.model)
    .join(knowledge_sources, _E.source_id == _S.id)
    .where(~one_of(_E.model, "wanted"))
    .order_by(_E.source_id, _E.model)
    .limit(bindparam("most"))
)
COUNTS: Final = (
    select(
        func.count(_S.id).label("sources"),
        func.coalesce(func.sum(_S.chunks), 0).label("chunks"),
        func.coalesce(func.sum(_E.done), 0).label("made"),
        func.count(case((_E.status == "ready", 1))).label("ready"),
        func.count(case((_E.status == "failed", 1))).label("failed"),
    )
    .select_from(_UNDER)
    .where(_READY)
)
_OF_READY = (
    select(_S.id, _S.title, _E.reason)
    .join(knowledge_embeddings, _E.source_id == _S.id)
    .where(_READY, _E.model == _model)
    .order_by(_S.id)
)
FAILED: Final = _OF_READY.where(_E.status == "failed").limit(bindparam("most"))
WAITING: Final = _OF_READY.where(_E.status == "pending", _E.reason.is_not(None)).limit(1)


@dataclass(frozen=True, slots=True)
class Making:
    """A ready document that a worker embeds under a model, until its lease ends."""

    source_id: UUID
    model: str
    worker_id: UUID


class Looked(NamedTuple):
    """The document that was looked at, and what a worker holds of it; None where another was quicker."""

    source_id: UUID
    held: Making | None


class MakingLost(Exception):
    """The document was renewed or removed, the model is wanted no more, or another worker has it."""


class NotWhole(Exception):
    """A document lacks the next model's vectors, so that it does not serve yet."""


def claim(
    tx: Transaction, model: str, worker_id: UUID, lease: timedelta, after: UUID | None
) -> Looked | None:
    """Take the next ready document, by its id, that lacks the model's vectors; None where there is none."""
    row = tx.one(LACKING, of_model=model, after=after or NIL, now=tx.now)
    if row is None:
        return None
    claims.alone(tx, row.id)
    if tx.one(STILL_READY, source=row.id) is None:
        return Looked(row.id, None)  # renewed or removed meanwhile
    tx.run(ADD, source_id=row.id, model=model, status="pending", updated_at=tx.now)
    held = Making(row.id, model, worker_id)
    took = tx.run(CLAIM, **_of(held), now=tx.now, worker=worker_id, until=tx.now + lease)
    return Looked(row.id, held if took else None)


def chunks(tx: Transaction, held: Making) -> tuple[str, list[Row]]:
    """The document's title and all of its chunks. Raises `MakingLost`."""
    source = tx.one(STILL_READY, source=held.source_id)
    if source is None:
        raise MakingLost
    return source.title, tx.all(CHUNKS, source=held.source_id)


def hold(tx: Transaction, held: Making, lease: timedelta) -> None:
    """Make sure that the document is still held, to the end of the transaction. Raises `MakingLost`."""
    claims.alone(tx, held.source_id)
    if tx.run(EXTEND, **_of(held), worker=held.worker_id, until=tx.now + lease) != 1:
        raise MakingLost


def finish(tx: Transaction, held: Making, lease: timedelta) -> None:
    """Say that the document is ready under the model. Raises `MakingLost`."""
    hold(tx, held, lease)
    readiness.finish(tx, held.source_id, [held.model])
    serving = active.now(tx)
    if serving is not None and serving.model == held.model:
        active.pass_turn(tx)


def fail(tx: Transaction, held: Making, lease: timedelta, reason: str, *, for_good: bool) -> bool:
    """Give the document back for another try, or end it as failed; whether it has. Raises `MakingLost`."""
    hold(tx, held, lease)
    row = tx.one(ATTEMPTS, **_of(held))
    tried = 0 if row is None else row.attempts
    if for_good or tried + 1 >= TRIES:
        readiness.fail(tx, held.source_id, held.model, reason)
        return True
    give_back(tx, held, reason, _PAUSES[tried], fault=True)
    return False


def give_back(
    tx: Transaction,
    held: Making,
    reason: str | None = None,
    pause: timedelta | None = None,
    *,
    fault: bool = False,
) -> None:
    """Let another take the document up; with a `fault`, it was a try."""
    later = None if pause is None else tx.now + pause
    tx.run(GIVE_BACK, **_of(held), worker=held.worker_id, later=later, why=reason, more=int(fault))


def again(tx: Transaction, model: str) -> None:
    """Let documents that failed under the model be tried again."""
    tx.run(AGAIN, of_model=model)


def unmade(tx: Transaction, model: str) -> bool:
    """Whether a ready document still waits to be embedded under the model."""
    return tx.one(UNMADE, of_model=model) is not None


def may_serve(tx: Transaction, serving: Active) -> bool:
    """Whether every ready document has the next model's vectors, or may do without."""
    if serving.next is None or unmade(tx, serving.next):
        return False
    return serving.forced or tx.one(BLOCKING, of_model=serving.next) is None


def flip(tx: Transaction, to: str) -> None:
    """Let the next model serve, in one change of one row. Raises `NotWhole`, and then nothing changes.

    The row is taken first: a document that is opened meanwhile is either seen here, or sees the flip.
    """
    serving = active.now(tx)
    if serving is None or not active.flip(tx, to):
        raise NotWhole
    if not may_serve(tx, serving._replace(next=to)):
        raise NotWhole


def switch(tx: Transaction, to: str | None, *, forced: bool) -> None:
    """Begin to switch to a model, go on with it, or flip at once where nothing lacks; None is words alone."""
    if to is not None and not forced:
        again(tx, to)
    serving = active.hold(tx)
    if to is None:
        active.choose(tx, None, None)
        return
    if to == serving.model:
        active.choose(tx, to, None)
        return
    forced = forced or (serving.next == to and serving.forced)
    active.choose(tx, serving.model, to, forced=forced)
    if may_serve(tx, Active(serving.model, to, forced, serving.changes)):
        active.flip(tx, to)


def cancel(tx: Transaction) -> None:
    """Leave the serving model as it is, and no other to come."""
    serving = active.hold(tx)
    if serving.next is not None:
        active.choose(tx, serving.model, None)


def clear_some(tx: Transaction) -> bool:
    """Clear a step's worth of the vectors of models that are wanted no more; False where there are none.

    Raises `ModelsMoved` where one of them is wanted again by now, and then nothing is cleared.
    """
    serving = active.now(tx)
    wanted = [] if serving is None else list(serving.wanted)
    left = readiness.AT_ONCE
    rows = tx.all(UNWANTED, wanted=wanted, most=_ROWS_AT_ONCE)
    touched = set()
    for row in rows:
        touched.add(row.model)
        dropped = readiness.drop_some(tx, row.source_id, row.model, left)
        if dropped >= left:
            break
        readiness.drop_row(tx, row.source_id, row.model)
        left -= dropped
    # Last, so that nobody waits for the row while all this is deleted.
    if touched & set(active.still(tx)):
        raise active.ModelsMoved
    return bool(rows)


def has_unwanted(tx: Transaction, wanted: Sequence[str]) -> bool:
    """Whether anything of a model is left that is wanted no more."""
    return tx.one(UNWANTED, wanted=list(wanted), most=1) is not None


def counts(tx: Transaction, model: str | None) -> Row:
    """(sources, chunks, made, ready, failed) of the ready documents, under a model."""
    row = tx.one(COUNTS, of_model=model or "")
    if row is None:
        raise AssertionError("an aggregate has no row")
    return row


def failures(tx: Transaction, model: str | None) -> list[SourceFailure]:
    """The first documents that failed under the model, and why."""
    return [
        SourceFailure(source_id=row.id, title=row.title, reason=row.reason)
        for row in tx.all(FAILED, of_model=model or "", most=MOST_FAILURES)
    ]


def waits_for(tx: Transaction, model: str | None) -> str | None:
    """Why a document waits for the model, where one does and an embedder has said so."""
    row = tx.one(WAITING, of_model=model or "")
    return None if row is None else row.reason


def _of(held: Making) -> dict[str, object]:
    return {"of_source": held.source_id, "of_model": held.model}
