"""The guard, attacked: no statement that a store could write reaches another organization's rows."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    column,
    delete,
    exists,
    false,
    func,
    insert,
    lambda_stmt,
    lateral,
    literal,
    literal_column,
    not_,
    null,
    or_,
    quoted_name,
    select,
    table,
    text,
    true,
    tuple_,
    type_coerce,
    update,
    values,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.expression import all_
from sqlalchemy.sql.selectable import Join
from sqlalchemy.types import UserDefinedType

from memoranda.storage import (
    PLATFORM,
    ConstraintViolated,
    GuardError,
    Storage,
    insert_or_ignore,
    mine,
    upsert,
)
from memoranda.storage.guard import check_delete, check_join, check_select, check_update
from memoranda.storage.scope import NIL, Mine, Shared, Tenant
from memoranda.storage.signals import signal
from memoranda.storage.tables import (
    agents,
    api_keys,
    knowledge_chunks,
    knowledge_sources,
    knowledge_uploads,
    memories,
    organizations,
    search_terms,
    users,
    work_signals,
)
from memoranda.words.ids import new_id
from tests.contract.storage_rows import Two, names, two_organizations

UTC_TIME = datetime(2026, 1, 2, tzinfo=UTC)
u, s, c = users.c, knowledge_sources.c, knowledge_chunks.c
other = users.alias("other")


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


@pytest.fixture
async def two(storage: Storage) -> Two:
    return await two_organizations(storage)


class Everything(ColumnElement[bool]):
    """A part that renders itself, as a careless extension could."""

    inherit_cache = False
    type = Boolean()


@compiles(Everything)
def _everything(element: Everything, compiler: object, **kw: object) -> str:
    return "1 = 1) OR (1 = 1"


class Injected(UserDefinedType[int]):
    cache_ok = True

    def get_col_spec(self, **kw: object) -> str:
        return "INTEGER) FROM users --"


class Wrapped(TypeDecorator[str]):
    impl = Text
    cache_ok = True

    def column_expression(self, column: Any) -> Any:
        return text("(SELECT name FROM users)")


def lying(name: str) -> Table:
    """A second declaration of a real table, which says that it holds nobody's rows."""
    return Table(
        name,
        MetaData(),
        Column("id", Uuid(), primary_key=True),
        Column("name", String()),
        info={"tenancy": Shared()},
    )


def moved_column(predicate: Mine) -> Mine:
    predicate.column = predicate.table.c.id
    return predicate


