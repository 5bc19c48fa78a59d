"""Where pgvector is missing, old or out of sight, nothing is made and the message says what to run."""

from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql

from memoranda.storage import Storage, StorageUnavailable, migrate
from memoranda.storage.health import examine
from memoranda.words.ids import new_id
from tests.postgres import ROLE, Postgres

Run = Callable[[str], None]


@pytest.fixture
def bare(postgres: Postgres) -> tuple[str, Run]:
    """A database of the role's own without pgvector, and an administrator's hand in it."""
    name = f"bare_{new_id().hex}"
    own = postgres.superuser_url.removesuffix("/postgres") + f"/{name}"
    with psycopg.connect(postgres.superuser_url, autocommit=True) as admin:
        making = "CREATE DATABASE {} OWNER {} TEMPLATE template0"
        admin.execute(sql.SQL(making).format(sql.Identifier(name), sql.Identifier(ROLE)))

    def run(statement: str) -> None:
        with psycopg.connect(own, autocommit=True) as admin:
            admin.execute(statement.encode())

    return postgres.url(name), run


def refusal(url: str) -> str:
    """What migrating says; it leaves no table behind."""
    with pytest.raises(StorageUnavailable) as refused:
        migrate(url)
    with psycopg.connect(url) as server:
        made = server.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert made.fetchone() == (0,)
    return str(refused.value)


def told(message: str) -> str:
    """The line to run, which stands last."""
    return message.splitlines()[-1].strip()


async def test_a_role_that_may_not_add_it_is_told_what_an_administrator_runs(
    bare: tuple[str, Run],
) -> None:
    url, run = bare
    message = refusal(url)
    assert "lacks pgvector" in message
    assert told(message) == "CREATE EXTENSION vector;"
    run(told(message))
    migrate(url)
    await (await Storage.open(url)).close()


def test_one_that_is_too_old_is_told_to_be_updated(bare: tuple[str, Run]) -> None:
    url, run = bare
    run("CREATE EXTENSION vector")
    run("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    message = refusal(url)
    assert "has pgvector 0.7.4" in message
    assert told(message) == "ALTER EXTENSION vector UPDATE;"
    run("UPDATE pg_extension SET extversion = '0.8.0' WHERE extname = 'vector'")
    migrate(url)


def test_one_in_a_schema_that_nobody_looks_into_is_told_to_be_moved(
    bare: tuple[str, Run],
) -> None:
    url, run = bare
    run("CREATE SCHEMA elsewhere")
    run("CREATE EXTENSION vector SCHEMA elsewhere")
    message = refusal(url)
    assert told(message) == "ALTER EXTENSION vector SET SCHEMA public;"
    run(told(message))
    migrate(url)


def test_a_role_that_may_adds_it_itself(
    bare: tuple[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on servers where an administrator marked it as trusted: here an administrator stands in."""
    url, run = bare
    run(f"ALTER ROLE {ROLE} SUPERUSER")
    try:
        monkeypatch.setattr(
            "memoranda.storage.dialects.postgres_schema.refuse_unsafe_role", lambda _: None
        )
        migrate(url)
    finally:
        run(f"ALTER ROLE {ROLE} NOSUPERUSER")
    with psycopg.connect(url) as server:
        found = server.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
        assert found.fetchone() == (1,)


def test_the_doctor_says_that_it_is_missing(bare: tuple[str, Run]) -> None:
    url, run = bare
    missing = {each.name: each for each in examine(url)}["pgvector"]
    assert missing.ok is False
    assert "CREATE EXTENSION vector;" in missing.detail
    run("CREATE EXTENSION vector")
    there = {each.name: each for each in examine(url)}["pgvector"]
    assert there.ok is True
    assert "0.8" in there.detail
