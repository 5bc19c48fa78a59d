"""The schema that migrations make is the one that the tables declare, however many ask for it at once."""

import asyncio
import multiprocessing
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType

from memoranda.storage import SchemaMismatch, Storage, StorageUnavailable, migrate
from memoranda.storage.dialects.postgres_vectors import index_name
from memoranda.storage.errors import ForeignDatabase
from memoranda.storage.schema import HEAD, MIGRATIONS, migration_engine
from memoranda.storage.tables import METADATA
from memoranda.storage.vectors import INDEXED_DIMENSIONS
from memoranda.words.errors import Invalid
from memoranda.words.ids import new_id
from tests.contract.storage_rows import add_user, names, new_organization
from tests.postgres import Postgres


def set_version(url: str, version: str) -> None:
    statement = f"UPDATE alembic_version SET version_num = '{version}'"  # noqa: S608 - a test's own
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute(statement)
        connection.close()
    else:
        with psycopg.connect(url) as server:
            server.execute(statement)


def migrate_in_another_process(url: str) -> None:
    migrate(url)


def test_head_is_the_newest_migration() -> None:
    files = sorted(path.name for path in (MIGRATIONS / "versions").glob("*.py"))
    assert files[-1].startswith(f"{HEAD}_")
    for number, name in enumerate(files, start=1):
        text = (MIGRATIONS / "versions" / name).read_text("utf-8")
        assert re.search(r'^revision = "(\w+)"', text, re.MULTILINE)[1] == f"{number:04}"  # type: ignore[index]  # it is there


class HalfVector(UserDefinedType[bytes]):
    """What SQLAlchemy finds where pgvector's type stands, which it does not know by itself."""

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec"


def declared(_: Any, name: str | None, *_more: Any) -> bool:
    """Whether tables declare it; indexes of vectors are PostgreSQL's alone."""
    return name not in {index_name(dimensions) for dimensions in INDEXED_DIMENSIONS}


async def test_an_empty_database_becomes_what_the_tables_declare(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ischema_names, "halfvec", HalfVector)
    migrate(empty)
    engine = migration_engine(empty)
    with engine.begin() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": compare_default,
                "include_object": declared,
            },
        )
        assert compare_metadata(context, METADATA) == []
    engine.dispose()
    storage = await Storage.open(empty)
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "x")
    assert await storage.read(organization, names) == ["x"]
    await storage.close()


def compare_default(*found: Any) -> bool:
    """Both spell `false` in their own way; what matters is whether there is a default at all."""
    inspected, declared = found[4], found[5]
    return (inspected is None) != (declared is None)


async def test_migrating_again_changes_nothing(empty: str) -> None:
    migrate(empty)
    storage = await Storage.open(empty)
    organization = await new_organization(storage)
    migrate(empty)
    await storage.write(organization, add_user, "x")
    migrate(empty)
    assert await storage.read(organization, names) == ["x"]
    await storage.close()