UNCHECKABLE_READS: dict[str, Callable[[], Any]] = {
    # Raw SQL, in every place where SQLAlchemy takes it.
    "text": lambda: text("SELECT name FROM users"),
    "text as a column": lambda: select(text("name")).select_from(users),
    "text as a predicate": lambda: select(u.name).where(text("1 = 1) OR (1 = 1")),
    "text as a table": lambda: select(u.name).select_from(text("users AS x, users")),
    "text in ORDER BY": lambda: select(u.name).order_by(text("(SELECT name FROM users)")),
    "text in GROUP BY": lambda: select(u.name).group_by(text("name")),
    "text in HAVING": lambda: select(u.name).group_by(u.name).having(text("1 = 1")),
    "text in a function": lambda: select(func.count(text("(SELECT 1 FROM users)"))),
    "text in a CASE": lambda: select(case((text("1 = 1"), u.name), else_=u.name)),
    "text in a join": lambda: select(u.name).join(other, text("1 = 1")),
    "text with columns": lambda: text("SELECT name FROM users").columns(u.name),
    "text with columns as a subquery": lambda: select(
        text("SELECT name FROM users").columns(u.name).subquery()
    ),
    "a union with text": lambda: select(u.name).union_all(
        text("SELECT name FROM users").columns(u.name)
    ),
    "text as a prefix": lambda: select(u.name).prefix_with("name FROM users UNION SELECT"),
    "text as a suffix": lambda: select(u.name).suffix_with("UNION SELECT name FROM users"),
    "text as a CTE's prefix": lambda: select(
        select(u.name).cte("x").prefix_with("AS (SELECT name FROM users),")
    ),
    "literal_column": lambda: select(literal_column("name")).select_from(users),
    "literal_column with SQL": lambda: select(u.name, literal_column("(SELECT name FROM users)")),
    "a literal bound to no parameter": lambda: select(u.name).where(
        u.name == bindparam("named", "x", literal_execute=True)
    ),
    "an operator with SQL inside": lambda: select(u.name).where(u.name.op("= '' OR 1 =")(1)),
    "a boolean operator with SQL inside": lambda: select(u.name).where(
        u.name.bool_op("IS NOT NULL OR 1 =")(1)
    ),
    "a hint on a table": lambda: select(u.name).with_hint(users, "WHERE 1 = 1 --"),
    "a hint on a statement": lambda: select(u.name).with_statement_hint("UNION SELECT 1"),
    "an unquoted label": lambda: select(
        u.name.label(quoted_name("x, (SELECT name FROM users)", quote=False))
    ),
    "an unquoted alias": lambda: select(
        users.alias(quoted_name("x, users", quote=False)).c.name
    ),
    "an unquoted CTE": lambda: select(
        select(u.name).cte(quoted_name("x AS (SELECT 1), y", quote=False))
    ),
    "a lambda": lambda: lambda_stmt(lambda: select(u.name)),
    # Functions that reach past the rows they are given.
    "set_config": lambda: select(func.set_config("memoranda.organization", "platform", True)),
    "pg_read_file": lambda: select(func.pg_read_file("secret")),
    "load_extension": lambda: select(func.load_extension("evil")),
    "query_to_xml": lambda: select(func.query_to_xml("SELECT * FROM users", True, False, "")),
    "a function in a schema": lambda: select(func.evil.count(u.name)),
    "current_setting in a predicate": lambda: select(u.name).where(
        u.name == func.current_setting("memoranda.organization")
    ),
    "a table function": lambda: select(func.json_each("[1]").table_valued("value")),
    "a table function of an allowed name": lambda: select(func.lower("x").table_valued("value")),
    "a function as a column": lambda: select(func.lower("x").column_valued()),
    "a cast": lambda: select(cast(u.name, Injected())),
    "any cast": lambda: select(cast(u.name, Integer())),
    # Parts that render themselves.
    "a custom element": lambda: select(u.name).where(Everything()),
    "a custom element in a subquery": lambda: select(u.name).where(
        exists().where(Everything(), other.c.id == u.id)
    ),
    "a custom type's parameter": lambda: select(u.name).where(
        u.name == bindparam("x", "y", type_=Injected())
    ),
    "a custom type's expression": lambda: select(type_coerce(u.name, Wrapped())),
    # Tables that say something else than the schema.
    "a table of another schema": lambda: select(lying("users").c.name),
    "an alias of such a table": lambda: select(lying("users").alias().c.name),
    "such a table in a subquery": lambda: select(select(lying("users").c.name).subquery()),
    "such a table in EXISTS": lambda: select(u.name).where(exists(lying("users").c.id)),
    "such a table in an outer join": lambda: select(u.name).outerjoin(
        lying("users"), true()
    ),
    "a table without a declaration": lambda: select(table("users", column("name"))),
    "a column without a table": lambda: select(column("name")).select_from(users),
    "the database's own catalog": lambda: select(
        table("sqlite_master", column("name")).c.name
    ),
    "a table sample": lambda: select(users.tablesample(func.count(1)).c.name),
    "VALUES": lambda: select(values(column("x", Integer)).data([(1,)])),
    "LATERAL": lambda: select(u.name, lateral(select(other.c.name), "l")),
    # Joins and predicates that keep rows which nothing has looked at.
    "a full join": lambda: select(other.c.name).select_from(users.join(other, true(), full=True)),
    "an alias of an alias": lambda: select(other.alias("third").c.name),
    "IN with a list": lambda: select(u.name).where(u.id.in_([UUID(int=1)])),
    "IN with a parameter": lambda: select(u.name).where(u.id.in_(bindparam("x", expanding=True))),
    "a parameter named like the scope's": lambda: select(u.name).where(
        u.organization_id == bindparam("scope_organization", type_=Uuid())
    ),
    "a parameter named like a row's owner": lambda: select(u.name).where(
        u.organization_id == bindparam("scope_owner")
    ),
    # Writes that hide in a read.
    "a write in a CTE": lambda: select(
        delete(users).returning(u.name).cte("gone")
    ),
    "a write in a CTE beside the read": lambda: select(u.name).add_cte(delete(users).cte("gone")),
    "an insert in a CTE": lambda: select(u.name).add_cte(insert(users).cte("new")),
}  # fmt: skip


