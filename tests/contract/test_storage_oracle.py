"""Whatever a store may write, another organization's rows make no difference to it and stay as they are.

The oracle is a second database that holds our organization's rows alone: every
statement must answer the same there, and leave the same rows of ours.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import (
    and_,
    bindparam,
    case,
    delete,
    exists,
    false,
    func,
    insert,
    not_,
    or_,
    select,
    true,
    update,
)

from memoranda.storage import GuardError, Transaction, migrate, mine, one_of, upsert
from memoranda.storage.dialects.sqlite import SqliteBackend, connect
from memoranda.storage.scope import base_table, tenancy_of
from memoranda.storage.tables import (
    agents,
    knowledge_chunks,
    knowledge_sources,
    organizations,
    users,
)
from tests.conftest import sqlite_url
from tests.contract.storage_rows import add_organization, add_source, add_user

OURS, THEIRS = UUID(int=1), UUID(int=2)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
USERS = ("Ana", "Ben", "Cleo")


@dataclass
class Ready:
    """A transaction function as the backend takes it."""

    scope: UUID
    run: Any
    writes: bool = True
    cancelled: bool = False


class Database:
    """One file, one connection, and transactions that are always taken back."""

    def __init__(self, path: Path) -> None:
        migrate(str(path))
        self.backend = SqliteBackend(sqlite_url(path), lambda: NOW)
        self.connection = connect(path)
        self.cursor = self.connection.cursor()

    def fill(self, scope: UUID, prefix: str) -> None:
        def rows(tx: Transaction) -> None:
            add_organization(tx, prefix)
            for number, name in enumerate(USERS):
                add_user(tx, f"{prefix} {name}", str(number))
                row = {"id": UUID(int=scope.int * 1000 + number), "slug": str(number)}
                tx.run(insert(agents), name=f"{prefix} {name}", created_at=tx.now, **row)
            add_source(tx, prefix)

        self.backend.run(Ready(scope, rows), self.cursor)  # type: ignore[arg-type]  # all that it needs

    def outcome(self, statement: Any, values: dict[str, Any]) -> tuple[Any, Any]:
        """What the statement answers our organization, and everything of ours and theirs after it."""
        self.cursor.execute("BEGIN")
        try:
            work = Ready(OURS, lambda tx: tx.all(statement, **values))
            rows: Any = self.backend.run(work, self.cursor)  # type: ignore[arg-type]  # all that it needs
            answer: Any = sorted((tuple(row) for row in rows), key=repr)
        except GuardError:
            answer = "refused"
        except sqlite3.Error as error:
            answer = type(error).__name__
        except Exception as error:  # noqa: BLE001 - the same on both, whatever it is
            answer = type(error).__name__
        left = self.everything()
        self.connection.rollback()
        return answer, left

    def everything(self) -> dict[str, list[Any]]:
        found = {}
        for name in ("organizations", "users", "agents", "knowledge_sources", "knowledge_chunks"):
            self.cursor.execute(f"SELECT * FROM {name} ORDER BY 1")  # noqa: S608 - a test's own
            found[name] = self.cursor.fetchall()
        return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Database]]:
    folder = tmp_path_factory.mktemp("oracle")
    shared, alone = Database(folder / "shared.db"), Database(folder / "alone.db")
    for scope, prefix in ((OURS, "Our"), (THEIRS, "Their")):
        shared.fill(scope, prefix)
    # The very rows of ours, ids and all.
    everything = shared.everything()
    our_sources = sources_of(OURS, everything)
    for name, rows in everything.items():
        ours = [row for row in rows if is_ours(row, our_sources)]
        marks = ", ".join("?" * len(rows[0]))
        alone.cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", ours)  # noqa: S608 - a test's own
    yield shared, alone
    shared.connection.close()
    alone.connection.close()


def is_ours(row: tuple[Any, ...], our_sources: set[str]) -> bool:
    """Whether a row names our organization, or a source of ours (as chunks do)."""
    return OURS.hex in row or not our_sources.isdisjoint(row)


def sources_of(scope: UUID, rows: dict[str, list[Any]]) -> set[str]:
    return {row[0] for row in rows["knowledge_sources"] if scope.hex in row}


def columns_of(source: Any) -> list[Any]:
    return [column for column in source.c if column.name in {"id", "name", "title", "text", "slug"}]


def texts_of(source: Any) -> list[Any]:
    return [column for column in columns_of(source) if column.name != "id"]


@st.composite
def predicates(draw: Any, sources: list[Any], depth: int) -> Any:
    """A condition over `sources`, plain or made of others."""
    kinds = [plain(sources)]
    if depth:
        inner = predicates(sources, depth - 1)
        kinds += [
            st.builds(or_, inner, inner),
            st.builds(and_, inner, inner),
            st.builds(not_, inner),
            st.builds(lambda a, b: case((a, True), else_=b) == true(), inner, st.booleans()),
            queried(sources, depth),
        ]
    return draw(st.one_of(kinds))


@st.composite
def plain(draw: Any, sources: list[Any]) -> Any:
    columns = [column for source in sources for column in texts_of(source)]
    column, other = draw(st.sampled_from(columns)), draw(st.sampled_from(columns))
    own = [mine(source) for source in sources if scoped(source)]
    constants = ["Our Ana", "Their Ben", "Their", "0"]
    return draw(
        st.sampled_from(
            [column == other, column.like("%a%"), true(), false(), *own]
            + [column == constant for constant in constants]
        )
    )


@st.composite
def queried(draw: Any, sources: list[Any], depth: int) -> Any:
    columns = [column for source in sources for column in texts_of(source)]
    query = draw(selects(depth - 1, outer=sources, width=1))
    if draw(st.booleans()):
        return exists(query.subquery())
    return draw(st.sampled_from(columns)).in_(query)


def scoped(source: Any) -> bool:
    table = base_table(source)
    return table is not None and hasattr(tenancy_of(table), "platform")


@st.composite
def froms(draw: Any, depth: int) -> tuple[Any, list[Any]]:
    kinds = ["users", "agents", "alias", "sources", "organizations", "chunks"]
    if depth:
        kinds += ["join", "outer", "subquery", "cte", "full"]
    kind = draw(st.sampled_from(kinds))
    if kind in {"join", "outer", "full"}:
        left, some = draw(froms(depth - 1))
        right, others = draw(froms(depth - 1))
        on = draw(predicates([*some, *others], 0))
        joined = left.join(right, on, isouter=kind == "outer", full=kind == "full")
        return joined, [*some, *others]
    if kind == "chunks":
        chunk, parent = knowledge_chunks.alias(), knowledge_sources.alias()
        on = chunk.c.source_id == parent.c.id
        if draw(st.integers(0, 4)) == 0:
            on = or_(on, true())
        return chunk.join(parent, on), [chunk, parent]
    if kind in {"subquery", "cte"}:
        query = draw(selects(depth - 1, outer=[], width=2))
        derived = query.subquery() if kind == "subquery" else query.cte()
        return derived, [derived]
    table = {
        "users": users.alias(),
        "agents": agents.alias(),
        "alias": users.alias(),
        "sources": knowledge_sources.alias(),
        "organizations": organizations.alias(),
    }[kind]
    return table, [table]


@st.composite
def selects(draw: Any, depth: int, outer: list[Any], width: int) -> Any:
    source, sources = draw(froms(max(depth, 0)))
    columns = [column for each in sources for column in texts_of(each)]
    wanted = draw(st.lists(st.sampled_from(columns), min_size=width, max_size=width))
    wanted = [column.label("title" if n else "name") for n, column in enumerate(wanted)]
    query = select(*wanted).select_from(source)
    for _ in range(draw(st.integers(0, 2))):
        query = query.where(draw(predicates([*sources, *outer], max(depth, 0))))
    shape = draw(st.sampled_from(["plain", "distinct", "union", "aggregate"]))
    if shape == "distinct":
        return query.distinct()
    if shape == "union" and depth > 0:
        other = draw(selects(depth - 1, outer=[], width=width))
        return query.union_all(other) if hasattr(other, "where") else query
    if shape == "aggregate" and width == 1:
        return query.with_only_columns(
            func.count(wanted[0]).label("name"), maintain_column_froms=True
        )
    return query


@st.composite
def changes(draw: Any) -> tuple[Any, dict[str, Any]]:
    table = draw(
        st.sampled_from([users, agents, knowledge_sources, knowledge_chunks, organizations])
    )
    names = [column.name for column in columns_of(table) if column.name != "id"]
    if draw(st.booleans()) and table in {users, agents}:
        key = "external_id" if table is users else "slug"
        row = {"id": UUID(int=draw(st.integers(990, 2010))), key: draw(st.sampled_from("0129"))}
        keys = draw(st.sampled_from([["organization_id", key], ["id"], [key]]))
        statement = draw(st.sampled_from([insert(table), upsert(table, keys, set_=["name"])]))
        if table is agents:
            return statement.returning(table.c.id), {**row, "name": "new", "created_at": NOW}
        return statement.returning(table.c.id), {**row, "name": "new", "created_at": NOW}
    predicate = draw(predicates([table], 2))
    if table is knowledge_chunks and draw(st.booleans()):
        predicate = and_(
            predicate, knowledge_chunks.c.source_id.in_(select(knowledge_sources.c.id))
        )
    if draw(st.booleans()):
        return delete(table).where(predicate).returning(table.c.id), {}
    name = draw(st.sampled_from(names)) if names else "name"
    values = {name: draw(st.sampled_from(["x", func.lower(table.c[name])]))}
    if draw(st.integers(0, 5)) == 0:
        values = {"organization_id": THEIRS}
    return update(table).where(predicate).values(values).returning(table.c.id), {}


MANY = settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)


@MANY
@given(selects(3, outer=[], width=2))
def test_a_read_answers_as_if_no_other_organization_existed(
    both: tuple[Database, Database], statement: Any
) -> None:
    shared, alone = both
    assert shared.outcome(statement, {})[0] == alone.outcome(statement, {})[0]


@MANY
@given(changes())
def test_a_write_changes_as_if_no_other_organization_existed(
    both: tuple[Database, Database], change: tuple[Any, dict[str, Any]]
) -> None:
    shared, alone = both
    before = shared.everything()
    our_sources = sources_of(OURS, before)
    statement, values = change
    answer, left = shared.outcome(statement, values)
    expected, remaining = alone.outcome(statement, values)
    for name, rows in left.items():
        theirs = [row for row in rows if not is_ours(row, our_sources)]
        assert theirs == [row for row in before[name] if not is_ours(row, our_sources)]
    if answer == "ConstraintViolated" and expected != answer:
        # An id that another organization has is refused, and nothing more is learned.
        assert values["id"].int // 1000 == THEIRS.int
        return
    assert answer == expected
    for name, rows in left.items():
        ours = [row for row in rows if is_ours(row, our_sources)]
        assert ours == [row for row in remaining[name] if is_ours(row, our_sources)]


def test_the_oracle_notices_a_statement_that_is_not_scoped(both: tuple[Database, Database]) -> None:
    shared, alone = both
    everyone = "SELECT name FROM users ORDER BY 1"
    found = [database.cursor.execute(everyone).fetchall() for database in (shared, alone)]
    assert found[0] != found[1]
    wanted = select(users.c.name).where(
        one_of(users.c.name, "wanted"), users.c.name != bindparam("x", "")
    )
    values = {"wanted": ["Our Ana", "Their Ana"]}
    assert shared.outcome(wanted, values)[0] == [("Our Ana",)]