def test_processes_that_migrate_at_once_wait_for_each_other(empty: str) -> None:
    context = multiprocessing.get_context("forkserver")
    processes = [
        context.Process(target=migrate_in_another_process, args=(empty,)) for _ in range(5)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 5


async def test_a_database_of_a_newer_version_is_left_alone(database_url: str) -> None:
    set_version(database_url, "9999")
    with pytest.raises(SchemaMismatch, match="newer"):
        migrate(database_url)
    with pytest.raises(SchemaMismatch, match="newer"):
        await Storage.open(database_url)


async def test_a_database_without_a_schema_is_not_opened(empty: str) -> None:
    with pytest.raises(SchemaMismatch, match="memoranda migrate"):
        await Storage.open(empty)
    if empty.startswith("sqlite"):
        assert not Path(empty.removeprefix("sqlite:///")).exists()  # noqa: ASYNC240 - nothing else runs


async def test_a_file_that_is_no_database_is_unavailable_and_stays_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are somebody's notes, and no database\n" * 100)
    with pytest.raises(StorageUnavailable):
        await Storage.open(str(path))
    with pytest.raises(StorageUnavailable):
        migrate(str(path))
    assert path.read_text().startswith("these are")


async def test_another_programs_database_is_not_taken_over_by_opening_it(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch):
        await Storage.open(str(path))
    assert path.read_bytes() == before


OTHERS = {
    "tables": ["CREATE TABLE theirs (x INTEGER)"],
    "one of our names": ["CREATE TABLE users (x INTEGER)"],
    "a view": ["CREATE VIEW users AS SELECT 1 AS x"],
    "versions": ["CREATE TABLE alembic_version (x TEXT)", "CREATE TABLE theirs (x INTEGER)"],
}


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
async def test_another_programs_file_is_never_migrated(
    tmp_path: Path, statements: list[str]
) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(ForeignDatabase, match=re.escape(str(path))):
        migrate(str(path))
    with pytest.raises(ForeignDatabase, match="name another file"):
        await Storage.open(str(path))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.db"]  # noqa: ASYNC240 - nothing else runs


@pytest.mark.parametrize("kind", ["one of our names", "a view", "versions"])
async def test_another_programs_tables_in_postgresql_are_not_mixed_with_ours(
    postgres: Postgres, kind: str
) -> None:
    url = postgres.new_database()
    listed = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    with psycopg.connect(url) as server:
        for statement in OTHERS[kind]:
            server.execute(statement)
        before = server.execute(listed).fetchall()
    with pytest.raises(ForeignDatabase, match="a database of its own"):
        migrate(url)
    with pytest.raises(ForeignDatabase):
        await Storage.open(url)
    with psycopg.connect(url) as server:
        assert server.execute(listed).fetchall() == before


async def test_a_schema_that_is_made_later_hides_nothing(postgres: Postgres) -> None:
    url = postgres.new_database()
    migrate(url)
    with psycopg.connect(url) as server:
        server.execute("CREATE SCHEMA AUTHORIZATION CURRENT_USER")  # first in the search path
        server.execute("CREATE TABLE theirs (x INTEGER)")
    migrate(url)
    storage = await Storage.open(url)
    await storage.close()


async def test_a_schema_of_its_own_keeps_ours_apart_from_another_programs(
    postgres: Postgres,
) -> None:
    url = postgres.new_database()
    with psycopg.connect(url) as server:
        server.execute("CREATE TABLE public.users (x INTEGER)")
        server.execute("CREATE SCHEMA AUTHORIZATION CURRENT_USER")
    migrate(url)
    storage = await Storage.open(url)
    assert await storage.read(await new_organization(storage), names) == []
    await storage.close()


async def test_a_postgresql_database_may_hold_other_tables_beside_ours(postgres: Postgres) -> None:
    url = postgres.new_database()
    with psycopg.connect(url) as server:
        server.execute("CREATE TABLE theirs (x INTEGER)")
    migrate(url)
    migrate(url)
    storage = await Storage.open(url.replace("postgresql://", "postgres://"))
    await storage.close()


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("sqlite:rel.db", "sqlite:///file"),
        ("sqlite:/x.db", "sqlite:///file"),
        ("postgres:notes", "postgresql://"),
        ("postgresql:/x", "postgresql://"),
        ("", "empty"),
    ],
)
async def test_half_an_address_is_told_the_right_form(url: str, right: str) -> None:
    with pytest.raises(Invalid, match=right):
        migrate(url)
    with pytest.raises(Invalid, match=right):
        await Storage.open(url)


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "sqlite://", "sqlite:///:memory:", "http://x", "://", "oracle:x://"]
)
async def test_another_kind_of_database_is_invalid(url: str) -> None:
    with pytest.raises(Invalid):
        await Storage.open(url)
    with pytest.raises(Invalid):
        migrate(url)


async def test_a_bare_path_is_a_file(tmp_path: Path, migrated_sqlite: Path) -> None:
    shutil.copyfile(migrated_sqlite, tmp_path / "a file%20with?odd#name.db")
    storage = await Storage.open(str(tmp_path / "a file%20with?odd#name.db"))
    assert await asyncio.wait_for(storage.read(new_id(), names), 5) == []
    await storage.close()
