"""The SQL of taking memories out, page by page, and of what an import has to know before it writes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select, union_all

from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import (
    agents,
    memories,
    memory_proposals,
    memory_revisions,
    users,
)
from memoranda.words.subject import ContextSubject

m, r, p = memories.c, memory_revisions.c, memory_proposals.c
u, a = users.c, agents.c
BEGINNING: Final = UUID(int=0)

# What a memory says is its head's; of a forgotten one, what was said before its tombstone.
before = memory_revisions.alias("before_tombstones")
b = before.c
CHAIN: Final = (
    *(m.id, m.version, m.live, m.subject_key, m.user_id, m.agent_id, m.pinned, m.created_at),
    *(m.recorded_at, m.uses, m.used_at, m.subject_refs),
)
SAID: Final = ("text", "title", "category", "tags", "expires_at", "origin")
UNEXPIRED: Final = or_(r.expires_at.is_(None), r.expires_at > bindparam("now"))
LIVE: Final = and_(m.live, UNEXPIRED)
RESTORABLE: Final = and_(
    ~m.live,
    r.continued_by_id.is_(None),
    m.recorded_at > bindparam("kept_since"),
    or_(b.expires_at.is_(None), b.expires_at > bindparam("now")),
)
HEADS: Final = memories.join(memory_revisions, r.id == m.head_id)
ENDS: Final = HEADS.join(before, b.id == r.supersedes_id)


def _bound(columns: Any, *, agent: bool) -> list[ColumnElement[bool]]:
    """What a subject may know, where a space is never known."""
    criteria: list[ColumnElement[bool]] = [
        or_(columns.user_id.is_(None), columns.user_id == bindparam("user"))
    ]
    if agent:
        criteria.append(or_(columns.agent_id.is_(None), columns.agent_id == bindparam("agent")))
    return criteria


def _page(view: Select[Any], id_: ColumnElement[UUID]) -> Select[Any]:
    return view.where(id_ > bindparam("after")).order_by(id_).limit(bindparam("most"))


def _chains(*criteria: ColumnElement[bool]) -> Select[Any]:
    """Chains in the order of their ids, active and forgotten ones in one pass: none comes twice, or is missed."""
    live = select(*CHAIN, *(r[name] for name in SAID)).select_from(HEADS)
    ended = select(*CHAIN, *(b[name] for name in SAID)).select_from(ENDS)
    halves = [
        _page(half.where(m.space.is_(None), state, *criteria), m.id)
        for half, state in ((live, LIVE), (ended, RESTORABLE))
    ]
    both = union_all(
        *(select(half.subquery(f"half_{place}")) for place, half in enumerate(halves))
    ).subquery("chains")
    return select(both).order_by(both.c.id).limit(bindparam("most"))


def _proposals(*criteria: ColumnElement[bool]) -> Select[Any]:
    columns = (
        p.id,
        p.subject_key,
        p.subject_refs,
        p.user_id,
        p.agent_id,
        p.created_at,
        *(p[name] for name in SAID),
    )
    open_ = or_(p.expires_at.is_(None), p.expires_at > bindparam("now"))
    waits = (p.status == "waiting", p.kind == "memory", p.space.is_(None), open_)
    return _page(select(*columns).where(*waits, *criteria), p.id)


CHAINS: Final = _chains()
CHAINS_OF_USER: Final = _chains(*_bound(m, agent=False))
CHAINS_OF_AGENT: Final = _chains(*_bound(m, agent=True))
PROPOSALS: Final = _proposals()
PROPOSALS_OF_USER: Final = _proposals(*_bound(p, agent=False))
# As in the inbox: an agent sees what it proposed itself.
PROPOSALS_OF_AGENT: Final = _proposals(
    *_bound(p, agent=True), p.author_agent_id == bindparam("agent")
)
REVISIONS: Final = (
    select(r.memory_id, r.version, r.created_at, r.forgotten_at, *(r[name] for name in SAID))
    .select_from(memories.join(memory_revisions, r.memory_id == m.id))
    .where(
        m.space.is_(None),
        one_of(m.id, "ids"),
        or_(
            r.memory_id > bindparam("after"),
            and_(r.memory_id == bindparam("after"), r.version > bindparam("after_version")),
        ),
    )
    .order_by(r.memory_id, r.version)
    .limit(bindparam("most"))
)
USERS: Final = select(u.id, u.external_id, u.name).where(one_of(u.id, "ids"))
USERS_CALLED: Final = select(u.id, u.external_id, u.name).where(one_of(u.external_id, "names"))
AGENTS: Final = select(a.id, a.slug, a.external_id).where(one_of(a.id, "ids"))
AGENTS_CALLED: Final = union_all(
    select(a.id, a.slug, a.external_id).where(one_of(a.slug, "names")),
    select(a.id, a.slug, a.external_id).where(one_of(a.external_id, "names")),
)
# What stands under a key, with what it says.
UNDER_KEY: Final = (
    select(m.id, m.live, m.expires_at, r.text)
    .select_from(HEADS)
    .where(m.audience == bindparam("spelled"), m.subject_key == bindparam("key"))
)
SAME_FORGOTTEN: Final = (
    select(m.id, m.audience, m.subject_key, b.text)
    .select_from(ENDS)
    .where(m.space.is_(None), RESTORABLE, one_of(b.text, "texts"))
    .order_by(m.id)
)
LAPSED: Final = select(func.count().label("lapsed")).where(
    p.status == "waiting", p.expires_at <= bindparam("now")
)


class Whose(NamedTuple):
    """The users and agents that the rows of a page name."""

    users: dict[UUID, Row]
    agents: dict[UUID, Row]


def chains(
    tx: Transaction, reader: ContextSubject | None, after: UUID | None, most: int
) -> tuple[list[Row], Whose]:
    """Memories that `reader` may know (None: anybody's), active ones and those that can be restored."""
    statement = _for(reader, CHAINS, CHAINS_OF_USER, CHAINS_OF_AGENT)
    return _with_names(tx, _read(tx, statement, reader, after, most))


def proposals(
    tx: Transaction, reader: ContextSubject | None, after: UUID | None, most: int
) -> tuple[list[Row], Whose]:
    """Proposals that wait, likewise."""
    statement = _for(reader, PROPOSALS, PROPOSALS_OF_USER, PROPOSALS_OF_AGENT)
    return _with_names(tx, _read(tx, statement, reader, after, most))


def revisions(
    tx: Transaction, memory_ids: Sequence[UUID], after: tuple[UUID, int] | None, most: int
) -> list[Row]:
    """Revisions of these memories, by memory and version."""
    memory_id, version = after or (BEGINNING, 0)
    return tx.all(
        REVISIONS, ids=list(memory_ids), after=memory_id, after_version=version, most=most
    )


def users_by_id(tx: Transaction, ids: Iterable[UUID]) -> list[Row]:
    """Those of these users that the organization has."""
    return tx.all(USERS, ids=list(ids))


def users_called(tx: Transaction, names: Iterable[str]) -> list[Row]:
    """The users with these external ids."""
    return tx.all(USERS_CALLED, names=list(names))


def agents_by_id(tx: Transaction, ids: Iterable[UUID]) -> list[Row]:
    """Those of these agents that the organization has."""
    return tx.all(AGENTS, ids=list(ids))


def agents_called(tx: Transaction, names: Iterable[str]) -> list[Row]:
    """The agents with these slugs, and then those with these external ids."""
    return tx.all(AGENTS_CALLED, names=list(names))


def under_key(tx: Transaction, spelled: str, key: str) -> Row | None:
    """The audience's chain under that key, ended or not."""
    return tx.one(UNDER_KEY, spelled=spelled, key=key)


def same_forgotten(tx: Transaction, texts: Iterable[str]) -> list[Row]:
    """Forgotten memories that can be restored and said one of these texts."""
    since: datetime = tx.now - KEPT_WHEN_FORGOTTEN
    return tx.all(SAME_FORGOTTEN, texts=list(texts), now=tx.now, kept_since=since)


def lapsed_proposals(tx: Transaction) -> int:
    """How many proposals wait and have expired, so that they take no room."""
    row: Any = tx.one(LAPSED, now=tx.now)
    return int(row.lapsed)


def _for(
    reader: ContextSubject | None, all_: Select[Any], user: Select[Any], agent: Select[Any]
) -> Select[Any]:
    if reader is None:
        return all_
    return user if reader.agent_id is None else agent


def _read(
    tx: Transaction,
    statement: Select[Any],
    reader: ContextSubject | None,
    after: UUID | None,
    most: int,
) -> list[Row]:
    return tx.all(
        statement,
        after=after or BEGINNING,
        most=most,
        now=tx.now,
        kept_since=tx.now - KEPT_WHEN_FORGOTTEN,
        user=reader and reader.user_id,
        agent=reader and reader.agent_id,
    )


def _with_names(tx: Transaction, rows: list[Row]) -> tuple[list[Row], Whose]:
    of_users = {row.user_id for row in rows if row.user_id}
    of_agents = {row.agent_id for row in rows if row.agent_id}
    return rows, Whose(
        users={row.id: row for row in users_by_id(tx, of_users)} if of_users else {},
        agents={row.id: row for row in agents_by_id(tx, of_agents)} if of_agents else {},
    )
