"""A transaction is whole, sees one moment, and ends when its function returns, on both databases alike."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import bindparam, func, insert, select, update

from memoranda.storage import (
    ConstraintViolated,
    GuardError,
    Storage,
    StorageUnavailable,
    Transaction,
)
from memoranda.storage.tables import users
from memoranda.storage.transaction import Ended
from memoranda.words.ids import new_id
from tests.contract.storage_rows import NEW_USER, add_user, names, new_organization

RENAME = update(users).where(users.c.id == bindparam("user")).values(name=bindparam("new_name"))
COUNT = select(func.count()).select_from(users)


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


class Stop(Exception):
    """Raised by a function in the middle of its transaction."""


async def test_a_function_that_raises_leaves_nothing(storage: Storage) -> None:
    organization = await new_organization(storage)

    def half(tx: Transaction) -> None:
        add_user(tx, "first")
        add_user(tx, "second")
        raise Stop

    with pytest.raises(Stop):
        await storage.write(organization, half)
    assert await storage.read(organization, names) == []


async def test_a_write_is_read_by_the_next_read(storage: Storage) -> None:
    organization = await new_organization(storage)
    for number in range(20):
        await storage.write(organization, add_user, f"user {number:02}")
        assert len(await storage.read(organization, names)) == number + 1


async def test_a_transaction_reads_its_own_writes(storage: Storage) -> None:
    organization = await new_organization(storage)

    def both(tx: Transaction) -> list[str]:
        add_user(tx, "new")
        return names(tx)

    assert await storage.write(organization, both) == ["new"]


async def test_a_read_sees_one_moment(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "before")
    loop, seen, go = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def twice(tx: Transaction) -> tuple[list[str], list[str]]:
        first = names(tx)
        loop.call_soon_threadsafe(seen.set)
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(10)
        return first, names(tx)

    reading = asyncio.create_task(storage.read(organization, twice))
    await seen.wait()
    await storage.write(organization, add_user, "in between")
    go.set()
    assert await reading == (["before"], ["before"])


async def test_a_read_cannot_write(storage: Storage) -> None:
    organization = await new_organization(storage)
    with pytest.raises(GuardError, match=r"storage\.write"):
        await storage.read(organization, add_user, "never")
    assert await storage.read(organization, names) == []


async def test_a_write_may_only_read(storage: Storage) -> None:
    organization = await new_organization(storage)
    assert await storage.write(organization, names) == []


async def test_now_is_one_aware_time_for_the_whole_transaction(database_url: str) -> None:
    ticks: Iterator[int] = iter(range(1, 100))
    storage = await Storage.open(
        database_url, clock=lambda: datetime(2026, 1, 1, 0, 0, next(ticks), tzinfo=UTC)
    )
    try:
        organization = new_id()
        first = await storage.read(organization, lambda tx: (tx.now, tx.now))
        second = await storage.read(organization, lambda tx: tx.now)
    finally:
        await storage.close()
    assert first[0] == first[1] == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert second > first[0]


async def test_rows_are_tuples_with_names(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "Ana")
    statement = select(users.c.name, func.count().label("how_many")).group_by(users.c.name)
    row = await storage.read(organization, lambda tx: tx.one(statement))
    assert row == ("Ana", 1)
    assert row._asdict() == {"name": "Ana", "how_many": 1}


async def test_a_write_answers_how_many_rows_it_changed(storage: Storage) -> None:
    organization = await new_organization(storage)
    ids = [await storage.write(organization, add_user, "x") for _ in range(3)]

    def rename(tx: Transaction) -> list[int]:
        everyone = update(users).values(name="y")
        return [
            tx.run(RENAME, user=ids[0], new_name="z"),
            tx.run(RENAME, user=new_id(), new_name="z"),
            tx.run(everyone),
        ]

    assert await storage.write(organization, rename) == [1, 0, 3]


async def test_a_write_may_return_rows(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "old")
    statement = update(users).values(name="new").returning(users.c.name)
    rows = await storage.write(organization, lambda tx: tx.all(statement))
    assert rows == [("new",)]
    assert await storage.read(organization, names) == ["new"]


async def test_many_rows_are_written_at_once(storage: Storage) -> None:
    organization = await new_organization(storage)

    def add(tx: Transaction) -> int:
        rows = [{"id": new_id(), "name": f"{n:03}", "created_at": tx.now} for n in range(300)]
        return tx.run_many(NEW_USER, rows)

    assert await storage.write(organization, add) == 300
    assert await storage.read(organization, names) == [f"{n:03}" for n in range(300)]
    assert await storage.write(organization, lambda tx: tx.run_many(NEW_USER, [])) == 0


async def test_rows_with_different_columns_are_refused_instead_of_losing_one(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)

    def add(tx: Transaction) -> int:
        row = {"id": new_id(), "name": "x", "created_at": tx.now}
        return tx.run_many(NEW_USER, [row, {**row, "id": new_id(), "external_id": "lost"}])

    with pytest.raises(ValueError, match="same columns"):
        await storage.write(organization, add)


async def test_a_missing_parameter_is_an_error(storage: Storage) -> None:
    with pytest.raises(KeyError):
        await storage.read(
            new_id(), lambda tx: tx.one(select(users.c.id).where(users.c.id == bindparam("who")))
        )


@pytest.mark.parametrize("swallow", [False, True])
async def test_after_a_broken_promise_nothing_more_runs_and_nothing_is_kept(
    storage: Storage, swallow: bool
) -> None:
    organization = await new_organization(storage)
    taken = await storage.write(organization, add_user, "first")
    later: list[BaseException] = []

    def careless(tx: Transaction) -> str:
        add_user(tx, "before")
        try:
            tx.run(NEW_USER, id=taken, name="again", created_at=tx.now)
        except ConstraintViolated:
            if not swallow:
                raise
        for statement in (COUNT, select(users.c.id)):
            try:
                tx.all(statement)
            except ConstraintViolated as error:
                later.append(error)
        return "as if all were well"

    with pytest.raises(ConstraintViolated) as broken:
        await storage.write(organization, careless)
    assert broken.value.name == "users_pk"
    assert len(later) == (2 if swallow else 0)
    assert await storage.read(organization, names) == ["first"]


@pytest.mark.parametrize("verb", ["all", "run", "lock", "run_many", "send", "send_many"])
async def test_a_transaction_that_was_kept_beyond_its_end_is_refused(
    storage: Storage, verb: str
) -> None:
    organization = await new_organization(storage)
    kept = await storage.write(organization, lambda tx: tx)
    uses: dict[str, Callable[[], Any]] = {
        "all": lambda: kept.all(COUNT),
        "run": lambda: add_user(kept, "late"),
        "lock": lambda: kept.lock("late"),
        "run_many": lambda: kept.run_many(
            NEW_USER, [{"id": new_id(), "name": "x", "created_at": kept.now}]
        ),
        "send": lambda: kept.send(NEW_USER, id=new_id(), name="x", created_at=kept.now),
        "send_many": lambda: kept.send_many(
            NEW_USER, [{"id": new_id(), "name": "x", "created_at": kept.now}]
        ),
    }
    with pytest.raises(Ended):
        uses[verb]()
    lazy = await storage.read(organization, lambda tx: (name for name in names(tx)))
    assert list(lazy) == []

    def generator(tx: Transaction) -> Iterator[str]:
        yield from names(tx)

    with pytest.raises(Ended):
        list(await storage.read(organization, generator))


@pytest.mark.parametrize(
    "error", [StopIteration(), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError()]
)
@pytest.mark.parametrize("verb", ["read", "write"])
async def test_whatever_a_function_raises_reaches_its_caller_and_the_next_one_works(
    storage: Storage, error: BaseException, verb: str
) -> None:
    organization = await new_organization(storage)

    def fail(tx: Transaction) -> None:
        names(tx)
        raise error

    for _ in range(12):  # as often as there are threads, so that each of them has outlived one
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - compared below
            await getattr(storage, verb)(organization, fail)
        assert error in {raised.value, raised.value.__cause__}
    await storage.write(organization, add_user, "still here")
    assert await storage.read(organization, names) == ["still here"]


async def test_holders_of_one_key_go_one_after_another(storage: Storage) -> None:
    organization = await new_organization(storage)
    user = await storage.write(organization, add_user, "0")
    name = select(users.c.name).where(users.c.id == bindparam("user"))

    def count_up(tx: Transaction) -> None:
        tx.lock("counter")
        row = tx.one(name, user=user)
        tx.run(RENAME, user=user, new_name=str(int(row.name) + 1))

    await asyncio.gather(*(storage.write(organization, count_up) for _ in range(40)))
    assert await storage.read(organization, names) == ["40"]


async def test_closing_finishes_what_is_queued(database_url: str) -> None:
    storage = await Storage.open(database_url)
    organization = await new_organization(storage)
    writes = [asyncio.create_task(storage.write(organization, add_user, "x")) for _ in range(60)]
    reads = [asyncio.create_task(storage.read(organization, names)) for _ in range(60)]
    await asyncio.sleep(0)
    await storage.close()
    assert len(set(await asyncio.gather(*writes))) == 60
    assert all(len(seen) <= 60 for seen in await asyncio.gather(*reads))
    again = await Storage.open(database_url)
    assert len(await again.read(organization, names)) == 60
    await again.close()


@pytest.mark.parametrize("verb", ["read", "write"])
async def test_a_closed_storage_says_so(database_url: str, verb: str) -> None:
    storage = await Storage.open(database_url)
    await storage.close()
    with pytest.raises(StorageUnavailable, match="closed"):
        await getattr(storage, verb)(new_id(), names)


def test_a_loop_that_closes_while_a_transaction_runs_harms_nobody(database_url: str) -> None:
    async def open_and_leave() -> tuple[Storage, Any]:
        storage = await Storage.open(database_url)
        organization = await new_organization(storage)
        for _ in range(20):
            asyncio.ensure_future(storage.write(organization, add_user, "left"))  # noqa: RUF006 - left behind on purpose
            asyncio.ensure_future(storage.read(organization, names))  # noqa: RUF006 - left behind on purpose
        await asyncio.sleep(0)
        return storage, organization

    storage, organization = asyncio.run(open_and_leave())

    async def go_on() -> None:
        await storage.write(organization, add_user, "new")
        assert "new" in await storage.read(organization, names)
        await storage.close()

    asyncio.run(go_on())


async def test_many_event_loops_may_share_one_storage(storage: Storage) -> None:
    organization = await new_organization(storage)

    def elsewhere(number: int) -> list[str]:
        async def run() -> list[str]:
            for _ in range(5):
                await storage.write(organization, add_user, str(number))
            return await storage.read(organization, names)

        return asyncio.run(run())

    seen = await asyncio.gather(*(asyncio.to_thread(elsewhere, n) for n in range(4)))
    assert all(names_.count(str(n)) == 5 for n, names_ in enumerate(seen))


async def test_a_statement_made_anew_each_time_works_as_a_constant_does(storage: Storage) -> None:
    organization = await new_organization(storage)
    for number in range(5):
        name = f"user {number}"
        await storage.write(
            organization,
            lambda tx, n=name: tx.run(insert(users), id=new_id(), name=n, created_at=tx.now),
        )
        found = select(users.c.name).where(users.c.name == name)
        assert await storage.read(organization, lambda tx, s=found: tx.all(s)) == [(name,)]
