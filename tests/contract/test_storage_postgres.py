"""PostgreSQL's own layer: row security beneath the guard, roles, lost connections, lost races."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import bindparam, select, update

from memoranda.storage import (
    PLATFORM,
    Storage,
    StorageBusy,
    StorageUnavailable,
    Transaction,
    UnsafeRole,
    migrate,
)
from memoranda.storage.dialects import postgres_schema, postgres_session
from memoranda.storage.scope import Shared, tenancy_of
from memoranda.storage.tables import METADATA, users
from memoranda.words.errors import Invalid
from memoranda.words.ids import new_id
from tests.contract.storage_rows import (
    NAMES,
    Two,
    add_user,
    names,
    new_organization,
)
from tests.postgres import Postgres, database_of

RENAME = update(users).where(users.c.id == bindparam("user")).values(name=bindparam("new_name"))
SETTING = "memoranda.organization"


@pytest.fixture
async def storage(postgres_database: str) -> AsyncIterator[Storage]:
    opened = await Storage.open(postgres_database)
    yield opened
    await opened.close()


def as_server(url: str, organization: UUID | str | None) -> psycopg.Connection:
    """A raw connection of the server's own role, in a transaction of that organization."""
    connection = psycopg.connect(url)
    if organization is not None:
        connection.execute("SELECT set_config(%s, %s, false)", (SETTING, str(organization)))
    return connection


async def test_raw_sql_of_the_servers_role_sees_its_organization_alone(
    two: Two, postgres_database: str
) -> None:
    with as_server(postgres_database, two.ours) as connection:
        assert connection.execute("SELECT name FROM users").fetchall() == [("Our Ana",)]
        assert connection.execute("SELECT title FROM knowledge_sources").fetchall() == [("ours",)]
        assert connection.execute("SELECT text FROM knowledge_chunks").fetchall() == [("ours",)]
        assert connection.execute("SELECT content FROM knowledge_uploads").fetchall() == [
            (b"ours",)
        ]
        assert connection.execute("SELECT name FROM organizations").fetchall() == [("ours",)]
        theirs = (two.their_user,)
        for statement in (
            "UPDATE users SET name = 'x' WHERE id = %s",
            "DELETE FROM users WHERE id = %s",
        ):
            assert connection.execute(statement, theirs).rowcount == 0
        assert connection.execute("DELETE FROM knowledge_chunks").rowcount == 1


@pytest.mark.parametrize(
    "statement",
    [
        (
            "INSERT INTO users (id, organization_id, name, created_at)"
            " VALUES (gen_random_uuid(), %(theirs)s, 'x', now())"
        ),
        "UPDATE users SET organization_id = %(theirs)s",
        (
            "INSERT INTO knowledge_chunks (id, source_id, ordinal, text, tokens)"
            " VALUES (gen_random_uuid(), %(source)s, 9, 'x', 1)"
        ),
        "UPDATE knowledge_chunks SET source_id = %(source)s",
        "UPDATE knowledge_sources SET organization_id = NULL",
        (
            "INSERT INTO users (id, organization_id, name, created_at)"
            " VALUES (%(user)s, %(ours)s, 'x', now())"
            " ON CONFLICT (id) DO UPDATE SET name = 'x'"
        ),
    ],
)
async def test_raw_sql_of_the_servers_role_gives_nothing_away_and_takes_nothing(
    two: Two, postgres_database: str, statement: str
) -> None:
    values = {
        "theirs": two.theirs,
        "ours": two.ours,
        "source": two.their_source,
        "user": two.their_user,
    }
    with (
        as_server(postgres_database, two.ours) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
    ):
        connection.execute(statement, values)


@pytest.mark.parametrize("organization", [None, "", "nonsense"])
async def test_a_connection_that_names_no_organization_gets_an_error_and_no_empty_answer(
    two: Two, postgres_database: str, organization: str | None
) -> None:
    for name in ("users", "knowledge_sources", "knowledge_chunks", "organizations"):
        with (
            as_server(postgres_database, organization) as connection,
            pytest.raises(psycopg.errors.DataError if organization is not None else psycopg.Error),
        ):
            connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name)))


async def test_the_setting_ends_with_its_transaction(storage: Storage, two: Two) -> None:
    """Whichever connection a transaction gets, nothing of the one before it is left."""
    sessions: set[str] = set()

    def setting(tx: Transaction) -> str:
        cursor = tx._cursor
        cursor.execute("SELECT current_setting(%s), pg_backend_pid()", (SETTING,))
        said, process = cursor.fetchone()
        sessions.add(process)
        return str(said)

    for _ in range(5):
        scopes = [two.ours, two.theirs, PLATFORM] * 4
        found = await asyncio.gather(*(storage.read(scope, setting) for scope in scopes))
        expected = ["platform" if scope is PLATFORM else str(scope) for scope in scopes]
        assert found == expected
    assert sessions


