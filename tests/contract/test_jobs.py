"""What workers promise on every database: all that was added is taken in, once, whoever dies."""

import asyncio
import sqlite3
import sys
import time
from contextlib import closing
from datetime import timedelta
from uuid import UUID

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.access.service import Access
from memoranda.jobs.chores import TakingIn
from memoranda.jobs.worker import Worker
from memoranda.knowledge import ingest
from memoranda.knowledge.models import Source
from memoranda.knowledge.service import Knowledge
from memoranda.storage import PLATFORM, Scope, Storage, Transaction
from memoranda.storage.signals import KNOWLEDGE, Signal, settle, signal, signals
from memoranda.words.ids import new_id

SOON = timedelta(milliseconds=20)
MEGABYTE = 1024 * 1024


class Bench:
    """An open database with one organization, and workers on it."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.access = Access(storage)
        self.knowledge = Knowledge(storage, max_bytes=MEGABYTE)

    def worker(self, poll: timedelta = SOON) -> Worker:
        return Worker(self.storage, [TakingIn(self.knowledge)], poll=poll)

    async def organization(self, name: str) -> Principal:
        made = await self.access.create_organization(LOCAL_OPERATOR, name)
        return await self.access.authenticate(made.key.key)

    async def add(self, who: Principal, text: str = "Llamas hum when they are content.") -> Source:
        return await self.knowledge.add(
            who, text.encode(), title="notes.txt", platform=who.organization_id is None
        )

    async def raised(self) -> list[Signal]:
        return await self.storage.read(PLATFORM, signals, KNOWLEDGE)

    async def ready(self, who: Principal, source: Source) -> None:
        """Wait until a worker is done with `source`."""
        async with asyncio.timeout(10):
            while (await self.knowledge.get(who, source.id)).status == "pending":  # noqa: ASYNC110 - another task's work has no event
                await asyncio.sleep(0.01)

    async def found(self, who: Principal, query: str = "llamas") -> list[UUID]:
        answer = await self.knowledge.search(who, query, limit=50)
        return [result.source_id for result in answer.results]


@pytest.fixture
def bench(storage: Storage) -> Bench:
    return Bench(storage)


@pytest.fixture
async def owner(bench: Bench) -> Principal:
    return await bench.access.ensure_default()


async def test_everything_that_was_added_is_taken_in_whoever_added_it(
    bench: Bench, owner: Principal
) -> None:
    other = await bench.organization("Other")
    added = [(who, await bench.add(who)) for who in (owner, owner, other, LOCAL_OPERATOR)]
    await bench.worker().drain()
    for who, source in added:
        assert (await bench.knowledge.get(who, source.id)).status == "ready"
    assert await bench.raised() == []


async def test_many_workers_share_the_work_and_none_of_it_is_done_twice(
    bench: Bench, owner: Principal
) -> None:
    others = [await bench.organization(name) for name in ("One", "Two")]
    added = [
        (who, await bench.add(who, f"Llama number {number}."))
        for who in (owner, *others)
        for number in range(8)
    ]
    await asyncio.gather(*(bench.worker().drain() for _ in range(4)))
    for who, source in added:
        taken_in = await bench.knowledge.get(who, source.id)
        assert (taken_in.status, taken_in.attempts, taken_in.chunks) == ("ready", 1, 1)
    for who in (owner, *others):
        found = await bench.found(who, "llama")
        assert sorted(found) == sorted(source.id for asker, source in added if asker is who)


async def test_what_a_killed_worker_held_is_anothers_once_its_lease_is_over(
    bench: Bench, owner: Principal, database_url: str
) -> None:
    source = await bench.add(owner)
    lease = 1.5
    code = f"""
import asyncio
from datetime import timedelta
from uuid import UUID
from memoranda.knowledge.service import Knowledge
from memoranda.storage import Storage
from memoranda.words.ids import new_id

async def hold():
    storage = await Storage.open({database_url!r})
    claimed = await Knowledge(storage, max_bytes=1000).claim(
        UUID({str(owner.organization_id)!r}), new_id(), timedelta(seconds={lease})
    )
    print(claimed, flush=True)
    await asyncio.sleep(60)