@pytest.mark.parametrize("attack", UNCHECKABLE_READS)
async def test_what_the_guard_cannot_read_is_refused(
    storage: Storage, two: Two, attack: str
) -> None:
    statement = UNCHECKABLE_READS[attack]()
    with pytest.raises(GuardError):
        await storage.read(two.ours, lambda tx: tx.all(statement))


source_of_chunk = select(s.title).where(s.id == c.source_id).scalar_subquery()

UNSCOPED_CHILDREN: dict[str, Callable[[], Any]] = {
    "alone": lambda: select(c.text),
    "with a predicate of its own": lambda: select(c.text).where(c.ordinal == 0),
    "beside its parent": lambda: select(c.text, s.title),
    "joined to the parent by something else": lambda: select(c.text).join(s_table, s.title == c.text),
    "joined to its parent's parent": lambda: select(c.text).join(s_table, s.organization_id == c.source_id),
    "joined by an OR": lambda: select(c.text).join(s_table, or_(c.source_id == s.id, true())),
    "joined by a NOT": lambda: select(c.text).join(s_table, not_(c.source_id == s.id)),
    "joined by a comparison": lambda: select(c.text).join(s_table, c.source_id != s.id),
    "left joined to its parent": lambda: select(c.text).outerjoin(s_table, c.source_id == s.id),
    "in a parent of an alias of another table": lambda: select(c.text).join(
        agents, c.source_id == agents.c.id
    ),
    "NOT IN the parents": lambda: select(c.text).where(c.source_id.not_in(select(s.id))),
    "equal to all of no parents": lambda: select(c.text).where(
        c.source_id == all_(select(s.id).where(false()).scalar_subquery())
    ),
    "IN another column of the parents": lambda: select(c.text).where(
        c.source_id.in_(select(s.lease_owner))
    ),
    "IN an expression over the parents": lambda: select(c.text).where(
        c.source_id.in_(select(func.coalesce(s.id, s.id)))
    ),
    "IN a union": lambda: select(c.text).where(
        c.source_id.in_(select(s.id).union_all(select(s.lease_owner)))
    ),
    "IN a subquery's column that is called id": lambda: select(c.text).where(
        c.source_id.in_(select(select(c.source_id.label("id")).subquery().c.id))
    ),
    "a CASE of the join": lambda: select(c.text).where(case((c.source_id == s.id, True), else_=True)),
    "under an alias whose twin is joined": lambda: select(c_other.c.text).join(
        s_table, c.source_id == s.id
    ).where(c_other.c.ordinal == 0),
    "in EXISTS": lambda: select(u.name).where(exists(c.id)),
    "in a scalar subquery": lambda: select(select(func.count(c.id)).scalar_subquery()),
    "in a CTE": lambda: select(select(c.text).cte("x")),
    "on the right of an outer join": lambda: select(c.text).select_from(
        users.outerjoin(knowledge_chunks, c.ordinal == 0)
    ),
    "updated": lambda: update(knowledge_chunks).values(text="x"),
    "deleted": lambda: delete(knowledge_chunks),
    "deleted by id": lambda: delete(knowledge_chunks).where(c.id == bindparam("x", new_id())),
    "moved to another parent": lambda: update(knowledge_chunks)
    .where(c.source_id.in_(select(s.id)))
    .values(source_id=bindparam("x", new_id())),
}  # fmt: skip
s_table, c_other = knowledge_sources, knowledge_chunks.alias("c_other")


@pytest.mark.parametrize("attack", UNSCOPED_CHILDREN)
async def test_rows_without_an_organization_are_used_through_their_parent_alone(
    storage: Storage, two: Two, attack: str
) -> None:
    statement = UNSCOPED_CHILDREN[attack]()
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.all(statement))


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


def moved(predicate: Mine) -> Mine:
    predicate.column = predicate.table.c.id
    return predicate


