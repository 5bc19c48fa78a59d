"""Cancelling an await stops its statement within a second, and nothing else."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from sqlalchemy import func, literal, select

from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import users
from memoranda.words.ids import new_id
from tests.contract.storage_rows import add_user, names, new_organization


def endless() -> Any:
    """Counts for minutes in one statement, on either database."""
    numbers = select(literal(1).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < 2_000_000_000))
    return select(func.count()).select_from(numbers)


ENDLESS = endless()


def run_for_ever(tx: Transaction) -> None:
    add_user(tx, "never kept")
    tx.one(ENDLESS)


def read_for_ever(tx: Transaction) -> None:
    tx.one(ENDLESS)


async def cancelled_after(delay: float, waiting: asyncio.Task[Any]) -> float:
    """Cancel, and answer how long that took to come back."""
    await asyncio.sleep(delay)
    started = time.perf_counter()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    return time.perf_counter() - started


def running(database_url: str) -> list[str]:
    """Every statement of the product that runs or that holds a transaction open, seen from outside."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state <> 'idle' AND backend_type = 'client backend'"
        ).fetchall()
    return [row[0] for row in rows]


async def nothing_runs(database_url: str, within: float = 2.0) -> None:
    deadline = time.monotonic() + within
    while left := running(database_url):
        assert time.monotonic() < deadline, left
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("verb", ["read", "write"])
@pytest.mark.parametrize("delay", [0, 0.001, 0.3])
async def test_a_cancelled_statement_stops_and_leaves_a_working_connection(
    storage: Storage, database_url: str, verb: str, delay: float
) -> None:
    organization = await new_organization(storage)
    function = read_for_ever if verb == "read" else run_for_ever
    waiting = [
        asyncio.create_task(getattr(storage, verb)(organization, function)) for _ in range(3)
    ]
    assert await cancelled_after(delay, waiting[0]) < 0.5
    for other in waiting[1:]:
        assert await cancelled_after(0, other) < 0.5
    started = time.perf_counter()
    await storage.write(organization, add_user, "after")
    for _ in range(12):
        assert await storage.read(organization, names) == ["after"]
    assert time.perf_counter() - started < 1.5
    if database_url.startswith("postgresql"):
        await nothing_runs(database_url)


async def test_closing_does_not_wait_for_cancelled_statements(database_url: str) -> None:
    storage = await Storage.open(database_url)
    organization = await new_organization(storage)
    reads = [asyncio.create_task(storage.read(organization, read_for_ever)) for _ in range(6)]
    writes = [asyncio.create_task(storage.write(organization, run_for_ever)) for _ in range(6)]
    for waiting in (*reads, *writes):
        await cancelled_after(0.02, waiting)
    started = time.perf_counter()
    await storage.close()
    assert time.perf_counter() - started < 2


async def test_a_cancelled_write_is_the_only_one_of_its_batch_that_is_missing(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)
    before = [asyncio.create_task(storage.write(organization, add_user, f"a{n}")) for n in range(9)]
    stuck = asyncio.create_task(storage.write(organization, run_for_ever))
    after = [asyncio.create_task(storage.write(organization, add_user, f"b{n}")) for n in range(9)]
    await cancelled_after(0.3, stuck)
    ids = await asyncio.gather(*before, *after)
    assert len(set(ids)) == 18
    expected = sorted([f"a{n}" for n in range(9)] + [f"b{n}" for n in range(9)])
    assert await storage.read(organization, names) == expected


async def test_a_cancelled_write_that_was_still_queued_never_runs(storage: Storage) -> None:
    organization = await new_organization(storage)
    ran: list[str] = []

    def note(tx: Transaction) -> None:
        ran.append("ran")
        add_user(tx, "never")

    # Enough that some wait in the queue on either database.
    stuck = [asyncio.create_task(storage.write(organization, run_for_ever)) for _ in range(10)]
    await asyncio.sleep(0.2)
    queued = [asyncio.create_task(storage.write(organization, note)) for _ in range(5)]
    await asyncio.sleep(0.05)
    for waiting in queued:
        await cancelled_after(0, waiting)
    for waiting in stuck:
        await cancelled_after(0, waiting)
    assert await storage.read(organization, names) == []
    assert ran == []


async def test_a_cancel_between_two_statements_stops_the_second(storage: Storage) -> None:
    organization = await new_organization(storage)
    loop, begun = asyncio.get_running_loop(), asyncio.Event()
    reached: list[str] = []

    def slow(tx: Transaction) -> None:
        names(tx)
        loop.call_soon_threadsafe(begun.set)
        time.sleep(0.3)  # Python's own work, which no cancel can stop
        names(tx)
        reached.append("the end")

    waiting = asyncio.create_task(storage.read(organization, slow))
    await begun.wait()
    await cancelled_after(0, waiting)
    await asyncio.sleep(0.5)
    assert reached == []


async def test_a_function_that_swallows_the_cancel_keeps_nothing(storage: Storage) -> None:
    organization = await new_organization(storage)

    def stubborn(tx: Transaction) -> str:
        add_user(tx, "never kept")
        with suppress(Exception):
            tx.one(ENDLESS)
        return "done"

    await cancelled_after(0.2, asyncio.create_task(storage.write(organization, stubborn)))
    await storage.write(organization, add_user, "after")
    assert await storage.read(organization, names) == ["after"]


async def test_cancelling_again_and_again_never_hits_a_bystander(storage: Storage) -> None:
    organization = await new_organization(storage)
    stop = False

    async def bystander() -> int:
        done = 0
        while not stop:
            await storage.read(organization, names)
            done += 1
        return done

    watching = [asyncio.create_task(bystander()) for _ in range(2)]
    for round_ in range(60):
        waiting = asyncio.create_task(
            storage.read(organization, names if round_ % 2 else read_for_ever)
        )
        await cancelled_after_or_done(0.0003 * (round_ % 10), waiting)
    stop = True
    assert min(await asyncio.gather(*watching)) > 0


async def cancelled_after_or_done(delay: float, waiting: asyncio.Task[Any]) -> None:
    await asyncio.sleep(delay)
    waiting.cancel()
    await asyncio.wait([waiting])


async def test_a_timeout_around_a_read_takes_about_its_time(storage: Storage) -> None:
    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await storage.read(new_id(), read_for_ever)
    assert time.perf_counter() - started < 0.7
    assert await storage.read(new_id(), lambda tx: tx.one(select(func.count(users.c.id)))) == (0,)
