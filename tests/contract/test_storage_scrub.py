"""What `scrub` promises: of rows deleted for good nothing is left, whatever the database did with them before."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.storage import PLATFORM, Storage, StorageUnavailable, Transaction, one_of
from memoranda.storage.dialects import sqlite_scrub
from memoranda.storage.dialects.sqlite_connection import connect
from memoranda.storage.signals import SCRUB, signal, signals
from memoranda.storage.tables import search_postings
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.storage_rows import new_organization
from tests.contract.traces import Scanner, log_size
from tests.postgres import Postgres

p = search_postings.c
ADD = insert(search_postings)
TERMS = select(p.term, p.document_id)
GROW = (
    update(search_postings)
    .where(p.document_id == bindparam("document"))
    .values(postings=bindparam("longer"))
)
DELETE = delete(search_postings).where(one_of(p.document_id, "documents"))
ROWS, ROWS_ON_SERVER = 6_000, 1_000


@pytest.fixture
def sqlite_scanner(sqlite_database: str) -> Scanner:
    return Scanner(sqlite_database, None)


@pytest.fixture
async def sqlite_storage(sqlite_database: str) -> AsyncIterator[Storage]:
    opened = await Storage.open(sqlite_database)
    yield opened
    await opened.close()


def word(chance: random.Random) -> str:
    return "".join(chance.choices("bcdfghjklmnpqrstvwxz", k=14))


def add(tx: Transaction, rows: dict[str, UUID]) -> None:
    tx.run_many(
        ADD,
        [
            {"collection": "c", "term": term, "document_id": document, "postings": bytes(8)}
            for term, document in rows.items()
        ],
    )


def grow(tx: Transaction, sizes: dict[UUID, int]) -> None:
    tx.run_many(GROW, [{"document": each, "longer": bytes(size)} for each, size in sizes.items()])


def remove(tx: Transaction, documents: list[UUID]) -> None:
    """Delete for good."""
    tx.run(DELETE, documents=documents)
    signal(tx, SCRUB)


async def terms(storage: Storage, organization: UUID) -> set[str]:
    return {row.term for row in await storage.read(organization, lambda tx: tx.all(TERMS))}


async def waits(storage: Storage) -> bool:
    return bool(await storage.read(PLATFORM, signals, SCRUB))


async def churn(
    storage: Storage, organization: UUID, chance: random.Random
) -> tuple[set[str], set[str]]:
    """Many rows come, grow and go in no order, so that their pages split and join.

    Answers the terms that are left, and those that are gone.
    """
    rows: dict[str, UUID] = {}
    gone: set[str] = set()
    many = ROWS_ON_SERVER if storage.shared else ROWS
    for _ in range(20):
        more = {word(chance): new_id() for _ in range(many // 20)}
        await storage.write(organization, add, more)
        rows |= more
        some = chance.sample(sorted(rows), len(rows) // 10)
        sizes = {rows[term]: chance.randrange(8, 600) for term in some}
        await storage.write(organization, grow, sizes)
        some = chance.sample(sorted(rows), len(rows) // 10)
        await storage.write(organization, remove, [rows.pop(term) for term in some])
        gone |= set(some)
    return set(rows), gone


async def test_nothing_is_left_of_rows_that_were_moved_from_page_to_page(
    storage: Storage, scanner: Scanner
) -> None:
    organization = await new_organization(storage)
    stays, gone = await churn(storage, organization, random.Random(7))
    assert await storage.scrub()
    assert not await waits(storage)
    assert scanner.found(gone) == {}
    assert scanner.found(stays).keys() == stays
    assert await terms(storage, organization) == stays


async def test_overwriting_and_an_empty_log_alone_would_leave_some(
    sqlite_storage: Storage, sqlite_scanner: Scanner, sqlite_database: str
) -> None:
    """Why the file is written anew; and that the scanner finds what is left."""
    organization = await new_organization(sqlite_storage)
    _, gone = await churn(sqlite_storage, organization, random.Random(7))
    with closing(sqlite3.connect(sqlite_database.removeprefix("sqlite:///"))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert log_size(sqlite_database) == 0
    assert sqlite_scanner.found(gone)


async def test_without_rows_deleted_for_good_there_is_nothing_to_do(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage._backend, "scrub", lambda: pytest.fail("it scrubbed"))
    assert await storage.scrub()


async def test_what_is_deleted_meanwhile_waits_for_the_next_scrub(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, remove, [])
    scrub = storage._backend.scrub
    loop = asyncio.get_running_loop()

    def scrub_and_delete() -> bool:
        done = scrub()
        again = storage.write(organization, remove, [])
        asyncio.run_coroutine_threadsafe(again, loop).result()
        return done

    with monkeypatch.context() as patched:
        patched.setattr(storage._backend, "scrub", scrub_and_delete)
        assert await storage.scrub()
    assert await waits(storage)
    assert await storage.scrub()
    assert not await waits(storage)


async def test_only_what_was_left_for_so_long_is_scrubbed_where_that_is_asked(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    organization = await new_organization(timed_storage)
    await timed_storage.write(organization, remove, [])
    assert await timed_storage.scrub(left_for=timedelta(hours=1))
    assert await waits(timed_storage)
    clock.tick(-timedelta(hours=1))  # set back: what is asked for at once does not depend on it
    clock.tick(timedelta(hours=2))
    assert await timed_storage.scrub(left_for=timedelta(hours=1))
    assert not await waits(timed_storage)


async def test_a_clock_that_was_set_back_hides_nothing(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    organization = await new_organization(timed_storage)
    await timed_storage.write(organization, remove, [])
    clock.tick(-timedelta(days=1))
    assert await timed_storage.scrub()
    assert not await waits(timed_storage)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_scrub, "PATIENCE_MS", 50)


@pytest.mark.usefixtures("impatient")
async def test_a_reader_of_an_older_state_delays_it_and_it_says_so(
    sqlite_storage: Storage, sqlite_scanner: Scanner, sqlite_database: str
) -> None:
    organization = await new_organization(sqlite_storage)
    chance = random.Random(1)
    rows = {word(chance): new_id() for _ in range(50)}
    await sqlite_storage.write(organization, add, rows)
    with closing(sqlite3.connect(sqlite_database.removeprefix("sqlite:///"))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM search_postings").fetchone()
        await sqlite_storage.write(organization, remove, list(rows.values()))
        assert not await sqlite_storage.scrub()
        assert await waits(sqlite_storage)
        assert sqlite_scanner.found(rows)
        reader.execute("ROLLBACK")
    assert await sqlite_storage.scrub()
    assert sqlite_scanner.found(rows) == {}
    assert not await waits(sqlite_storage)


@pytest.mark.usefixtures("impatient")
async def test_another_processs_write_delays_it_likewise(
    sqlite_storage: Storage, sqlite_database: str
) -> None:
    organization = await new_organization(sqlite_storage)
    await sqlite_storage.write(organization, remove, [])
    with closing(sqlite3.connect(sqlite_database.removeprefix("sqlite:///"))) as writer:
        writer.isolation_level = None
        writer.execute("BEGIN IMMEDIATE")
        assert not await sqlite_storage.scrub()
        writer.execute("ROLLBACK")
    assert await sqlite_storage.scrub()


async def test_idle_readers_and_other_openings_of_the_file_are_in_nobodys_way(
    storage: Storage, database_url: str, scanner: Scanner
) -> None:
    organization = await new_organization(storage)
    others = [await Storage.open(database_url) for _ in range(3)]
    chance = random.Random(2)
    rows = {word(chance): new_id() for _ in range(200)}
    await storage.write(organization, add, rows)
    for other in [storage, *others]:
        assert await terms(other, organization) == rows.keys()
        # The first row alone: what was not read to its end must hold nothing open.
        await other.read(organization, lambda tx: tx.one(TERMS))
    await storage.write(organization, remove, list(rows.values()))
    await others[0].write(organization, lambda tx: tx.one(TERMS))
    assert await storage.scrub()
    assert scanner.found(rows) == {}
    for other in [storage, *others]:
        assert not rows.keys() & await terms(other, organization)
        more = {word(chance): new_id() for _ in range(50)}
        await other.write(organization, add, more)  # from a cache of pages as they were before
    assert scanner.found(rows) == {}
    for other in others:
        await other.close()


async def test_reads_and_writes_go_on_while_it_scrubs(storage: Storage) -> None:
    organization = await new_organization(storage)
    chance = random.Random(3)
    added: dict[str, UUID] = {}
    stop = asyncio.Event()

    async def write() -> None:
        while not stop.is_set():
            more = {word(chance): new_id() for _ in range(20)}
            await storage.write(organization, add, more)
            added.update(more)

    async def read() -> None:
        while not stop.is_set():
            known = set(added)
            assert known <= await terms(storage, organization)

    tasks = [asyncio.create_task(each()) for each in (write, write, read, read)]
    for _ in range(10):
        await storage.write(organization, remove, [])
        await storage.scrub()
    stop.set()
    await asyncio.gather(*tasks)
    assert await terms(storage, organization) == set(added)


async def test_who_asks_while_it_scrubs_shares_the_next_one(
    sqlite_storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    organization = await new_organization(sqlite_storage)
    scrubs: list[Path] = []
    scrub, begun, go_on = sqlite_scrub.scrub, threading.Event(), threading.Event()

    def slow(path: Path) -> bool:
        scrubs.append(path)
        begun.set()
        go_on.wait(20)
        return scrub(path)

    monkeypatch.setattr(sqlite_scrub, "scrub", slow)

    async def delete_and_scrub() -> bool:
        return await sqlite_storage.scrub()

    await sqlite_storage.write(organization, remove, [])
    first = asyncio.create_task(delete_and_scrub())
    await asyncio.to_thread(begun.wait, 20)
    rest = [asyncio.create_task(delete_and_scrub()) for _ in range(4)]
    await asyncio.sleep(0.2)
    go_on.set()
    assert all(await asyncio.gather(first, *rest))
    assert len(scrubs) == 2


async def test_a_full_disk_is_no_error_and_a_later_scrub_finishes(
    sqlite_storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    organization = await new_organization(sqlite_storage)
    await sqlite_storage.write(organization, remove, [])

    def full(_: Path) -> bool:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_scrub, "scrub", full)
        assert not await sqlite_storage.scrub()
    assert StorageUnavailable.code in caplog.text
    assert await sqlite_storage.scrub()


async def test_a_file_too_large_for_memory_is_scrubbed_through_a_temporary_file(
    sqlite_storage: Storage, sqlite_scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def traced(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_trace_callback(said.append)
        return connection

    monkeypatch.setattr(sqlite_scrub, "connect", traced)
    monkeypatch.setattr(sqlite_scrub, "LARGEST_IN_MEMORY", 0)
    organization = await new_organization(sqlite_storage)
    stays, gone = await churn(sqlite_storage, organization, random.Random(8))
    assert await sqlite_storage.scrub()
    assert said.index("PRAGMA temp_store=FILE") < said.index("VACUUM")
    assert sqlite_scanner.found(gone) == {}
    assert sqlite_scanner.found(stays).keys() == stays


async def test_the_planners_samples_hold_no_values_of_deleted_rows(
    postgres_database: str, postgres: Postgres
) -> None:
    scanner = Scanner(postgres_database, postgres)
    storage = await Storage.open(postgres_database)
    organization = await new_organization(storage)
    chance = random.Random(4)
    rows = {word(chance): new_id() for _ in range(50)}
    await storage.write(organization, add, rows)
    storage._backend.scrub()  # which takes samples
    await storage.write(organization, remove, list(rows.values()))
    assert {place for each in scanner.found(rows).values() for place in each} == {
        "pg_catalog.pg_statistic"
    }
    assert await storage.scrub()
    assert scanner.found(rows) == {}
    await storage.close()