asyncio.run(hold())
"""
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    told = await holder.stdout.readline()
    claimed_at = time.monotonic()
    holder.kill()
    await holder.communicate()
    assert told.decode().strip() == str(source.id)
    assert await bench.knowledge.claim(_home(owner), new_id()) is None
    await bench.worker().drain()
    assert time.monotonic() - claimed_at > lease / 2
    taken_in = await bench.knowledge.get(owner, source.id)
    assert (taken_in.status, taken_in.attempts) == ("ready", 2)
    assert await bench.found(owner) == [source.id]


async def test_a_worker_that_is_stopped_in_order_costs_the_document_no_try(
    bench: Bench, owner: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await bench.add(owner)
    for _ in range(5):
        source_id = await bench.knowledge.claim(_home(owner), stopped := new_id())
        assert source_id == source.id
        with monkeypatch.context() as slowed:
            slowed.setattr(ingest, "_read", lambda *_: time.sleep(0.3))
            working = asyncio.create_task(bench.knowledge.ingest(_home(owner), source_id, stopped))
            await asyncio.sleep(0.02)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working
    await bench.worker().drain()
    taken_in = await bench.knowledge.get(owner, source.id)
    assert (taken_in.status, taken_in.attempts) == ("ready", 1)


async def test_a_document_that_three_workers_died_of_fails_with_a_reason_and_can_be_tried_again(
    bench: Bench, owner: Principal
) -> None:
    source = await bench.add(owner)
    for _ in range(3):
        assert await bench.knowledge.claim(_home(owner), new_id(), timedelta(0)) == source.id
        await asyncio.sleep(0.002)
    await bench.worker().drain()
    failed = await bench.knowledge.get(owner, source.id)
    assert failed.status == "failed"
    assert failed.reason
    assert await bench.raised() == []
    await bench.knowledge.retry(owner, source.id)
    await bench.worker().drain()
    assert (await bench.knowledge.get(owner, source.id)).status == "ready"


async def test_a_document_that_can_not_be_read_fails_and_holds_up_nobody(
    bench: Bench, owner: Principal
) -> None:
    broken = await bench.knowledge.add(owner, b"\x7fELF\0\0\1", title="program.txt")
    fine = await bench.add(owner)
    await bench.worker().drain()
    failed = await bench.knowledge.get(owner, broken.id)
    assert failed.status == "failed"
    assert failed.reason
    assert await bench.found(owner) == [fine.id]
    assert await bench.raised() == []


async def test_an_organization_with_little_does_not_wait_for_one_with_much(
    bench: Bench, owner: Principal
) -> None:
    other = await bench.organization("Other")
    many = [await bench.add(owner, f"Llama {number}.") for number in range(6)]
    one = await bench.add(other)
    await bench.worker().drain()
    done = (await bench.knowledge.get(other, one.id)).updated_at
    ends = [(await bench.knowledge.get(owner, source.id)).updated_at for source in many]
    assert sum(end < done for end in ends) <= 1


async def test_one_scope_can_be_drained_alone(bench: Bench, owner: Principal) -> None:
    other = await bench.organization("Other")
    ours, theirs = await bench.add(owner), await bench.add(other)
    await bench.worker().drain(_home(owner))
    assert (await bench.knowledge.get(owner, ours.id)).status == "ready"
    assert (await bench.knowledge.get(other, theirs.id)).status == "pending"
    assert [each.scope for each in await bench.raised()] == [_home(other)]


async def test_a_woken_worker_does_not_wait_for_its_next_look(
    bench: Bench, owner: Principal
) -> None:
    worker = bench.worker(poll=timedelta(seconds=60))
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(0.1)
    source = await bench.add(owner)
    worker.wake()
    await bench.ready(owner, source)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_worker_outlives_a_fault_and_logs_no_text(
    sqlite_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    storage = await Storage.open(sqlite_database)
    bench = Bench(storage)
    owner = await bench.access.ensure_default()
    source = await bench.add(owner)
    other_program = sqlite3.connect(sqlite_database.removeprefix("sqlite:///"))
    with closing(other_program):
        other_program.execute("ALTER TABLE work_signals RENAME TO taken_away")
        running = asyncio.create_task(bench.worker().run())
        await asyncio.sleep(0.2)
        other_program.execute("ALTER TABLE taken_away RENAME TO work_signals")
        await bench.ready(owner, source)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await storage.close()
    assert "was interrupted" in caplog.text
    assert "work_signals" not in caplog.text


async def test_a_signal_that_was_raised_again_is_not_lost(storage: Storage) -> None:
    scopes: list[Scope] = [new_id(), PLATFORM]
    for scope in scopes:
        await storage.write(scope, signal, KNOWLEDGE)
    seen = await storage.read(PLATFORM, signals, KNOWLEDGE)
    assert [each.scope for each in seen] == scopes
    await storage.write(scopes[0], signal, KNOWLEDGE)
    settled = [await storage.write(PLATFORM, settle, KNOWLEDGE, each) for each in seen]
    assert settled == [False, True]
    left = await storage.read(PLATFORM, signals, KNOWLEDGE)
    assert [each.scope for each in left] == scopes[:1]
    assert await storage.read(PLATFORM, signals, "another kind") == []


async def test_a_signal_comes_with_its_work_or_not_at_all(storage: Storage) -> None:
    def fail(tx: Transaction) -> None:
        signal(tx, KNOWLEDGE)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await storage.write(new_id(), fail)
    assert await storage.read(PLATFORM, signals, KNOWLEDGE) == []


def _home(who: Principal) -> UUID:
    assert who.organization_id is not None
    return who.organization_id
