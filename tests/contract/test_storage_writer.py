"""SQLite's writer: one durable commit for many writes, no lost acknowledgement, no `database is locked`."""

import asyncio
import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select

from memoranda.storage import (
    ConstraintViolated,
    Storage,
    StorageBusy,
    StorageUnavailable,
    Transaction,
)
from memoranda.storage.dialects import sqlite_connection, sqlite_writer
from memoranda.storage.tables import users
from tests.contract.storage_rows import add_user, names, new_organization

COUNT = select(func.count()).select_from(users)


@pytest.fixture
async def storage(sqlite_database: str) -> AsyncIterator[Storage]:
    opened = await Storage.open(sqlite_database)
    yield opened
    await opened.close()


@pytest.fixture
def path(sqlite_database: str) -> Path:
    return Path(sqlite_database.removeprefix("sqlite:///"))


@contextmanager
def traced(storage: Storage) -> Iterator[list[str]]:
    """Every statement that the writing connection runs, as SQLite itself reports it."""
    said: list[str] = []
    connection: sqlite3.Connection = storage._backend._writer._connection  # type: ignore[attr-defined]  # a look inside
    connection.set_trace_callback(said.append)
    yield said
    connection.set_trace_callback(None)


async def test_acknowledged_writes_are_synced_to_the_disk(storage: Storage) -> None:
    writer = storage._backend._writer  # type: ignore[attr-defined]  # a look inside

    def settings(tx: Transaction) -> dict[str, object]:
        execute = writer._connection.execute
        asked = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        return {name: execute(f"PRAGMA {name}").fetchone()[0] for name in asked}

    found = await storage.write(await new_organization(storage), settings)
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}


async def test_writes_that_wait_together_share_one_commit(storage: Storage) -> None:
    organization = await new_organization(storage)
    with traced(storage) as said:
        await asyncio.gather(*(storage.write(organization, add_user, "x") for _ in range(100)))
    assert said.count("COMMIT") == 1
    assert len(await storage.read(organization, names)) == 100


async def test_tasks_that_write_again_and_again_keep_sharing_commits(storage: Storage) -> None:
    organization = await new_organization(storage)

    async def one() -> None:
        for _ in range(20):
            await storage.write(organization, add_user, "x")

    with traced(storage) as said:
        await asyncio.gather(*(one() for _ in range(32)))
    assert said.count("COMMIT") <= 24  # 20 rounds, and a few that came apart
    assert len(await storage.read(organization, names)) == 640


