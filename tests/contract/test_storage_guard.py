"""The guard, attacked with reads: what it can't check is refused."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import (
    Integer,
    Uuid,
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
    literal_column,
    not_,
    or_,
    quoted_name,
    select,
    table,
    text,
    true,
    type_coerce,
    update,
    values,
)
from sqlalchemy.sql.expression import all_

from memoranda.storage import (
    GuardError,
    Storage,
)
from memoranda.storage.tables import (
    agents,
    knowledge_chunks,
    knowledge_sources,
    users,
)
from memoranda.words.ids import new_id
from tests.contract.storage_attacks import Everything, Injected, Wrapped, lying
from tests.contract.storage_rows import Two

UTC_TIME = datetime(2026, 1, 2, tzinfo=UTC)
u, s, c = users.c, knowledge_sources.c, knowledge_chunks.c
other = users.alias("other")


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


sources_as_x = knowledge_sources.alias("x")


def forged_parent() -> Any:
    """A source of nobody's, which says that it is ours."""
    whose = {"id": UUID(int=1), "organization_id": UUID(int=2)}
    return select(*(bindparam(None, v, Uuid()).label(k) for k, v in whose.items())).cte(
        "knowledge_sources"
    )


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
    # Names under which something else is read than what was looked at.
    "one alias for two tables": lambda: select(users.alias("x").c.name, agents.alias("x").c.slug),
    "an alias called like a table": lambda: select(u.name, agents.alias("users").c.slug),
    "an alias called like a table in capitals": lambda: select(agents.alias("USERS").c.slug, u.id),
    "an alias called like a nameless one": lambda: select(
        users.alias("agents_1").c.name, agents.alias().c.slug
    ),
    "a subquery called like a table": lambda: select(select(u.name).subquery("agents").c.name),
    "a CTE called like a table": lambda: select(forged_parent().c.id),
    "a CTE called like a table, beside the read": lambda: select(c.text)
    .join(knowledge_sources, c.source_id == s.id)
    .add_cte(forged_parent()),
    "an inner alias in the place of an outer one": lambda: select(
        sources_as_x.c.title,
        select(c.text)
        .select_from(knowledge_chunks, agents.alias("x"))
        .where(c.source_id == sources_as_x.c.id)
        .scalar_subquery(),
    ),
    "an inner alias in the place of an outer one, in WHERE": lambda: select(
        sources_as_x.c.title
    ).where(
        exists(c.id)
        .select_from(agents.alias("x"))
        .where(c.source_id == sources_as_x.c.id)
    ),
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