@pytest.mark.parametrize(
    "predicate",
    [
        lambda: Mine(users, Tenant("id", listed=True)),
        lambda: Mine(other, Tenant()),
        lambda: moved(mine(users)),
        lambda: not_(mine(users)),
        lambda: or_(mine(users), true()),
        lambda: case((mine(users), True), else_=True),
    ],
)
def test_a_predicate_that_is_not_the_tables_own_vouches_for_nothing(
    predicate: Callable[[], Any],
) -> None:
    with pytest.raises(GuardError, match="without its organization's predicate"):
        check_select(select(u.name).where(predicate()), platform=False)
    check_select(select(u.name).where(predicate(), mine(users)), platform=False)


async def test_an_outer_join_keeps_the_rows_that_found_no_partner(
    storage: Storage, two: Two
) -> None:
    statement = select(u.name, agents.c.name).outerjoin(agents, true())
    assert await storage.read(two.ours, lambda tx: tx.all(statement)) == [("Our Ana", None)]


WRITES: dict[str, Callable[[], Any]] = {
    "insert from a select": lambda: insert(users).from_select(
        ["id", "organization_id", "name", "created_at"],
        select(u.id, u.organization_id, u.name, u.created_at),
    ),
    "insert or replace": lambda: insert(users).prefix_with("OR REPLACE"),
    "insert into an alias's table": lambda: insert(lying("users")),
    "update from another table": lambda: update(users)
    .values(name=agents.c.name)
    .where(agents.c.id == u.id),
    "update of an alias": lambda: update(other).values(name="x"),
    "update of a join": lambda: update(users.join(agents, true())).values(name="x"),
    "update of the organization as another table's column": lambda: update(users).values(
        {agents.c.organization_id: new_id()}
    ),
    "update with text": lambda: update(users).values(name=text("'x' WHERE 1 = 1 --")),
    "update with a prefix": lambda: update(users).values(name="x").prefix_with("OR REPLACE"),
    "update of the organization": lambda: update(users).values(organization_id=new_id()),
    "update of the organization by column": lambda: update(users).values(
        {u.organization_id: new_id()}
    ),
    "update of the organization to itself": lambda: update(users).values(
        organization_id=u.organization_id
    ),
    "ordered update of the organization": lambda: update(users).ordered_values(
        (u.name, "x"), (u.organization_id, new_id())
    ),
    "update of the organization in a list": lambda: update(users).values(
        {"name": "x", "organization_id": null()}
    ),
    "update of an organization's id": lambda: update(organizations).values(id=new_id()),
    "update of an index's scope": lambda: update(search_terms).values(scope_id=new_id()),
    "delete using another table": lambda: delete(users).where(agents.c.id == u.id),
    "delete of an alias": lambda: delete(other),
    "delete with text": lambda: delete(users).where(text("1 = 1) OR (1 = 1")),
    "delete with a hint": lambda: delete(users).with_hint("x"),
    "upsert by a key of the whole table": lambda: upsert(users, ["id"], set_=["name"]),
    "upsert by the hash of a key": lambda: upsert(api_keys, ["secret_hash"], set_=["name"]),
    "upsert of a child by its id": lambda: upsert(knowledge_chunks, ["id"], set_=["text"]),
    "upsert by a named constraint": lambda: postgresql.insert(users).on_conflict_do_update(
        constraint="users_pk", set_={"name": "x"}
    ),
    "upsert that moves the row": lambda: upsert(
        users, ["organization_id", "external_id"], set_=["organization_id"]
    ),
    "upsert that moves a child": lambda: upsert(
        knowledge_chunks, ["source_id", "ordinal"], set_=["source_id"]
    ),
    "upsert with text": lambda: postgresql.insert(users).on_conflict_do_update(
        index_elements=["organization_id", "external_id"], set_={"name": text("'x'")}
    ),
    "upsert with a custom element": lambda: postgresql.insert(users).on_conflict_do_update(
        index_elements=["organization_id", "external_id"],
        set_={"name": "x"},
        where=Everything(),
    ),
    "upsert of SQLite's own kind": lambda: sqlite.insert(users).on_conflict_do_update(
        index_elements=["id"], set_={"name": "x"}
    ),
    "returning text": lambda: delete(users).returning(text("(SELECT name FROM users)")),
    "returning a lying table": lambda: delete(users).returning(
        select(lying("users").c.name).scalar_subquery()
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", WRITES)
async def test_a_write_that_could_touch_another_organizations_row_is_refused(
    storage: Storage, two: Two, attack: str
) -> None:
    statement = WRITES[attack]()
    row = {"id": two.their_user, "name": "x", "external_id": "ben"}
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.run(statement, **row))
    assert await storage.read(two.theirs, names) == ["Their Ben"]


def test_without_the_added_predicate_the_guard_refuses_every_kind_of_statement() -> None:
    join = users.outerjoin(other, and_(mine(users), other.c.id == u.id))
    for check in (
        lambda: check_select(select(u.name), platform=False),
        lambda: check_select(select(u.name).join(other, mine(other)), platform=False),
        lambda: check_select(select(u.name).select_from(join), platform=False),
        lambda: check_join(join, platform=False),
        lambda: check_update(update(users).values(name="x"), platform=False),
        lambda: check_delete(delete(users), platform=False),
    ):
        with pytest.raises(GuardError, match="without its organization's predicate"):
            check()


async def test_a_new_row_cannot_be_given_to_another_organization(
    storage: Storage, two: Two
) -> None:
    row = {"id": new_id(), "name": "x", "created_at": UTC_TIME}
    sneaky: list[dict[str, Any]] = [
        {"organization_id": two.theirs},
        {"organization_id": select(organizations.c.id).scalar_subquery()},
        {"organization_id": null()},
        {"organization_id": bindparam("whose", two.theirs)},
    ]
    for given in sneaky:
        statement, user = insert(users).values(given), {**row, "id": new_id()}
        await storage.write(two.ours, lambda tx, st=statement, us=user: tx.run(st, **us))
    given = {**row, "organization_id": two.theirs}
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.run(insert(users), **given))
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.run_many(insert(users), [given]))
    assert await storage.read(two.theirs, names) == ["Their Ben"]
    assert len(await storage.read(two.ours, names)) == 1 + len(sneaky)