async def test_interleaved_organizations_never_get_each_others_rows(
    storage: Storage, two: Two
) -> None:
    async def work(scope: UUID, prefix: str) -> None:
        for number in range(30):
            await storage.write(scope, add_user, f"{prefix} {number}")
            assert all(name.startswith(prefix) for name in await storage.read(scope, names))

    await asyncio.gather(*(work(two.ours, "Our") for _ in range(3)), *(work(two.theirs, "Their") for _ in range(3)))  # fmt: skip
    assert len(await storage.read(two.ours, names)) == 91


async def test_every_table_of_organizations_has_its_policy_forced(postgres_database: str) -> None:
    with psycopg.connect(postgres_database) as connection:
        rows = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity,"
            " (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid AND polqual IS NOT NULL"
            "  AND polwithcheck IS NOT NULL AND polcmd = '*')"
            " FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
        ).fetchall()
    found = {name: (forced, policies) for name, forced, policies in rows}
    assert found.pop("alembic_version") == (False, 0)
    assert found == {
        table.name: (False, 0) if isinstance(tenancy_of(table), Shared) else (True, 1)
        for table in METADATA.tables.values()
    }


@pytest.mark.parametrize("right", ["SUPERUSER", "BYPASSRLS"])
async def test_a_role_that_could_look_past_row_security_is_refused_and_told_what_to_do(
    postgres: Postgres, right: str
) -> None:
    role = f"unsafe_{right.lower()}"
    with psycopg.connect(postgres.superuser_url, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
        admin.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} " + right).format(
                sql.Identifier(role), sql.Literal(postgres.password)
            )
        )
    fresh = postgres.new_database()
    url = postgres.url(database_of(fresh), role)
    with pytest.raises(UnsafeRole, match="CREATE ROLE memoranda LOGIN"):
        migrate(url)
    with psycopg.connect(fresh) as connection:
        made = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert made.fetchone() == (0,), "it had begun to make tables"
    migrate(fresh)
    with pytest.raises(UnsafeRole, match=f"{right if right == 'BYPASSRLS' else 'superuser'}"):
        await Storage.open(url)


async def test_a_role_that_may_make_nothing_in_the_schema_is_told_what_to_grant(
    postgres: Postgres,
) -> None:
    """As in a database that somebody else owns, whose `public` is closed by default."""
    database = f"owned_{new_id().hex}"
    own = postgres.superuser_url.removesuffix("/postgres") + f"/{database}"
    url = postgres.url(database)
    with psycopg.connect(postgres.superuser_url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    grant = ""
    for right in ("CREATE", "USAGE"):
        with psycopg.connect(own, autocommit=True) as admin:
            admin.execute(sql.SQL("REVOKE " + right + " ON SCHEMA public FROM PUBLIC"))
        with pytest.raises(StorageUnavailable, match="may not make tables") as refused:
            migrate(url)
        grant = str(refused.value).splitlines()[-1].strip()
    assert grant == "GRANT USAGE, CREATE ON SCHEMA public TO memoranda;"
    with psycopg.connect(own, autocommit=True) as admin:
        admin.execute(grant.encode())
    migrate(url)
    await (await Storage.open(url)).close()
    postgres.drop_database(url)


async def test_a_server_that_does_not_answer_is_unavailable() -> None:
    url = "postgresql://nobody:nothing@127.0.0.1:1/none"
    with pytest.raises(StorageUnavailable):
        await Storage.open(url)
    with pytest.raises(StorageUnavailable):
        migrate(url)


def end_all(postgres: Postgres, url: str) -> int:
    with psycopg.connect(postgres.superuser_url, autocommit=True) as admin:
        rows = admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            (database_of(url),),
        ).fetchall()
    return len(rows)


async def test_a_connection_that_is_lost_in_mid_transaction_is_a_clear_retryable_error(
    storage: Storage, postgres: Postgres, postgres_database: str
) -> None:
    organization = await new_organization(storage)

    def lose(tx: Transaction) -> None:
        add_user(tx, "never kept")
        end_all(postgres, postgres_database)
        names(tx)

    for _ in range(3):
        with pytest.raises(StorageUnavailable) as lost:
            await storage.write(organization, lose)
        assert lost.value.retryable
    await storage.write(organization, add_user, "after")
    assert await storage.read(organization, names) == ["after"]