async def test_a_batch_is_bounded(storage: Storage) -> None:
    organization = await new_organization(storage)
    with traced(storage) as said:
        await asyncio.gather(*(storage.write(organization, add_user, "x") for _ in range(300)))
    assert said.count("COMMIT") == -(-300 // sqlite_writer.BATCH)


async def test_a_failed_write_takes_back_only_itself(storage: Storage) -> None:
    organization = await new_organization(storage)

    def half(tx: Transaction) -> None:
        add_user(tx, "half")
        add_user(tx, "twice", "same")

    results = await asyncio.gather(
        *(
            storage.write(organization, half)
            if number % 3 == 0
            else storage.write(organization, add_user, f"good {number:02}")
            for number in range(30)
        ),
        return_exceptions=True,
    )
    assert [isinstance(each, ConstraintViolated) for each in results] == [
        number % 3 == 0 and number > 0 for number in range(30)
    ]
    good = [f"good {number:02}" for number in range(30) if number % 3]
    assert await storage.read(organization, names) == [*good, "half", "twice"]


async def test_nothing_is_acknowledged_before_its_commit(storage: Storage, path: Path) -> None:
    """Whoever is told that a write is done finds it through another connection."""
    organization = await new_organization(storage)
    with closing(sqlite3.connect(path)) as elsewhere:

        async def one(number: int) -> None:
            user = await storage.write(organization, add_user, str(number))
            found = elsewhere.execute("SELECT 1 FROM users WHERE id = ?", (user.hex,)).fetchone()
            assert found == (1,)

        await asyncio.gather(*(one(number) for number in range(64)))


async def test_a_full_disk_acknowledges_nothing_and_the_next_write_works(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "before")
    connection: sqlite3.Connection = storage._backend._writer._connection  # type: ignore[attr-defined]  # a look inside
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    big = "x" * 200_000
    results = await asyncio.gather(
        *(storage.write(organization, add_user, big) for _ in range(5)),
        storage.write(organization, add_user, "small"),
        return_exceptions=True,
    )
    assert all(isinstance(each, StorageUnavailable) for each in results[:5])
    assert all(each.retryable for each in results[:5])
    kept = ["before"] if isinstance(results[5], Exception) else ["before", "small"]
    assert await storage.read(organization, names) == kept
    connection.execute("PRAGMA max_page_count = 1000000")
    await storage.write(organization, add_user, "zzz after")
    assert await storage.read(organization, names) == [*kept, "zzz after"]


WRITE_UNTIL_FULL = """
import asyncio, resource, signal, sys
from uuid import UUID
from memoranda.storage import Storage, StorageUnavailable
from tests.contract.storage_rows import add_user, names
async def main(url, organization):
    storage = await Storage.open(url)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, resource.RLIM_INFINITY))
    kept = failed = 0
    for _ in range(30):
        done = await asyncio.gather(
            *(storage.write(organization, add_user, "x" * 50_000) for _ in range(3)),
            return_exceptions=True)
        for each in done:
            if isinstance(each, UUID): kept += 1
            elif isinstance(each, StorageUnavailable): failed += 1
            else: raise each
    assert failed > 0, "the file never got full"
    assert len(await storage.read(organization, names)) == kept, kept
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await storage.write(organization, add_user, "after")
    print(kept + 1)
    await storage.close()
asyncio.run(main(sys.argv[1], UUID(sys.argv[2])))
"""


async def test_a_file_that_cannot_grow_fails_the_commit_and_nothing_else(
    storage: Storage, sqlite_database: str
) -> None:
    """The operating system refuses to extend the log in the middle of commits."""
    organization = await new_organization(storage)
    run = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WRITE_UNTIL_FULL,
        sqlite_database,
        str(organization),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    said, errors = await run.communicate()
    assert run.returncode == 0, errors.decode()
    assert len(await storage.read(organization, names)) == int(said)


def write_in_another_process(url: str, organization: UUID, writes: int) -> None:
    async def run() -> None:
        storage = await Storage.open(url)
        try:
            for _ in range(writes // 10):
                await asyncio.gather(
                    *(storage.write(organization, add_user, "x") for _ in range(10))
                )
                await storage.read(organization, names)
        finally:
            await storage.close()

    asyncio.run(run())


async def test_processes_that_write_one_file_wait_for_each_other(
    storage: Storage, sqlite_database: str
) -> None:
    organization = await new_organization(storage)
    context = multiprocessing.get_context("forkserver")
    others = [
        context.Process(target=write_in_another_process, args=(sqlite_database, organization, 150))
        for _ in range(3)
    ]
    for process in others:
        process.start()
    await asyncio.gather(*(storage.write(organization, add_user, "x") for _ in range(150)))
    for process in others:
        await asyncio.to_thread(process.join, 60)
    assert [process.exitcode for process in others] == [0, 0, 0]
    assert len(await storage.read(organization, names)) == 600


async def test_a_file_that_stays_locked_is_busy_after_a_bounded_wait(
    sqlite_database: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "BUSY_SECONDS", 0.3)
    storage = await Storage.open(sqlite_database)
    try:
        organization = await new_organization(storage)
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            started = time.perf_counter()
            results = await asyncio.gather(
                *(storage.write(organization, add_user, "x") for _ in range(5)),
                return_exceptions=True,
            )
            assert 0.2 < time.perf_counter() - started < 3
            assert all(isinstance(each, StorageBusy) and each.retryable for each in results)
            assert await storage.read(organization, names) == []
            holder.execute("ROLLBACK")
        await storage.write(organization, add_user, "after")
        assert await storage.read(organization, names) == ["after"]
    finally:
        await storage.close()


async def test_readers_are_never_held_up_by_a_writer(storage: Storage, path: Path) -> None:
    organization = await new_organization(storage)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(2):
            assert await storage.read(organization, lambda tx: tx.one(COUNT)) == (0,)
        holder.execute("ROLLBACK")


@pytest.mark.skipif(shutil.which("strace") is None, reason="counts system calls with strace")
async def test_one_batch_is_one_sync(
    storage: Storage, sqlite_database: str, tmp_path: Path
) -> None:
    """Counted by the operating system: as many syncs as commits, and a checkpoint's few."""
    organization = await new_organization(storage)
    script = (
        "import asyncio, sys; from uuid import UUID\n"
        "from memoranda.storage import Storage\n"
        "from tests.contract.storage_rows import add_user\n"
        "async def main():\n"
        "    storage = await Storage.open(sys.argv[1])\n"
        "    for _ in range(10):\n"
        "        await asyncio.gather(*(storage.write(UUID(sys.argv[2]), add_user, 'x')"
        " for _ in range(32)))\n"
        "    import os; os._exit(0)\n"  # before the closing checkpoint, which is no write's
        "asyncio.run(main())\n"
    )
    log = tmp_path / "calls"
    calls = ["strace", "-f", "-o", str(log), "-e", "trace=fsync,fdatasync"]
    run = await asyncio.create_subprocess_exec(
        *calls, sys.executable, "-c", script, sqlite_database, str(organization),
        cwd=Path(__file__).parents[2], stderr=subprocess.PIPE,
    )  # fmt: skip
    _, errors = await run.communicate()
    if b"ptrace" in errors:
        pytest.skip("this system does not let strace look")
    assert run.returncode == 0, errors.decode()
    assert len(await storage.read(organization, names)) == 320
    syncs = sum("sync(" in line and "resumed" not in line for line in log.read_text().splitlines())
    assert 10 <= syncs <= 12
