"""What the guard lets through sees its own organization alone, and the platform sees what is its own."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    Table,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    tuple_,
)
from sqlalchemy.sql.selectable import Join

from memoranda.storage import (
    PLATFORM,
    GuardError,
    Storage,
    mine,
)
from memoranda.storage.scope import NIL
from memoranda.storage.signals import signal
from memoranda.storage.tables import (
    agents,
    knowledge_chunks,
    knowledge_sources,
    knowledge_uploads,
    memories,
    organizations,
    users,
    work_signals,
)
from tests.contract.storage_rows import Two

UTC_TIME = datetime(2026, 1, 2, tzinfo=UTC)
u, s, c = users.c, knowledge_sources.c, knowledge_chunks.c
other = users.alias("other")


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


def _walk() -> Any:
    tree = select(u.name, u.id).cte("walk", recursive=True)
    return tree.union(select(other.c.name, other.c.id).where(other.c.id != tree.c.id))


def _twice() -> Any:
    one = select(u.name).cte("one")
    two = one.alias("two")
    return select(one.c.name, two.c.name)


OUR_NAMES_ONLY: dict[str, Callable[[], Any]] = {
    "plain": lambda: select(u.name),
    "by somebody's id": lambda: select(u.name).where(u.id == bindparam("their_user")),
    "all columns": lambda: select(users),
    "an alias": lambda: select(other.c.name),
    "a self join": lambda: select(other.c.name).join_from(users, other, true()),
    "a cross join": lambda: select(u.name, other.c.name),
    "the left of an outer join": lambda: select(u.name).outerjoin(other, other.c.id == u.id),
    "the right of an outer join": lambda: select(other.c.name).select_from(
        users.outerjoin(other, true())
    ),
    "an outer join of outer joins": lambda: select(other.c.name, u.name).select_from(
        organizations.outerjoin(users, true()).outerjoin(other, true())
    ),
    "a join nested in an outer join": lambda: select(other.c.name).select_from(
        users.outerjoin(other.join(agents, true(), isouter=True), true())
    ),
    "a join that says it is inner": lambda: select(other.c.name).select_from(
        Join(users, other, true(), isouter=False)
    ),
    "an OR beside it": lambda: select(u.name).where(or_(u.name == "x", true())),
    "an OR with mine": lambda: select(u.name).where(or_(mine(users), true())),
    "mine under a CASE": lambda: select(u.name).where(case((mine(users), True), else_=True)),
    "mine of another alias": lambda: select(u.name).join(other, true()).where(mine(other)),
    "a subquery in FROM": lambda: select(select(u.name).subquery().c.name),
    "a subquery in a subquery": lambda: select(
        select(select(u.name).subquery()).subquery().c.name
    ),
    "an alias of a subquery": lambda: select(select(u.name).subquery().alias("x").c.name),
    "a subquery in the columns": lambda: select(select(func.max(u.name)).scalar_subquery()),
    "a subquery in the columns of another table": lambda: select(
        select(func.max(u.name)).scalar_subquery()
    ).select_from(organizations),
    "a correlated subquery": lambda: select(
        select(func.max(other.c.name)).where(other.c.id != u.id).scalar_subquery()
    ).select_from(users),
    "a subquery that says it correlates": lambda: select(
        select(func.max(u.name)).correlate(users).scalar_subquery()
    ),
    "a subquery in WHERE": lambda: select(u.name).where(u.id.in_(select(other.c.id))),
    "a subquery in ORDER BY": lambda: select(u.name).order_by(
        select(func.max(other.c.name)).scalar_subquery()
    ),
    "a CTE": lambda: select(select(u.name).cte("x").c.name),
    "a nested CTE": lambda: select(select(u.name).cte("x", nesting=True).c.name),
    "a recursive CTE": lambda: select(_walk().c.name),
    "a CTE used twice": _twice,
    "UNION": lambda: select(u.name).union(select(other.c.name)),
    "UNION ALL": lambda: select(u.name).union_all(select(other.c.name)),
    "INTERSECT": lambda: select(u.name).intersect(select(other.c.name)),
    "EXCEPT": lambda: select(u.name).except_(
        select(other.c.name).where(other.c.name == "x")
    ),
    "a UNION in a subquery": lambda: select(
        select(u.name).union_all(select(other.c.name)).subquery().c.name
    ),
    "a window": lambda: select(
        u.name, func.row_number().over(order_by=u.name)
    ),
    "an aggregate": lambda: select(func.max(u.name)),
    "a filtered aggregate": lambda: select(func.max(u.name).filter(u.name != "x")),
    "FOR UPDATE": lambda: select(u.name).with_for_update(),
    "FOR UPDATE OF another": lambda: select(u.name).join(other, true()).with_for_update(of=other),
    "DISTINCT": lambda: select(u.name).distinct(),
    "a tuple": lambda: select(u.name).where(tuple_(u.id, u.name) == tuple_(u.id, u.name)),
    "concatenation": lambda: select(u.name + literal("")),
    "a limit": lambda: select(u.name).limit(10).offset(0),
}  # fmt: skip


@pytest.mark.parametrize("attack", OUR_NAMES_ONLY)
async def test_a_statement_sees_its_own_organization_alone(
    storage: Storage, two: Two, attack: str
) -> None:
    statement = OUR_NAMES_ONLY[attack]()
    rows = await storage.write(two.ours, lambda tx: tx.all(statement, their_user=two.their_user))
    assert "Their Ben" not in str(rows)
    assert "Our Ana" in str(rows) or "their_user" in str(statement) or "max" in str(statement)


async def test_an_outer_join_keeps_the_rows_that_found_no_partner(
    storage: Storage, two: Two
) -> None:
    statement = select(u.name, agents.c.name).outerjoin(agents, true())
    assert await storage.read(two.ours, lambda tx: tx.all(statement)) == [("Our Ana", None)]


@pytest.mark.parametrize(
    "source", [users, agents, memories, knowledge_uploads, knowledge_chunks], ids=str
)
async def test_the_platform_reads_and_writes_no_organizations_rows(
    storage: Storage, two: Two, source: Table
) -> None:
    for statement in (
        select(source),
        select(func.count()).select_from(source),
        select(organizations.c.name).outerjoin(source, true()),
        select(organizations.c.name).where(exists().select_from(source)),
        delete(source),
    ):
        with pytest.raises(GuardError):
            await storage.write(PLATFORM, lambda tx, st=statement: tx.all(st))


async def test_the_platform_sees_its_own_rows_of_a_table_that_it_shares(
    storage: Storage, two: Two
) -> None:
    titles = select(s.title).order_by(s.title)
    rows = {
        scope: await storage.read(scope, lambda tx: tx.all(titles))
        for scope in (PLATFORM, two.ours)
    }
    assert rows[two.ours] == [("ours",)]
    assert set(rows[PLATFORM]) == {("everybody's",)}
    everyone = await storage.read(PLATFORM, lambda tx: tx.all(select(organizations.c.id)))
    assert {(two.ours,), (two.theirs,)} <= set(everyone)


async def test_an_organization_sees_no_signal_of_another(storage: Storage, two: Two) -> None:
    for scope in (two.ours, two.theirs, PLATFORM):
        await storage.write(scope, signal, "test")
    seen = select(work_signals.c.organization)
    assert await storage.read(two.ours, lambda tx: tx.all(seen)) == [(two.ours,)]
    everything = await storage.read(PLATFORM, lambda tx: tx.all(seen))
    assert {(two.ours,), (two.theirs,), (NIL,)} <= set(everything)


async def test_the_callers_values_never_stand_in_for_the_scope(storage: Storage, two: Two) -> None:
    for name in ("scope_organization", "scope_owner", "scope_parent"):
        rows = await storage.read(
            two.ours, lambda tx, n=name: tx.all(select(u.name), **{n: two.theirs})
        )
        assert rows == [("Our Ana",)]