async def test_idle_connections_that_were_lost_are_replaced_and_nobody_notices(
    storage: Storage, postgres: Postgres, postgres_database: str
) -> None:
    organization = await new_organization(storage)
    await asyncio.gather(*(storage.read(organization, names) for _ in range(30)))
    assert end_all(postgres, postgres_database) > 0
    await asyncio.gather(*(storage.write(organization, add_user, "x") for _ in range(30)))
    assert end_all(postgres, postgres_database) > 0
    seen = await asyncio.gather(*(storage.read(organization, names) for _ in range(30)))
    assert [len(each) for each in seen] == [30] * 30


async def test_a_connection_lost_during_the_commit_says_that_the_outcome_is_unknown(
    storage: Storage, postgres: Postgres, postgres_database: str
) -> None:
    organization = await new_organization(storage)

    def lose(tx: Transaction) -> None:
        add_user(tx, "who knows")
        end_all(postgres, postgres_database)

    with pytest.raises(StorageUnavailable, match="may or may not") as lost:
        await storage.write(organization, lose)
    assert lost.value.details == {"outcome": "unknown"}


async def test_two_writes_that_lock_each_other_out_are_both_done(storage: Storage) -> None:
    organization = await new_organization(storage)
    first = await storage.write(organization, add_user, "0")
    second = await storage.write(organization, add_user, "0")
    name = select(users.c.name).where(users.c.id == bindparam("user"))
    runs: list[str] = []

    def cross(tx: Transaction, one: UUID, other: UUID) -> None:
        runs.append("run")
        for user in (one, other):
            row = tx.one(name.with_for_update(), user=user)
            tx.run(RENAME, user=user, new_name=str(int(row.name) + 1))
            tx.one(select(users.c.id))

    pairs = [(first, second), (second, first)] * 2
    await asyncio.gather(*(storage.write(organization, cross, *pair) for pair in pairs))
    assert await storage.read(organization, names) == ["4", "4"]


async def test_a_write_that_lost_a_race_runs_again_even_if_it_swallowed_the_news(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)
    tries: list[int] = []

    def careless(tx: Transaction) -> int:
        tries.append(len(tries))
        add_user(tx, f"try {len(tries)}")
        if len(tries) < 3:
            broken = psycopg.errors.SerializationFailure()
            tx._broken = tx._port.failure(broken)  # what a statement that met one leaves behind
        return len(tries)

    assert await storage.write(organization, careless) == 3
    assert await storage.read(organization, names) == ["try 3"]


async def test_a_write_that_loses_every_race_is_busy(storage: Storage) -> None:
    organization = await new_organization(storage)
    tries: list[int] = []

    def unlucky(tx: Transaction) -> None:
        tries.append(1)
        raise psycopg.errors.DeadlockDetected

    with pytest.raises(StorageBusy):
        await storage.write(organization, unlucky)
    assert len(tries) == postgres_session.TRIES


async def test_waiting_for_a_lock_is_bounded(
    storage: Storage, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_session, "LOCK_SECONDS", 1)
    organization = await new_organization(storage)
    user = await storage.write(organization, add_user, "x")
    with as_server(postgres_database, organization) as holder:
        holder.execute("UPDATE users SET name = 'held' WHERE id = %s", (user,))
        with pytest.raises(StorageBusy):
            await storage.write(organization, lambda tx: tx.run(RENAME, user=user, new_name="y"))
    assert await storage.read(organization, lambda tx: tx.all(NAMES)) == [("held",)]


async def test_what_is_larger_than_an_index_takes_is_invalid_and_not_to_be_tried_again(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)
    scattered = "".join(map(chr, range(0x4E00, 0x4E00 + 10_000)))  # a page of it does not compress
    with pytest.raises(Invalid, match="can't be stored") as caught:
        await storage.write(organization, add_user, "x", scattered)
    assert not caught.value.retryable
    assert await storage.read(organization, names) == []


def test_a_wrong_password_is_told_from_a_server_that_is_away() -> None:
    error = psycopg.OperationalError('connection failed: password authentication failed for "ada"')
    said = postgres_schema.refused_login("postgresql://ada:wrong@127.0.0.1/db", error)
    assert said is not None
    assert "does not let ada in" in said
    assert "wrong" not in said
    away = psycopg.OperationalError("connection refused")
    assert postgres_schema.refused_login("postgresql://ada@127.0.0.1/db", away) is None