async def test_a_row_cannot_be_added_to_another_organizations_parent(
    storage: Storage, two: Two
) -> None:
    chunk = {"ordinal": 7, "text": "forged", "tokens": 1}
    for parent in (two.their_source, new_id()):
        row = {**chunk, "id": new_id(), "source_id": parent}
        for write in (
            lambda tx, r=row: tx.run(insert(knowledge_chunks), **r),
            lambda tx, r=row: tx.run_many(insert(knowledge_chunks), [r]),
            lambda tx, r=row: tx.run(
                upsert(knowledge_chunks, ["source_id", "ordinal"], set_=["text"]),
                **{**r, "ordinal": 0},
            ),
        ):
            with pytest.raises(ConstraintViolated) as refused:
                await storage.write(two.ours, write)
            # The same whether the parent is another's or nobody's: no hint that it exists.
            assert refused.value.name == "knowledge_chunks_source_id_exists"
    own = {**chunk, "id": new_id(), "source_id": two.our_source}
    for statement in (
        insert(knowledge_chunks).values(source_id=two.their_source),
        insert(knowledge_chunks).values(source_id=select(s.id).scalar_subquery()),
    ):
        row = {**own, "id": new_id(), "ordinal": own["ordinal"] + 1}
        with pytest.raises(GuardError):
            await storage.write(two.ours, lambda tx, st=statement: tx.run(st, id=new_id(), **chunk))
    await storage.write(two.ours, lambda tx: tx.run(insert(knowledge_chunks), **own))
    texts = select(c.text).join(s_table, c.source_id == s.id)
    assert await storage.read(two.theirs, lambda tx: tx.all(texts)) == [("theirs",)]


async def test_a_key_of_another_organization_is_a_conflict_and_never_an_update(
    storage: Storage, two: Two
) -> None:
    rename = upsert(users, ["organization_id", "external_id"], set_=["name"])
    row = {"id": new_id(), "name": "forged", "external_id": "ben", "created_at": UTC_TIME}
    assert await storage.write(two.ours, lambda tx: tx.run(rename, **row)) == 1
    assert await storage.read(two.theirs, names) == ["Their Ben"]
    with pytest.raises(ConstraintViolated):
        await storage.write(
            two.ours,
            lambda tx: tx.run(rename, **{**row, "id": two.their_user, "external_id": "x"}),
        )
    taken = insert_or_ignore(users)
    assert (
        await storage.write(
            two.ours, lambda tx: tx.run(taken, **{**row, "id": two.their_user, "external_id": "y"})
        )
        == 0
    )
    assert await storage.read(two.theirs, names) == ["Their Ben"]


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
