"""What a worker promises for work of several kinds: none waits for another, and no fault ends it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from uuid import UUID

import pytest

from memoranda.jobs.worker import Worker
from memoranda.storage import PLATFORM, Scope, Storage
from memoranda.storage.signals import Signal, signal, signals
from memoranda.words.ids import new_id

SOON = timedelta(milliseconds=10)
PATIENCE_S = 20


class Errands:
    """A kind of work that is counted: so many errands wait in each scope."""

    def __init__(self, storage: Storage, kind: str) -> None:
        self.kind = kind
        self.left: Counter[Scope] = Counter()
        self.done: list[Scope] = []
        self.broken: set[Scope] = set()
        self.held_up = asyncio.Event()
        self.held_up.set()
        self._storage = storage

    async def add(self, scope: Scope, errands: int = 1) -> None:
        self.left[scope] += errands
        await self._storage.write(scope, signal, self.kind)

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        if scope in self.broken:
            raise RuntimeError("swordfish")
        if not self.left[scope]:
            return False
        await self.held_up.wait()
        self.left[scope] -= 1
        self.done.append(scope)
        return True

    async def waiting(self, scope: Scope) -> bool:
        return self.left[scope] > 0

    async def finished(self, errands: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.done) < errands:  # noqa: ASYNC110 - another task's work has no event
                await asyncio.sleep(0.005)


@pytest.fixture
def letters(storage: Storage) -> Errands:
    return Errands(storage, "letters")


@pytest.fixture
def parcels(storage: Storage) -> Errands:
    return Errands(storage, "parcels")


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[None]:
    running = asyncio.create_task(worker.run())
    try:
        yield
        assert not running.done()
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_all_of_every_kind_is_done_wherever_it_waits(
    storage: Storage, letters: Errands, parcels: Errands
) -> None:
    for chore in (letters, parcels):
        for scope in (new_id(), new_id(), PLATFORM):
            await chore.add(scope, 3)
    await Worker(storage, [letters, parcels], poll=SOON).drain()
    for chore in (letters, parcels):
        assert len(chore.done) == 9
        assert await storage.read(PLATFORM, signals, chore.kind) == []


async def test_no_kind_waits_for_another_that_takes_long(
    storage: Storage, letters: Errands, parcels: Errands
) -> None:
    parcels.held_up.clear()
    scope = new_id()
    await parcels.add(scope)
    await letters.add(scope, 3)
    async with working(Worker(storage, [parcels, letters], poll=SOON)):
        await letters.finished(3)
        assert parcels.done == []
        parcels.held_up.set()
        await parcels.finished(1)


async def test_no_organization_waits_for_all_of_anothers(
    storage: Storage, letters: Errands
) -> None:
    much, little = new_id(), new_id()
    await letters.add(much, 20)
    await letters.add(little, 2)
    async with working(Worker(storage, [letters], poll=SOON)):
        await letters.finished(22)
    assert letters.done[:4].count(little) == 2


async def test_what_breaks_in_one_organization_keeps_no_other_waiting_and_is_tried_again(
    storage: Storage, letters: Errands, parcels: Errands, caplog: pytest.LogCaptureFixture
) -> None:
    broken, fine = new_id(), new_id()
    letters.broken.add(broken)
    await letters.add(broken)
    await letters.add(fine)
    await parcels.add(fine)
    async with working(Worker(storage, [letters, parcels], poll=SOON)):
        await letters.finished(1)
        await parcels.finished(1)
        letters.broken.clear()
        await letters.finished(2)
    assert letters.done == [fine, broken]
    assert "was interrupted: RuntimeError" in caplog.text
    assert "swordfish" not in caplog.text


async def test_one_kind_or_one_scope_can_be_drained_alone(
    storage: Storage, letters: Errands, parcels: Errands
) -> None:
    ours, theirs = new_id(), new_id()
    for chore in (letters, parcels):
        for scope in (ours, theirs):
            await chore.add(scope)
    worker = Worker(storage, [letters, parcels], poll=SOON)
    await worker.drain(ours, kind="letters")
    assert (letters.done, parcels.done) == ([ours], [])
    await worker.drain(ours)
    assert (letters.done, parcels.done) == ([ours], [ours])
    await worker.drain()
    assert set(letters.done) == set(parcels.done) == {ours, theirs}
    assert len(letters.done) == len(parcels.done) == 2


async def test_draining_tells_of_a_fault(storage: Storage, letters: Errands) -> None:
    scope = new_id()
    letters.broken.add(scope)
    await letters.add(scope)
    with pytest.raises(RuntimeError):
        await Worker(storage, [letters], poll=SOON).drain()


async def test_draining_can_end_where_what_is_left_has_to_wait(
    storage: Storage, letters: Errands, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def later(*_: object) -> bool:
        return False

    worker = Worker(storage, [letters], poll=SOON)
    await letters.add(new_id(), 2)
    assert await worker.drain(idle=timedelta(seconds=0.1))
    await letters.add(new_id())
    monkeypatch.setattr(letters, "serve", later)
    async with asyncio.timeout(PATIENCE_S):
        assert not await worker.drain(idle=timedelta(seconds=0.1))


async def test_a_wake_reaches_every_kind(
    storage: Storage, letters: Errands, parcels: Errands
) -> None:
    worker = Worker(storage, [letters, parcels], poll=timedelta(seconds=60))
    async with working(worker):
        await asyncio.sleep(0.1)
        for chore in (letters, parcels):
            await chore.add(new_id())
        worker.wake()
        await letters.finished(1)
        await parcels.finished(1)


async def test_a_worker_that_was_woken_goes_back_to_rest(
    storage: Storage, letters: Errands, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    look = Worker._raised

    async def counted(worker: Worker, chore: Errands) -> dict[str, list[Signal]]:
        looks.append(chore)
        return await look(worker, chore)

    monkeypatch.setattr(Worker, "_raised", counted)
    worker = Worker(storage, [letters], poll=timedelta(seconds=60))
    async with working(worker):
        await asyncio.sleep(0.1)
        worker.wake()
        await asyncio.sleep(0.3)
    assert len(looks) == 2
