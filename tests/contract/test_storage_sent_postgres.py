"""Sent writes on PostgreSQL, where they travel together: lost connections, lost races, locks and cancels."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import bindparam, update

from memoranda.storage import Storage, StorageBusy, StorageUnavailable, Transaction
from memoranda.storage.dialects import postgres_session
from memoranda.storage.tables import users
from memoranda.words.errors import Invalid
from memoranda.words.ids import new_id
from tests.contract.storage_rows import NEW_USER, add_user, names, new_organization
from tests.contract.test_storage_cancel import cancelled_after, nothing_runs
from tests.contract.test_storage_postgres import as_server, end_all
from tests.contract.test_storage_sent import send_user
from tests.postgres import Postgres

RENAME = update(users).where(users.c.id == bindparam("user")).values(name=bindparam("new_name"))
PREPARED = "SELECT statement FROM pg_prepared_statements"


@pytest.fixture
async def storage(postgres_database: str) -> AsyncIterator[Storage]:
    opened = await Storage.open(postgres_database)
    yield opened
    await opened.close()


async def test_a_connection_lost_between_a_sent_write_and_a_statement_wrote_nothing(
    storage: Storage, postgres: Postgres, postgres_database: str
) -> None:
    organization = await new_organization(storage)

    def lose(tx: Transaction, *, before: bool) -> None:
        if before:
            end_all(postgres, postgres_database)
        send_user(tx, "never kept")
        if not before:
            end_all(postgres, postgres_database)
        names(tx)

    for number in range(4):
        with pytest.raises(StorageUnavailable) as lost:
            await storage.write(organization, lose, before=bool(number % 2))
        assert lost.value.retryable
        assert lost.value.details == {}
    assert await storage.read(organization, names) == []


async def test_a_connection_lost_between_a_sent_write_and_the_commit_is_no_success(
    storage: Storage, postgres: Postgres, postgres_database: str
) -> None:
    organization = await new_organization(storage)

    def lose(tx: Transaction) -> None:
        send_user(tx, "who knows")
        end_all(postgres, postgres_database)

    for _ in range(3):
        with pytest.raises(StorageUnavailable, match="may or may not") as lost:
            await storage.write(organization, lose)
        assert lost.value.details == {"outcome": "unknown"}
    assert await storage.read(organization, names) == []


@pytest.mark.parametrize("sends", [False, True])
async def test_a_connection_that_the_server_gave_up_is_told_as_a_lost_one(
    storage: Storage, *, sends: bool
) -> None:
    organization = await new_organization(storage)

    def sleep(tx: Transaction) -> None:
        tx._cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 20")
        time.sleep(0.2)
        if sends:
            send_user(tx, "never kept")
        names(tx)

    with pytest.raises(StorageUnavailable) as lost:
        await storage.write(organization, sleep)
    assert lost.value.details == {}
    assert await storage.read(organization, names) == []


async def test_sent_writes_that_lock_each_other_out_are_all_done(storage: Storage) -> None:
    organization = await new_organization(storage)
    both = [await storage.write(organization, add_user, "0") for _ in range(2)]
    runs: list[str] = []
    met = asyncio.Barrier(2)
    loop = asyncio.get_running_loop()

    async def meet() -> None:
        async with asyncio.timeout(10):
            await met.wait()

    def cross(tx: Transaction, one: UUID, other: UUID, *, at_the_end: bool) -> None:
        runs.append("run")
        tx.send(RENAME, user=one, new_name="1")
        names(tx)
        if len(runs) <= 2:  # each of them has its first row before it asks for the other's
            asyncio.run_coroutine_threadsafe(meet(), loop).result(10)
        tx.send(RENAME, user=other, new_name="1")
        if not at_the_end:
            names(tx)

    for at_the_end in (False, True):
        runs.clear()
        pairs = [both, both[::-1]]
        await asyncio.gather(
            *(storage.write(organization, cross, *pair, at_the_end=at_the_end) for pair in pairs)
        )
        assert len(runs) == 3, "one of them lost and ran again"
    assert await storage.read(organization, names) == ["1", "1"]


@pytest.mark.parametrize("at_the_end", [False, True])
async def test_a_sent_write_waits_for_a_lock_no_longer_than_any_other(
    storage: Storage, postgres_database: str, monkeypatch: pytest.MonkeyPatch, at_the_end: bool
) -> None:
    monkeypatch.setattr(postgres_session, "LOCK_SECONDS", 1)
    organization = await new_organization(storage)
    user = await storage.write(organization, add_user, "x")

    def wait(tx: Transaction) -> None:
        send_user(tx, "never kept")
        tx.send(RENAME, user=user, new_name="y")
        if not at_the_end:
            names(tx)

    with as_server(postgres_database, organization) as holder:
        holder.execute("UPDATE users SET name = 'held' WHERE id = %s", (user,))
        with pytest.raises(StorageBusy):
            await storage.write(organization, wait)
    assert await storage.read(organization, names) == ["held"]


@pytest.mark.parametrize("at_the_end", [False, True])
async def test_a_cancelled_transaction_whose_sent_write_waits_keeps_nothing(
    storage: Storage, postgres_database: str, at_the_end: bool
) -> None:
    organization = await new_organization(storage)
    user = await storage.write(organization, add_user, "x")

    def wait(tx: Transaction) -> None:
        send_user(tx, "never kept")
        tx.send(RENAME, user=user, new_name="never")
        if not at_the_end:
            names(tx)

    with as_server(postgres_database, organization) as holder:
        holder.execute("UPDATE users SET name = 'held' WHERE id = %s", (user,))
        waiting: asyncio.Task[Any] = asyncio.create_task(storage.write(organization, wait))
        assert await cancelled_after(0.3, waiting) < 0.5
        await asyncio.sleep(0.5)
    await nothing_runs(postgres_database)
    assert await storage.read(organization, names) == ["held"]
    for _ in range(3):
        await storage.write(organization, send_user, "after")
    assert await storage.read(organization, names) == ["after"] * 3 + ["held"]


async def test_a_lost_idle_connection_fails_no_sent_write(
    storage: Storage, postgres: Postgres, postgres_database: str
) -> None:
    organization = await new_organization(storage)
    for _ in range(3):
        assert end_all(postgres, postgres_database) > 0
        await asyncio.gather(*(storage.write(organization, send_user, "x") for _ in range(20)))
    assert len(await storage.read(organization, names)) == 60


async def test_a_sent_value_that_an_index_can_not_hold_is_invalid(storage: Storage) -> None:
    organization = await new_organization(storage)
    scattered = "".join(map(chr, range(0x4E00, 0x4E00 + 10_000)))

    def send(tx: Transaction) -> None:
        tx.send(NEW_USER, id=new_id(), name="x", external_id=scattered, created_at=tx.now)

    with pytest.raises(Invalid, match="can't be stored") as caught:
        await storage.write(organization, send)
    assert not caught.value.retryable
    assert await storage.read(organization, names) == []


async def test_sent_statements_are_prepared_and_the_connection_is_left_as_it_was(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)

    def look(tx: Transaction) -> tuple[list[str], bool]:
        cursor: Any = tx._cursor
        cursor.execute(PREPARED)
        found = [row[0] for row in cursor.fetchall()]
        return found, cursor._connection.pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF

    for _ in range(12):
        await storage.write(organization, send_user, "x")
    prepared, piped = await storage.write(organization, look)
    assert sum(each.startswith("INSERT INTO users") for each in prepared) == 1
    assert not piped
