"""What the nightly schedule promises: once a night, by one of all workers, for every organization."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta
from uuid import UUID

import pytest

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.access.service import Access
from memoranda.jobs import nightly as room
from memoranda.jobs.nightly import NAME, Nightly, Step, next_time
from memoranda.jobs.schedule import store
from memoranda.jobs.worker import Worker
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.words.ids import new_id

AT = time(4, 13)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
LEASE = timedelta(minutes=5)
PATIENCE_S = 20


class Night:
    """A database with a clock that the test sets, and a step that counts whom it was run for."""

    def __init__(self) -> None:
        self.now = NOON
        self.storage: Storage
        self.ran: Counter[UUID] = Counter()
        self.organizations: set[UUID] = set()
        self.held_up = asyncio.Event()
        self.held_up.set()

    async def add_organizations(self, how_many: int) -> None:
        for number in range(how_many):
            made = await Access(self.storage).create_organization(LOCAL_OPERATOR, f"O{number}")
            self.organizations.add(made.organization.id)

    async def count(self, organization_id: UUID) -> int:
        await self.held_up.wait()
        self.ran[organization_id] += 1
        return 1

    def nightly(self, *steps: Step, lease: timedelta = LEASE) -> Nightly:
        return Nightly(self.storage, steps or [Step("counting", self.count)], at=AT, lease=lease)

    def went_by(self, nights: int) -> bool:
        """Whether every organization had its turn so many times."""
        return self.ran == Counter(dict.fromkeys(self.organizations, nights))


@pytest.fixture
async def night(database_url: str) -> AsyncIterator[Night]:
    made = Night()
    made.storage = await Storage.open(database_url, clock=lambda: made.now)
    await made.add_organizations(3)
    yield made
    await made.storage.close()


async def test_nothing_is_due_before_the_time_and_all_of_it_after(night: Night) -> None:
    nightly = night.nightly()
    assert await nightly.serve(new_id()) == room.LOOK
    night.now = NOON + timedelta(hours=16)
    assert await nightly.serve(new_id()) == room.LOOK
    assert night.went_by(0)
    night.now = NOON + timedelta(hours=16, minutes=12, seconds=30)
    assert await nightly.serve(new_id()) == timedelta(seconds=30)
    night.now = NOON + timedelta(hours=16, minutes=13)
    await nightly.serve(new_id())
    assert night.went_by(1)
    await nightly.serve(new_id())
    assert night.went_by(1)
    night.now += timedelta(days=1)
    await nightly.serve(new_id())
    assert night.went_by(2)


async def test_of_many_workers_one_has_the_turn(night: Night, database_url: str) -> None:
    workers = [night.nightly() for _ in range(8)]
    other = await Storage.open(database_url, clock=lambda: night.now)
    workers += [Nightly(other, [Step("counting", night.count)], at=AT) for _ in range(8)]
    await asyncio.gather(*(nightly.serve(new_id()) for nightly in workers))
    night.now += timedelta(days=1)
    await asyncio.gather(*(nightly.serve(new_id()) for nightly in workers))
    await other.close()
    assert night.went_by(1)


async def test_every_organization_has_its_turn_however_many_there_are(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LISTED", 2)
    await night.add_organizations(4)
    nightly = night.nightly()
    await nightly.serve(new_id())
    night.now += timedelta(days=1)
    await nightly.serve(new_id())
    assert len(night.organizations) == 7
    assert night.went_by(1)


async def test_a_night_that_nobody_was_there_for_is_made_up_for_once(night: Night) -> None:
    await night.nightly().serve(new_id())
    night.now += timedelta(days=9)
    for _ in range(3):
        await night.nightly().serve(new_id())
    assert night.went_by(1)
    due = await night.storage.read(PLATFORM, store.due, NAME)
    assert due.at == datetime(2026, 5, 11, 4, 13, tzinfo=UTC)


async def test_the_turn_of_a_killed_worker_is_anothers_once_its_lease_is_over(
    night: Night, database_url: str
) -> None:
    await night.nightly().serve(new_id())
    night.now += timedelta(days=1)
    code = f"""
