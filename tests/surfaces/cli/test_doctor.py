"""The doctor finds what is wrong, changes nothing, and tells scripts by its exit code."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from memoranda.storage.dialects.postgres import conninfo
from tests.postgres import Postgres
from tests.surfaces.cli.terminal import Cli


def checks(value: Any) -> dict[str, bool | None]:
    return {each["name"]: each["ok"] for each in value["checks"]}


def test_a_healthy_database_is_in_order_on_both_backends(cli: Cli) -> None:
    value = cli.json("doctor")
    assert value["healthy"] is True
    assert (
        checks(value).items()
        >= {
            "python": True,
            "database": True,
            "schema": True,
            "worker_backlog": True,
            "source_failures": True,
        }.items()
    )
    assert "Everything is in order." in cli("doctor").out


def test_sqlite_is_checked_for_durability(sqlite_database: str) -> None:
    value = Cli(sqlite_database).json("doctor")
    assert checks(value)["write_ahead_log"] is True
    assert checks(value)["durability"] is True


def test_postgres_is_checked_for_row_security(postgres_database: str) -> None:
    value = Cli(postgres_database).json("doctor")
    assert checks(value)["role"] is True
    assert checks(value)["row_security"] is True
    assert "pgvector" in checks(value)


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    value = Cli(str(path)).json("doctor")
    assert value["healthy"] is True
    assert checks(value)["database"] is None
    assert not path.exists()


def test_a_file_that_is_no_database_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "letter.db"
    path.write_bytes(b"Dear database, " * 500)
    ended = Cli(str(path))("doctor", "--json")
    assert ended.code == 10
    assert ended.json["healthy"] is False
    assert checks(ended.json)["database"] is False


def test_a_superuser_is_a_fault(postgres: Postgres) -> None:
    ended = Cli(postgres.superuser_url)("doctor", "--json")
    assert ended.code == 10
    assert checks(ended.json)["role"] is False


def test_a_server_that_does_not_answer_is_a_fault_without_its_password() -> None:
    ended = Cli("postgresql://nobody:swordfish@127.0.0.1:9/x")("doctor")
    assert ended.code == 10
    assert "swordfish" not in ended.out + ended.err


def test_a_failed_document_is_mentioned(local: Cli, tmp_path: Path) -> None:
    path = tmp_path / "picture.md"
    path.write_bytes(b"\x89PNG\0\0")
    assert local("knowledge", "add", str(path)).code == 10
    value = local.json("doctor")
    assert value["healthy"] is True
    assert checks(value)["source_failures"] is None
    [told] = [each["detail"] for each in value["checks"] if each["name"] == "source_failures"]
    assert told.startswith("1 document could not be read")


@pytest.mark.parametrize("lost", ["memories", "api_keys"])
def test_a_table_without_row_security_is_a_fault(postgres_database: str, lost: str) -> None:
    with psycopg.connect(conninfo(postgres_database), autocommit=True) as owner:
        owner.execute(
            sql.SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY").format(sql.Identifier(lost))
        )
    ended = Cli(postgres_database)("doctor", "--json")
    assert ended.code == 10
    assert checks(ended.json)["row_security"] is False


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE notes (text)")
    before = path.read_bytes()
    ended = Cli(str(path))("doctor", "--json")
    assert ended.code == 10
    assert checks(ended.json)["database"] is False
    assert "another program's tables (notes)" in ended.out
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.db"]


def test_another_programs_tables_in_postgresql_are_a_fault(postgres: Postgres) -> None:
    url = postgres.new_database()
    with psycopg.connect(url) as server:
        server.execute("CREATE TABLE users (name TEXT)")
    ended = Cli(url)("doctor", "--json")
    assert ended.code == 10
    assert checks(ended.json)["schema"] is False
    assert "another program's tables (users)" in ended.out


def test_before_the_first_migration_no_table_is_asked_for(postgres: Postgres) -> None:
    url = postgres.new_database()
    try:
        value = Cli(url).json("doctor")
        assert value["healthy"] is True
        assert checks(value)["schema"] is None
        assert "row_security" not in checks(value)
    finally:
        postgres.drop_database(url)


def test_a_wrong_password_is_called_one(postgres_database: str) -> None:
    wrong = re.sub(r":[^:@/]+@", ":swordfish@", postgres_database)
    assert wrong != postgres_database
    ended = Cli(wrong)("doctor")
    assert ended.code == 10
    assert "check the user and the password" in " ".join(ended.out.split())
    assert "swordfish" not in ended.out + ended.err


def test_a_place_that_can_hold_no_database_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear database", "utf-8")
    ended = Cli(str(tmp_path / "letter" / "notes.db"))("doctor", "--json")
    assert ended.code == 10
    assert checks(ended.json)["database"] is False
