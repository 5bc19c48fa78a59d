"""The SQL of memories at a past time: the last revision of each chain by then, and what is missing since."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select

from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN
from memoranda.memories.models import Memory
from memoranda.memories.views.store import (
    FOR_AGENT,
    FOR_USER,
    IN_THE_PAST,
    ITS_USERS,
    LATER_THEN,
    NO_USERS,
    SHOWN_THEN,
    m,
    r,
    shown,
    with_branches,
)
from memoranda.storage import Transaction
from memoranda.storage.tables import purged_memories
from memoranda.words.errors import Gone
from memoranda.words.subject import ContextSubject

p = purged_memories.c


def _then(*criteria: ColumnElement[bool]) -> Select[Any]:
    """What such chains said at that time, the last recorded first."""
    return (
        select(*SHOWN_THEN)
        .select_from(IN_THE_PAST)
        .where(
            m.space.is_(None),
            r.text.is_not(None),
            or_(r.expires_at.is_(None), r.expires_at > bindparam("now")),
            r.created_at <= bindparam("now"),
            ~LATER_THEN,
            *criteria,
        )
        .order_by(r.created_at.desc(), m.id.desc())
        .limit(bindparam("most"))
    )


# What is forgotten is purged after so many days, so that it was told until then at the most.
_MISSING: Final = (
    select(func.max(p.purged_at).label("purged_at"))
    .where(p.space.is_(None))
    .where(or_(p.began_at.is_(None), p.began_at <= bindparam("then")))
    .where(
        or_(
            and_(p.reason == "erased", p.purged_at > bindparam("then")),
            and_(p.reason != "erased", p.purged_at > bindparam("purged_after")),
        )
    )
)
_OF_USERS: Final = or_(p.user_id.is_(None), p.user_id == bindparam("user"))
_OF_AGENTS: Final = or_(p.agent_id.is_(None), p.agent_id == bindparam("agent"))
_SHARED: Final = or_(NO_USERS, m.agent_id.is_not(None))

PERSONAL: Final = _then(ITS_USERS, m.agent_id.is_(None))
SHARED: Final = _then(FOR_USER, _SHARED, FOR_AGENT)
SHARED_FOR_ANY_AGENT: Final = _then(FOR_USER, _SHARED)
MISSING_PERSONAL: Final = _MISSING.where(p.user_id == bindparam("user"), p.agent_id.is_(None))
_MISSING_SHARED: Final = _MISSING.where(
    _OF_USERS, or_(p.user_id.is_(None), p.agent_id.is_not(None))
)
MISSING_SHARED: Final = _MISSING_SHARED.where(_OF_AGENTS)
MISSING_SHARED_FOR_ANY_AGENT: Final = _MISSING_SHARED


def recent(
    tx: Transaction, subject: ContextSubject, then: datetime, *, personal: bool, most: int
) -> list[Memory]:
    """What `views.recent` would have answered at that time.

    Raises `Gone` where something of it may have been erased or purged since: the names that
    are kept of such memories say for whom they were, and not what they said.
    """
    if personal:
        statement, missing = PERSONAL, MISSING_PERSONAL
    elif subject.agent_id is None:
        statement, missing = SHARED_FOR_ANY_AGENT, MISSING_SHARED_FOR_ANY_AGENT
    else:
        statement, missing = SHARED, MISSING_SHARED
    whose = {"user": subject.user_id, "agent": subject.agent_id}
    lost = tx.one(missing, then=then, purged_after=then + KEPT_WHEN_FORGOTTEN, **whose)
    if lost is not None and lost.purged_at is not None:
        raise Gone(
            "What was remembered then is not all there any more: some of it has been erased or purged since, "
            f"the last of it on {lost.purged_at:%Y-%m-%d}.",
            purged_at=lost.purged_at.isoformat(),
        )
    rows = tx.all(statement, now=then, most=most, **whose)
    return with_branches(tx, [shown(row) for row in rows], then)
