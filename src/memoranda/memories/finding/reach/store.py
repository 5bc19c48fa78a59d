"""The SQL of a reader's reach. Whom a memory may be shown to stands in every statement, before any limit.

How rare a word is depends on how many memories the reader may know, so each search has to know that;
and where they are a few among very many, it pays to know which, and to look at no others.
"""

from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from sqlalchemy import Boolean, and_, bindparam, case, func, or_, select

from memoranda.memories.audience import Audience
from memoranda.memories.counts.store import counts
from memoranda.memories.views.store import UNEXPIRED
from memoranda.storage import Transaction, id_of, one_of
from memoranda.storage.tables import agents, memories, memory_counts
from memoranda.words.subject import ContextSubject

MANY: Final = 5_000
"""From so many memories on, a reader's own are looked for by themselves, unless they are as many."""
MOST_AGENTS: Final = 200
STEPS: Final = 16
"""So many audiences are looked at before it is believed that there is one that the reader does not belong to."""

m = memories.c
# `= NULL` is never true: a reader without a user meets no user's memory, and one without a space no space's.
_ITS_USERS: Final = or_(
    bindparam("any_user", type_=Boolean()), m.user_id.is_(None), m.user_id == bindparam("user")
)
REACHED: Final = and_(
    UNEXPIRED,
    m.space.is_(None),
    _ITS_USERS,
    or_(
        bindparam("any_agent", type_=Boolean()),
        m.agent_id.is_(None),
        m.agent_id == bindparam("agent"),
    ),
)
KNOWN: Final = and_(m.live, REACHED)
IN_ITS_SPACE: Final = and_(UNEXPIRED, m.space == bindparam("space"), _ITS_USERS)
# Of memories that are looked up by their ids, it does not matter that no index leads to both.
REACHED_SOMEHOW: Final = or_(
    and_(~bindparam("in_space", type_=Boolean()), REACHED),
    and_(bindparam("in_space", type_=Boolean()), IN_ITS_SPACE),
)
# Said twice, so that PostgreSQL, which guesses at how many are due, knows how many can be.
_EXPIRED: Final = and_(m.live, m.expires_at.is_not(None), m.expires_at <= bindparam("now"))
_SPACED: Final = and_(m.live, m.space.is_not(None))

# Each is one look into an index, where counting would read every memory.
GLANCE: Final[Any] = select(
    select(memory_counts.c.active).scalar_subquery().label("active"),
    select(func.min(m.expires_at))
    .where(m.live, m.expires_at.is_not(None))
    .scalar_subquery()
    .label("expires"),
    select(func.min(m.audience)).where(m.live).scalar_subquery().label("first"),
    select(func.max(m.audience)).where(m.live).scalar_subquery().label("last"),
    select(m.id).where(_SPACED).exists().label("spaced"),
)
NEXT_AUDIENCE: Final[Any] = select(func.min(m.audience).label("next")).where(
    m.live, m.audience > bindparam("after")
)
HIDDEN_FROM_ALL: Final[Any] = select(
    select(func.count()).where(_EXPIRED).scalar_subquery().label("expired"),
    select(func.count()).where(_SPACED, UNEXPIRED).scalar_subquery().label("spaced"),
)
HOW_MANY: Final[Any] = select(
    func.coalesce(func.sum(case((KNOWN, 1), else_=0)), 0).label("known")
).where(m.live)
AGENTS: Final = select(agents.c.id).limit(bindparam("most"))
ITS_SPACES: Final = select(m.id).where(m.live, IN_ITS_SPACE)
ITS_OWN: Final = select(m.id).where(KNOWN, one_of(m.audience, "audiences")).limit(bindparam("most"))


class Reader(NamedTuple):
    """Whose memories are found: what covers a user and an agent, or what is for anybody; or a space's."""

    user: UUID | None = None
    agent: UUID | None = None
    any_user: bool = False
    any_agent: bool = False
    space: str | None = None

    @classmethod
    def of(cls, subject: ContextSubject) -> Self:
        """What `Audience.covers` says of the subject. Without an agent it is not held to any."""
        return cls(subject.user_id, subject.agent_id, any_agent=subject.agent_id is None)

    def belongs_to(self, spelled: str) -> bool:
        """Whether it may know what is for an audience that is spelled so."""
        if "space=" in spelled:  # the rest are ids
            return False
        said = dict(part.split("=") for part in spelled.split(";") if part != "all")
        return (self.any_user or said.get("user") in {None, _hex(self.user)}) and (
            self.any_agent or said.get("agent") in {None, _hex(self.agent)}
        )


EVERYBODY: Final = Reader(any_user=True, any_agent=True)


class Reach(NamedTuple):
    """How many memories the indexes hold, and how many of them the reader may know.

    `ids` are those, where they are few and the others many.
    """

    held: int
    known: int
    ids: list[UUID] | None = None


def reach(tx: Transaction, reader: Reader) -> Reach:
    """How much of all that the indexes hold the reader may know."""
    if reader.space is not None:
        in_it = [row.id for row in tx.all(ITS_SPACES, **asked_of(tx, reader))]
        return Reach(len(in_it), len(in_it), in_it)
    glance: Any = tx.one(GLANCE)
    held = counts(tx).active if glance.active is None else glance.active
    expired = glance.expires is not None and glance.expires <= tx.now
    if reader == EVERYBODY:
        hidden: Any = tx.one(HIDDEN_FROM_ALL, now=tx.now) if expired or glance.spaced else (0, 0)
        return Reach(held, held - sum(hidden))
    if not expired and _belongs_to_all(tx, reader, glance.first, glance.last):
        return Reach(held, held)
    if held > MANY:
        ids = _its_own(tx, reader)
        if ids is not None:
            return Reach(held, len(ids), ids)
    there: Any = tx.one(HOW_MANY, **asked_of(tx, reader))
    return Reach(held, int(there.known))


def asked_of(tx: Transaction, reader: Reader) -> dict[str, Any]:
    """What the statements ask of the reader."""
    return {**reader._asdict(), "in_space": reader.space is not None, "now": tx.now}


def _belongs_to_all(tx: Transaction, reader: Reader, first: str | None, last: str | None) -> bool:
    """Whether the reader belongs to all audiences that there are, from the first to the last."""
    if first is None or last is None:
        return True
    if not reader.belongs_to(last):
        return False
    audience = first
    for _ in range(STEPS):
        if not reader.belongs_to(audience):
            return False
        if audience == last:
            return True
        after: Any = tx.one(NEXT_AUDIENCE, after=audience)
        audience = after.next
    return False


def _its_own(tx: Transaction, reader: Reader) -> list[UUID] | None:
    """The memories that the reader may know; None where they are many too."""
    some = [None, reader.agent]
    if reader.any_agent:
        rows = tx.plain(AGENTS, most=MOST_AGENTS + 1)
        if len(rows) > MOST_AGENTS:
            return None
        some = [None, *(id_of(row[0]) for row in rows)]
    spelled = {Audience(user, agent).spelled for user in {None, reader.user} for agent in some}
    of = asked_of(tx, reader)
    found = tx.plain(ITS_OWN, **of, audiences=sorted(spelled), most=MANY + 1)
    return [id_of(row[0]) for row in found] if len(found) <= MANY else None


def _hex(identity: UUID | None) -> str | None:
    return None if identity is None else identity.hex