import asyncio
from datetime import datetime, time, timedelta
from memoranda.jobs.nightly import Nightly, Step
from memoranda.storage import Storage
from memoranda.words.ids import new_id

async def hang(organization_id):
    print("has the turn", flush=True)
    await asyncio.sleep(60)

async def main():
    now = datetime.fromisoformat({night.now.isoformat()!r})
    storage = await Storage.open({database_url!r}, clock=lambda: now)
    nightly = Nightly(storage, [Step("hanging", hang)], at=time(4, 13), lease=timedelta(minutes=5))
    await nightly.serve(new_id())

asyncio.run(main())
"""
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"has the turn\n"
    holder.kill()
    await holder.communicate()
    nightly = night.nightly()
    night.now += LEASE - timedelta(seconds=30)
    assert await nightly.serve(new_id()) == timedelta(seconds=30)
    assert night.went_by(0)
    night.now += timedelta(seconds=30)
    await nightly.serve(new_id())
    assert night.went_by(1)


async def test_a_turn_that_takes_long_is_kept(night: Night) -> None:
    """The lease is renewed while the steps run, so no other worker begins meanwhile."""
    await night.nightly().serve(new_id())
    night.now += timedelta(days=1)
    night.held_up.clear()
    first = asyncio.create_task(night.nightly(lease=timedelta(seconds=1)).serve(new_id()))
    for _ in range(15):
        await asyncio.sleep(0.1)
        night.now += timedelta(seconds=0.1)
        await night.nightly().serve(new_id())
        assert night.went_by(0)
    night.held_up.set()
    await asyncio.wait_for(first, PATIENCE_S)
    assert night.went_by(1)


async def test_a_turn_that_was_lost_is_ended_and_not_finished(night: Night) -> None:
    await night.nightly().serve(new_id())
    night.now += timedelta(days=1)
    night.held_up.clear()
    loser, winner = new_id(), new_id()
    losing = asyncio.create_task(night.nightly(lease=timedelta(seconds=0.3)).serve(loser))
    async with asyncio.timeout(PATIENCE_S):
        while not await night.storage.write(PLATFORM, store.hold, NAME, loser, LEASE):  # noqa: ASYNC110 - another task's work has no event
            await asyncio.sleep(0.01)

    def take_over(tx: Transaction) -> bool:
        store.hand_back(tx, NAME, loser)
        return store.take(tx, NAME, winner, LEASE)

    assert await night.storage.write(PLATFORM, take_over)
    await asyncio.sleep(0.3)
    night.held_up.set()
    await asyncio.wait_for(losing, PATIENCE_S)
    assert night.ran.total() <= 1
    assert not await night.storage.write(PLATFORM, store.finish, NAME, loser, NOON)
    assert await night.storage.write(PLATFORM, store.hold, NAME, winner, LEASE)
    due = await night.storage.read(PLATFORM, store.due, NAME)
    assert due.at < due.now


async def test_a_worker_that_is_stopped_in_order_leaves_its_turn_to_another_at_once(
    night: Night,
) -> None:
    await night.nightly().serve(new_id())
    night.now += timedelta(days=1)
    night.held_up.clear()
    stopped = asyncio.create_task(night.nightly().serve(new_id()))
    await asyncio.sleep(0.1)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    night.held_up.set()
    await night.nightly().serve(new_id())
    assert night.went_by(1)


async def test_a_step_that_breaks_keeps_no_other_and_no_other_organization_waiting(
    night: Night, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: UUID) -> int:
        raise RuntimeError("swordfish")

    nightly = night.nightly(Step("breaking", broken), Step("counting", night.count))
    await nightly.serve(new_id())
    night.now += timedelta(days=1)
    await nightly.serve(new_id())
    assert night.went_by(1)
    assert "Nightly breaking of" in caplog.text
    assert "swordfish" not in caplog.text


async def test_a_step_is_run_again_only_where_it_asks_to_be(night: Night) -> None:
    left = Counter(dict.fromkeys(night.organizations, 250))

    async def some(organization_id: UUID) -> int:
        taken = min(100, left[organization_id])
        left[organization_id] -= taken
        return taken

    nightly = night.nightly(Step("all of it", some, again=True), Step("once", night.count))
    await nightly.serve(new_id())
    night.now += timedelta(days=1)
    await nightly.serve(new_id())
    assert left.total() == 0
    assert night.went_by(1)


async def test_another_time_takes_effect_and_skips_no_night(night: Night) -> None:
    await night.nightly().serve(new_id())
    sooner = Nightly(night.storage, [Step("counting", night.count)], at=time(13, 0))
    await sooner.serve(new_id())
    night.now = NOON + timedelta(hours=1)
    await sooner.serve(new_id())
    assert night.went_by(1)
    later = Nightly(night.storage, [Step("counting", night.count)], at=time(20, 0))
    await later.serve(new_id())
    due = await night.storage.read(PLATFORM, store.due, NAME)
    assert due.at == datetime(2026, 5, 1, 20, tzinfo=UTC)


async def test_a_worker_does_it_while_it_runs_and_outlives_a_fault_of_it(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise RuntimeError

    nightly = Nightly(
        night.storage,
        [Step("counting", night.count)],
        at=AT,
        look=timedelta(milliseconds=20),
    )
    await nightly.serve(new_id())
    night.now += timedelta(days=1)
    worker = Worker(night.storage, [], nightly, poll=timedelta(milliseconds=20))
    with monkeypatch.context() as broken:
        broken.setattr(room, "organizations_after", missing)
        running = asyncio.create_task(worker.run())
        await asyncio.sleep(0.2)
        assert not running.done()
        assert night.went_by(0)
    async with asyncio.timeout(PATIENCE_S):
        while not night.went_by(1):  # noqa: ASYNC110 - another task's work has no event
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_first_steps_are_run_once_by_each_worker_that_begins(night: Night) -> None:
    async def broken(_: UUID) -> int:
        raise RuntimeError

    first = [Step("breaking", broken), Step("counting", night.count)]
    for turn in (1, 2):
        nightly = Nightly(night.storage, [], at=AT, first=first)
        worker = Worker(night.storage, [], nightly, poll=timedelta(milliseconds=20))
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(PATIENCE_S):
            while not night.went_by(turn):  # noqa: ASYNC110 - another task's work has no event
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        await worker.drain()
        assert night.went_by(turn)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2026-05-01T04:12:59+00:00", "2026-05-01T04:13:00+00:00"),
        ("2026-05-01T04:13:00+00:00", "2026-05-02T04:13:00+00:00"),
        ("2026-12-31T23:00:00+00:00", "2027-01-01T04:13:00+00:00"),
        ("2026-03-29T05:30:00+02:00", "2026-03-29T04:13:00+00:00"),
    ],
)
def test_the_next_time_is_after_now_and_in_utc(now: str, then: str) -> None:
    assert next_time(AT, datetime.fromisoformat(now)) == datetime.fromisoformat(then)


async def test_a_first_step_for_the_platform_is_run_for_it_and_for_every_organization(
    night: Night,
) -> None:
    await night.add_organizations(2)
    of_all: list[object] = []
    of_each: list[object] = []

    async def for_all(scope: object) -> int:
        of_all.append(scope)
        return 0

    async def for_each(scope: object) -> int:
        of_each.append(scope)
        return 0

    first = [Step("for all", for_all, platform=True), Step("for each", for_each)]
    await Nightly(night.storage, [], at=time(4, 13), first=first).begin()
    assert of_all[0] is PLATFORM
    assert of_all[1:] == of_each
    assert len(of_each) >= 2
