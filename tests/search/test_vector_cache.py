"""The cache of vectors: always up to date, loaded once for all who wait, and never larger than it may be."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.search.calibration import Calibration
from memoranda.search.vectors import store
from memoranda.search.vectors.cache import OLDEST, VectorCache
from memoranda.search.vectors.matrix import VectorMatrix
from memoranda.storage import Storage, StorageBusy
from memoranda.words.ids import new_id
from tests.search.made_vectors import COLLECTION, MODEL, Watched, put, unit

CURVE = Calibration(slope=12.0, middle=0.4)


class Now:
    def __init__(self) -> None:
        self.time = datetime(2027, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
async def storage(sqlite_database: str, now: Now) -> AsyncIterator[Storage]:
    opened = await Storage.open(sqlite_database, clock=now)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def watched(storage: Storage) -> Watched:
    return Watched(storage)


@pytest.fixture
async def cache(watched: Watched) -> AsyncIterator[VectorCache]:
    made = VectorCache(watched, COLLECTION, max_bytes=1_000_000)
    yield made
    await made.close()


async def found(cache: VectorCache, organization_id, seed: int) -> list:
    snapshot = await cache.fresh(organization_id)
    assert snapshot is not None
    hits = snapshot.nearest(unit(seed), CURVE, at_least=0.9, most=10)
    return [hit.item_id for hit in hits]


async def test_nothing_is_there_before_a_vector_was_wanted(cache) -> None:
    assert await cache.fresh(new_id()) is None


async def test_every_change_is_seen_at_the_next_call(cache, storage) -> None:
    organization_id, item_id, other_id = new_id(), new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    assert await found(cache, organization_id, 1) == [item_id]
    await storage.write(organization_id, put, {item_id: unit(2)})
    assert await found(cache, organization_id, 1) == []
    assert await found(cache, organization_id, 2) == [item_id]
    await storage.write(organization_id, store.carry, COLLECTION, item_id, other_id, new_id())
    assert await found(cache, organization_id, 2) == [other_id]
    await storage.write(organization_id, store.want, COLLECTION, other_id, new_id(), (MODEL,))
    assert await found(cache, organization_id, 2) == []
    await storage.write(organization_id, put, {other_id: unit(2)})
    await storage.write(organization_id, store.drop, COLLECTION, [other_id])
    assert await found(cache, organization_id, 2) == []


async def test_a_text_that_got_a_new_name_keeps_its_vector_under_it(cache, storage) -> None:
    organization_id, item_id, text_id = new_id(), new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    await found(cache, organization_id, 1)
    await storage.write(organization_id, store.carry, COLLECTION, item_id, item_id, text_id)
    snapshot = await cache.fresh(organization_id)
    [hit] = snapshot.nearest(unit(1), CURVE, at_least=0.9, most=10)
    assert hit.text_id == text_id


async def test_what_is_known_is_read_once(cache, storage, watched, monkeypatch) -> None:
    organization_id = new_id()
    await storage.write(organization_id, put, {new_id(): unit(seed) for seed in range(20)})
    read = []
    changes = store.changes

    def counted(*args):
        read.append(changes(*args))
        return read[-1]

    monkeypatch.setattr("memoranda.search.vectors.cache.changes", counted)
    await cache.fresh(organization_id)
    assert sum(len(each.vectors) for each in read) == 20
    await cache.fresh(organization_id)
    await storage.write(organization_id, put, {new_id(): unit(99)})
    await cache.fresh(organization_id)
    assert sum(len(each.vectors) for each in read) == 21


async def test_a_large_organization_is_read_in_pages(cache, storage, monkeypatch) -> None:
    monkeypatch.setattr("memoranda.search.vectors.cache.PAGE", 7)
    organization_id = new_id()
    items = {new_id(): unit(seed) for seed in range(50)}
    await storage.write(organization_id, put, items)
    snapshot = await cache.fresh(organization_id)
    assert set(snapshot.items) == set(items)
    assert len(snapshot.items) == 50
    for seed, item_id in enumerate(items):
        assert await found(cache, organization_id, seed) == [item_id]


async def test_who_calls_at_the_same_time_shares_one_read(cache, storage, watched) -> None:
    organization_id = new_id()
    await storage.write(organization_id, put, {new_id(): unit(1)})
    snapshots = await asyncio.gather(*(cache.fresh(organization_id) for _ in range(50)))
    assert watched.reads == 1
    assert len({id(each.rows.base) for each in snapshots}) == 1


async def test_who_calls_during_a_read_sees_what_was_committed_since_it_began(
    cache, storage, watched
) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {new_id(): unit(1)})
    watched.gate = asyncio.Event()
    early = asyncio.create_task(found(cache, organization_id, 2))
    await asyncio.sleep(0.05)  # it has seen the rows, and is held back with them
    await storage.write(organization_id, put, {item_id: unit(2)})
    late = [asyncio.create_task(found(cache, organization_id, 2)) for _ in range(10)]
    await asyncio.sleep(0)
    watched.gate.set()
    assert await early == []
    assert await asyncio.gather(*late) == [[item_id]] * 10
    assert watched.reads == 2


async def test_a_caller_that_goes_away_takes_the_read_from_nobody(cache, storage, watched) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    watched.gate = asyncio.Event()
    callers = [asyncio.create_task(found(cache, organization_id, 1)) for _ in range(3)]
    await asyncio.sleep(0.02)
    callers[0].cancel()
    watched.gate.set()
    assert await asyncio.gather(*callers[1:]) == [[item_id]] * 2
    assert watched.reads == 1
    with pytest.raises(asyncio.CancelledError):
        await callers[0]


async def test_a_read_goes_on_when_every_caller_has_gone(cache, storage, watched) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    watched.gate = asyncio.Event()
    caller = asyncio.create_task(cache.fresh(organization_id))
    await asyncio.sleep(0.02)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    watched.gate.set()
    await asyncio.sleep(0.02)
    assert cache.nbytes > 0
    assert await found(cache, organization_id, 1) == [item_id]


async def test_a_read_that_fails_is_the_callers_and_the_next_begins_anew(
    cache, storage, watched
) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    await cache.fresh(organization_id)

    def busy() -> None:
        raise StorageBusy("The database is busy.")

    watched.before = busy
    with pytest.raises(StorageBusy):
        await cache.fresh(organization_id)
    watched.before = lambda: None
    assert await found(cache, organization_id, 1) == [item_id]


async def test_a_read_that_broke_halfway_leaves_no_half_of_it_behind(
    cache, storage, monkeypatch
) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {new_id(): unit(1)})
    await cache.fresh(organization_id)
    await storage.write(organization_id, put, {item_id: unit(2)})

    def breaks(matrix, changes) -> None:
        matrix._size -= 1
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(VectorMatrix, "add", breaks)
        with pytest.raises(MemoryError):
            await cache.fresh(organization_id)
    assert await found(cache, organization_id, 2) == [item_id]


async def test_it_keeps_to_its_bytes_and_the_least_used_go_first(storage) -> None:
    organizations = [new_id() for _ in range(4)]
    for seed, organization_id in enumerate(organizations):
        await storage.write(organization_id, put, {new_id(): unit(seed) for _ in range(50)})
    watched = Watched(storage)
    one = await _bytes_of(watched, organizations[0])
    cache = VectorCache(watched, COLLECTION, max_bytes=3 * one)
    for organization_id in organizations[:3]:
        await cache.fresh(organization_id)
    await cache.fresh(organizations[0])
    await cache.fresh(organizations[3])
    assert cache.nbytes <= 3 * one
    assert list(cache._places) == [organizations[2], organizations[0], organizations[3]]
    for organization_id in organizations * 3:
        assert await cache.fresh(organization_id) is not None
        assert cache.nbytes <= 3 * one


async def test_one_that_is_too_large_is_searched_and_not_kept_and_that_is_said_once(
    storage, caplog
) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    cache = VectorCache(storage, COLLECTION, max_bytes=10)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await found(cache, organization_id, 1) == [item_id]
            assert cache.nbytes == 0
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_what_was_evicted_is_read_anew(cache, storage, watched) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    await cache.fresh(organization_id)
    cache.evict(organization_id)
    assert cache.nbytes == 0
    assert await found(cache, organization_id, 1) == [item_id]


async def test_an_eviction_during_a_read_leaves_nothing_of_it_behind(
    cache, storage, watched
) -> None:
    organization_id = new_id()
    await storage.write(organization_id, put, {new_id(): unit(1)})
    watched.gate = asyncio.Event()
    caller = asyncio.create_task(cache.fresh(organization_id))
    await asyncio.sleep(0.02)
    cache.evict(organization_id)
    watched.gate.set()
    assert await caller is not None
    assert cache.nbytes == 0


async def test_what_nobody_looked_at_for_long_forgets_what_went_meanwhile(
    cache, storage, now
) -> None:
    organization_id, kept_id, gone_id = new_id(), new_id(), new_id()
    await storage.write(organization_id, put, {kept_id: unit(1), gone_id: unit(2)})
    await cache.fresh(organization_id)
    await storage.write(organization_id, store.drop, COLLECTION, [gone_id])
    now.time += OLDEST + timedelta(hours=1)
    # Nothing of the dropped item stands any more that could tell.
    assert await storage.write(organization_id, store.tidy, COLLECTION, MODEL, now(), 10) == 1
    assert await found(cache, organization_id, 2) == []
    assert await found(cache, organization_id, 1) == [kept_id]


async def test_another_generation_of_the_same_model_is_read_anew(cache, storage) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(organization_id, put, {item_id: unit(1)})
    assert await found(cache, organization_id, 1) == [item_id]
    for old, new in ((MODEL, "other"), ("other", MODEL)):
        assert await storage.write(organization_id, store.flip, COLLECTION, old, new)
        assert await storage.write(organization_id, store.clear, COLLECTION, (new, new), 10) <= 1
    assert await found(cache, organization_id, 1) == []


async def test_closing_waits_for_nobody_and_leaves_nothing_behind(storage, watched) -> None:
    organization_id = new_id()
    await storage.write(organization_id, put, {new_id(): unit(1)})
    cache = VectorCache(watched, COLLECTION, max_bytes=1_000_000)
    watched.gate = asyncio.Event()
    caller = asyncio.create_task(cache.fresh(organization_id))
    await asyncio.sleep(0.02)
    await cache.close()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert cache.nbytes == 0
    assert not cache._running


async def _bytes_of(storage: Watched, organization_id) -> int:
    cache = VectorCache(storage, COLLECTION, max_bytes=1_000_000_000)
    await cache.fresh(organization_id)
    return cache.nbytes
