"""What SQLite's vectors are compared in: memory that is never behind the transaction that asks."""

import asyncio
import multiprocessing
import threading
from typing import Any
from uuid import UUID

import pytest

from memoranda.knowledge.models import COLLECTION
from memoranda.knowledge.vectors import store
from memoranda.knowledge.vectors.store import nearest
from memoranda.search.vectors import parts
from memoranda.search.vectors.parts import cache_of
from memoranda.storage import Storage, Transaction
from tests.contract.storage_rows import new_organization
from tests.contract.vector_rows import Rows, add_source, drop, embed, keep, set_status, unit_rows

ROWS = unit_rows(20, 1)


@pytest.fixture
async def storage(sqlite_database: str) -> Any:
    opened = await Storage.open(sqlite_database)
    yield opened
    await opened.close()


@pytest.fixture
async def ours(storage: Storage) -> UUID:
    return await new_organization(storage, "ours")


async def ordinals(storage: Storage, scope: UUID, model: str = "m") -> list[int]:
    found = await storage.read(scope, nearest, model, ROWS[0], 1_000)
    return sorted(each.ordinal for each in found)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were read, read by read."""
    counts: list[int] = []
    rows = store._Reader.rows

    def counted(reader: Any, sources: list[UUID]) -> Any:
        found = rows(reader, sources)
        counts.append(len(found.vectors))
        return found

    monkeypatch.setattr(store._Reader, "rows", counted)
    return counts


async def test_what_has_not_changed_is_not_read_again(
    storage: Storage, ours: UUID, read: list[int]
) -> None:
    first = await storage.write(ours, add_source, ROWS)
    for _ in range(3):
        assert await ordinals(storage, ours) == list(range(20))
    assert read == [20]
    second = await storage.write(ours, add_source, ROWS[:3])
    assert len(await ordinals(storage, ours)) == 23
    assert read == [20, 3]
    await storage.write(ours, set_status, first, "pending")
    assert await ordinals(storage, ours) == [0, 1, 2]
    await storage.write(ours, set_status, first, "ready")
    assert len(await ordinals(storage, ours)) == 23
    assert read == [20, 3, 20]
    await storage.write(ours, keep, second, "m", 3, ROWS[3:5])
    assert len(await ordinals(storage, ours)) == 25
    assert read == [20, 3, 20, 5]


def write_elsewhere(url: str, scope: UUID, source: UUID | None) -> None:
    async def write() -> None:
        storage = await Storage.open(url)
        if source is None:
            await storage.write(scope, add_source, unit_rows(5, 2))
        else:
            await storage.write(scope, drop, source)
        await storage.close()

    asyncio.run(write())


async def in_another_process(*arguments: Any) -> None:
    process = multiprocessing.get_context("forkserver").Process(
        target=write_elsewhere, args=arguments
    )
    process.start()
    await asyncio.to_thread(process.join, 60)
    assert process.exitcode == 0


async def test_what_another_process_committed_is_seen_at_once(
    storage: Storage, ours: UUID, sqlite_database: str
) -> None:
    source = await storage.write(ours, add_source, ROWS)
    assert len(await ordinals(storage, ours)) == 20
    await in_another_process(sqlite_database, ours, None)
    assert len(await ordinals(storage, ours)) == 25
    await in_another_process(sqlite_database, ours, source)
    assert await ordinals(storage, ours) == [0, 1, 2, 3, 4]


async def test_what_a_write_saw_and_took_back_is_never_found(storage: Storage, ours: UUID) -> None:
    source = await storage.write(ours, add_source, ROWS[:2])
    assert await ordinals(storage, ours) == [0, 1]

    def see_and_fail(tx: Transaction) -> None:
        keep(tx, source, "m", 2, ROWS[2:])
        assert len(nearest(tx, "m", ROWS[0], 1_000)) == 20
        raise LookupError

    with pytest.raises(LookupError):
        await storage.write(ours, see_and_fail)
    # As many changes as before, and others.
    await storage.write(ours, keep, source, "m", 2, ROWS[2:3])
    assert await ordinals(storage, ours) == [0, 1, 2]


async def test_a_read_that_began_before_a_change_sees_what_was_there_then(
    storage: Storage, ours: UUID
) -> None:
    source = await storage.write(ours, add_source, ROWS)
    began, changed = threading.Event(), threading.Event()

    def look_twice(tx: Transaction) -> tuple[int, int]:
        first = len(nearest(tx, "m", ROWS[0], 1_000))
        began.set()
        assert changed.wait(30)
        return first, len(nearest(tx, "m", ROWS[0], 1_000))

    looking = asyncio.create_task(storage.read(ours, look_twice))
    await asyncio.to_thread(began.wait, 30)
    await storage.write(ours, drop, source)
    assert await ordinals(storage, ours) == []
    changed.set()
    assert await looking == (20, 20)
    assert await ordinals(storage, ours) == []


async def test_many_at_once_find_the_same(storage: Storage, ours: UUID) -> None:
    theirs = await new_organization(storage, "theirs")
    sources = {
        (scope, model): await storage.write(scope, add_source, ROWS, [model])
        for scope in (ours, theirs)
        for model in ("m", "n")
    }

    async def ask(number: int) -> None:
        scope, model = list(sources)[number % 4]
        found = await storage.read(scope, nearest, model, ROWS[0], 1_000)
        assert {each.source_id for each in found} == {sources[scope, model]}
        assert len(found) == 20
        if number % 10 == 0:
            source = sources[scope, model]
            await storage.write(scope, keep, source, model, number % 20, ROWS[:1])

    await asyncio.gather(*(ask(number) for number in range(120)))


async def test_memory_is_bounded_and_the_least_used_go_first(
    storage: Storage, ours: UUID, read: list[int]
) -> None:
    theirs = await new_organization(storage, "theirs")
    for scope in (ours, theirs):
        await storage.write(scope, add_source, unit_rows(100, 1))
    await ordinals(storage, ours)
    held = cache_of(storage.memory, COLLECTION)
    one = held.nbytes
    held.max_bytes = one + one // 2
    await ordinals(storage, theirs)
    assert held.nbytes == one
    await ordinals(storage, theirs)
    assert read == [100, 100]
    await ordinals(storage, ours)
    assert read == [100, 100, 100]
    held.max_bytes = 1
    assert len(await ordinals(storage, theirs)) == 100
    assert held.nbytes == 0
    held.max_bytes = 2 * one
    await ordinals(storage, ours)
    assert held.nbytes == one


async def test_a_large_scope_is_read_in_lots(
    storage: Storage, ours: UUID, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROWS_AT_ONCE", 30)
    rows: dict[UUID, Rows] = {}
    for seed in range(7):
        made = unit_rows(12, seed)
        rows[await storage.write(ours, add_source, made)] = made
    found = await storage.read(ours, nearest, "m", rows[list(rows)[3]][4], 1)
    assert [(each.source_id, each.ordinal) for each in found] == [(list(rows)[3], 4)]
    assert read == [24, 24, 24, 12]


async def test_without_a_row_of_settings_each_search_reads_anew(
    storage: Storage, ours: UUID, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.contract.vector_rows.settle", lambda _: None)
    source = await storage.write(ours, add_source, ROWS)
    assert len(await ordinals(storage, ours)) == 20
    await storage.write(ours, drop, source)
    assert not await ordinals(storage, ours)
    await storage.write(ours, embed, source, "n", ROWS)
    assert len(await ordinals(storage, ours, "n")) == 20
    assert len(await ordinals(storage, ours, "n")) == 20
    assert read == [20, 0, 20, 20]
