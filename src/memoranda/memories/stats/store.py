"""The SQL of the numbers that people see. A key that is bound to a user learns of no other user's rows."""

from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, func, or_, select

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of
from memoranda.memories.audience import sees_everything
from memoranda.memories.counts import store as counts
from memoranda.memories.limits import COLLECTION
from memoranda.memories.models import MemoryStats
from memoranda.memories.views.store import AT_HEAD, FOR_AGENT, FOR_USER, UNEXPIRED, m, r
from memoranda.memories.ways import Ways
from memoranda.search.vectors import store as vectors
from memoranda.storage import Transaction
from memoranda.storage.tables import memory_proposals, search_vectors

p, v = memory_proposals.c, search_vectors.c


def _number(condition: ColumnElement[bool], name: str) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0).label(name)


def _known(*reach: ColumnElement[bool]) -> Select[Any]:
    stands = and_(m.live, UNEXPIRED)
    gone = and_(~m.live, r.continued_by_id.is_(None))
    made = and_(
        v.collection == COLLECTION,
        v.model == bindparam("of_model"),
        v.item_id == m.id,
        v.vector.is_not(None),
    )
    numbers: Any = select(
        _number(stands, "active"),
        _number(and_(stands, m.pinned), "pinned"),
        _number(gone, "forgotten"),
        _number(and_(stands, v.item_id.is_(None)), "unembedded"),
    )
    known: Select[Any] = numbers.select_from(AT_HEAD.outerjoin(search_vectors, made)).where(*reach)
    return known


KNOWN: Final = _known(FOR_USER, FOR_AGENT)
KNOWN_FOR_ANY_AGENT: Final = _known(FOR_USER)
# What waits and has expired can't be accepted any more.
_ALL_WAITING = select(func.count().label("waiting")).where(p.status == "waiting")
EXPIRED: Final = _ALL_WAITING.where(p.expires_at <= bindparam("now"))
_WAITING = (
    _ALL_WAITING.where(p.space.is_(None))
    .where(or_(p.expires_at.is_(None), p.expires_at > bindparam("now")))
    .where(or_(p.user_id.is_(None), p.user_id == bindparam("user")))
)
WAITING_FOR_MEMBER: Final = _WAITING
# An agent knows what it proposed itself.
WAITING_OF_AGENT: Final = _WAITING.where(
    p.author_agent_id == bindparam("agent"),
    or_(p.agent_id.is_(None), p.agent_id == bindparam("agent")),
)


def of(tx: Transaction, who: Principal, ways: Ways) -> MemoryStats:
    """The numbers of what `who` may know."""
    model = _model(tx, ways.models)
    numbers = _all(tx, model) if sees_everything(who) else _bound(tx, who, model)
    return MemoryStats(
        **numbers,
        capacity=ways.limits.active,
        proposal_capacity=ways.limits.waiting,
        pin_capacity=ways.limits.pinned,
        semantic=model is not None,
        model=model,
    )


def _model(tx: Transaction, models: tuple[str, ...]) -> str | None:
    """The model that searches by meaning now, where there is an embedder of it."""
    if not models:
        return None
    serving = vectors.serving(tx, COLLECTION)
    if serving is None:
        return models[0]
    return serving.model if serving.model in models else None


def _all(tx: Transaction, model: str | None) -> dict[str, int]:
    kept, expired = counts.counts(tx), counts.expired(tx)
    lapsing: Any = tx.one(EXPIRED, now=tx.now)
    made = 0 if model is None else vectors.progress(tx, COLLECTION, model).made
    active = kept.active - expired.active
    return {
        "active": active,
        "pinned": kept.pinned - expired.pinned,
        "forgotten": kept.forgotten,
        "proposed": kept.waiting - lapsing.waiting,
        "dropped": kept.dropped,
        "unembedded": min(active, max(0, kept.active - made)),
    }


def _bound(tx: Transaction, who: Principal, model: str | None) -> dict[str, int]:
    reader = subject_of(who)
    reach: dict[str, UUID | None] = {"user": reader.user_id, "agent": reader.agent_id}
    statement = KNOWN_FOR_ANY_AGENT if reader.agent_id is None else KNOWN
    known: Any = tx.one(statement, **reach, now=tx.now, of_model=model or "")
    proposed = WAITING_OF_AGENT if who.role is Role.AGENT else WAITING_FOR_MEMBER
    waiting: Any = tx.one(proposed, **reach, now=tx.now)
    return {**known._asdict(), "proposed": waiting.waiting, "dropped": 0}
