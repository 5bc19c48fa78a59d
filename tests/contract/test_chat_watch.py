"""Runs that nobody finishes are ended by a worker, in their own organization and with what they had told."""

import asyncio
from datetime import timedelta

import pytest

from memoranda.conversations.chats.following import changing
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.live.patience import LEFT, QUEUED, SILENT, WAITED, Patience
from memoranda.conversations.chats.models import ChatRun, ChatRunStatus
from memoranda.conversations.chats.service import Chats
from memoranda.jobs.watching import Watching
from memoranda.jobs.worker import Worker
from memoranda.runs.models import RunStatus
from memoranda.runs.service import Runs
from memoranda.storage import PLATFORM, Storage
from memoranda.storage.signals import CHAT_RUNS, signals
from memoranda.words.ids import new_id
from tests.contract.chat_room import Room, new_room
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import new_tenant

PATIENCE = Patience(
    queued=timedelta(minutes=1),
    silent=timedelta(minutes=2),
    waiting=timedelta(minutes=3),
    stopping=timedelta(minutes=4),
)
TICK = timedelta(microseconds=1)


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    return timed_storage


@pytest.fixture
def watching(storage: Storage) -> Watching:
    return Watching(storage, LiveRuns(storage, patience=PATIENCE))


async def watched(storage: Storage, name: str = "Acme") -> Room:
    live = LiveRuns(storage, patience=PATIENCE)
    return await new_room(storage, await new_tenant(storage, name), Chats(storage, live=live))


async def run_of(room: Room, run: ChatRun) -> ChatRun:
    return await room.chats.run(room.who, run.id)


async def test_a_run_that_nothing_picks_up_fails_and_the_chat_goes_on(
    storage: Storage, clock: SteppedClock, watching: Watching
) -> None:
    room = await watched(storage)
    run = await room.queued()
    clock.tick(PATIENCE.queued - TICK)
    await watching.serve(new_id())
    assert (await run_of(room, run)).status is ChatRunStatus.QUEUED
    clock.tick(TICK)
    await watching.serve(new_id())
    ended = await run_of(room, run)
    assert (ended.status, ended.reason, ended.ended_at) == (
        *(ChatRunStatus.FAILED, QUEUED),
        clock.now,
    )
    among_runs = await Runs(storage).get(room.who, run.id)
    assert (among_runs.status, among_runs.failure_reason) == (RunStatus.FAILED, QUEUED)
    assert await room.shown() == ["When does the ferry leave?"]
    assert (await room.answered("And now?")).run.status is ChatRunStatus.COMPLETED


async def test_a_run_that_goes_silent_keeps_what_it_had_told(
    storage: Storage, clock: SteppedClock, watching: Watching
) -> None:
    room = await watched(storage)
    run = await room.running()
    clock.tick(PATIENCE.silent - TICK)
    await room.tell(run, "At no")
    clock.tick(PATIENCE.silent - TICK)
    await room.live.emit(room.who, run.id)  # a sign of life
    clock.tick(PATIENCE.silent - TICK)
    await watching.serve(new_id())
    assert (await run_of(room, run)).status is ChatRunStatus.RUNNING
    clock.tick(TICK)
    await watching.serve(new_id())
    ended = await run_of(room, run)
    assert (ended.status, ended.reason) == (ChatRunStatus.FAILED, SILENT)
    partial = [{"type": "text", "text": "At no", "stopped": True}]
    assert await room.shown() == ["When does the ferry leave?", partial]
    thread = await room.chats.thread(room.who, room.chat.id)
    assert [each.state for each in thread.messages] == ["complete", "failed"]
    snapshot = await room.live.snapshot(room.who, run.id)
    assert snapshot.status is ChatRunStatus.FAILED
    assert snapshot.message is not None
    assert (snapshot.message.id, snapshot.message.content) == (ended.answer_id, partial)


async def test_a_run_that_waits_has_more_patience_and_one_that_stops_does_not_get_any_by_telling_more(
    storage: Storage, clock: SteppedClock, watching: Watching
) -> None:
    waits, stops = await watched(storage), await watched(storage, "Other")
    waiting, stopping = await waits.running(), await stops.running()
    await waits.chats.wait(waits.who, waiting.id, "Somebody has to agree.")
    await stops.live.stop(stops.who, stopping.id)
    clock.tick(PATIENCE.waiting - TICK)
    await stops.tell(stopping, "At no")
    await watching.serve(new_id())
    assert (await run_of(waits, waiting)).status is ChatRunStatus.WAITING
    clock.tick(TICK)
    await watching.serve(new_id())
    ended = await run_of(waits, waiting)
    assert (ended.status, ended.reason) == (ChatRunStatus.FAILED, WAITED)
    assert (await run_of(stops, stopping)).status is ChatRunStatus.STOPPING
    clock.tick(PATIENCE.stopping - PATIENCE.waiting)
    await watching.serve(new_id())
    ended = await run_of(stops, stopping)
    assert (ended.status, ended.reason) == (ChatRunStatus.STOPPED, LEFT)
    partial = [{"type": "text", "text": "At no", "stopped": True}]
    assert await stops.shown() == ["When does the ferry leave?", partial]


async def test_each_organization_is_looked_into_as_long_as_a_run_is_live_there_and_no_longer(
    storage: Storage, clock: SteppedClock, watching: Watching
) -> None:
    ours, theirs = await watched(storage), await watched(storage, "Other")
    mine, other = await ours.queued(), await theirs.running()
    clock.tick(PATIENCE.queued)
    await watching.serve(new_id())
    assert (await run_of(ours, mine)).status is ChatRunStatus.FAILED
    assert (await run_of(theirs, other)).status is ChatRunStatus.RUNNING
    await watching.serve(new_id())
    raised = await storage.read(PLATFORM, signals, CHAT_RUNS)
    assert [each.scope for each in raised] == [theirs.who.organization_id]
    again = await ours.queued("And now?")
    clock.tick(PATIENCE.silent)
    await watching.serve(new_id())
    for room, run in ((ours, again), (theirs, other)):
        assert (await run_of(room, run)).status is ChatRunStatus.FAILED


async def test_two_workers_that_look_at_once_end_a_run_once(
    storage: Storage, clock: SteppedClock, watching: Watching
) -> None:
    room = await watched(storage)
    run = await room.running()
    await room.tell(run, "At no")
    clock.tick(PATIENCE.silent)
    await asyncio.gather(*(watching.serve(new_id()) for _ in range(2)))
    assert len(await room.shown()) == 2
    events = await room.live.events(room.who, run.id)
    assert [each.type for each in events.items][-2:] == ["message", "status"]


async def test_a_run_that_ended_since_somebody_looked_is_left_as_it_is(
    storage: Storage, clock: SteppedClock
) -> None:
    room = await watched(storage)
    done = await room.answered()
    home = room.who.organization_id
    assert home is not None
    clock.tick(PATIENCE.waiting)
    assert not await storage.write(home, changing.end_overdue, done.run.id, PATIENCE)
    assert not await storage.write(home, changing.end_overdue, new_id(), PATIENCE)
    assert await run_of(room, done.run) == done.run


async def test_a_worker_goes_its_rounds_and_whoever_drains_the_work_does_not_wait_for_people(
    storage: Storage, clock: SteppedClock
) -> None:
    room = await watched(storage)
    run = await room.queued()
    live = LiveRuns(storage, patience=PATIENCE)
    rounds = [Watching(storage, live, look=timedelta(0))]
    worker = Worker(storage, [], rounds=rounds, poll=timedelta(seconds=0.01))
    assert await worker.drain()
    clock.tick(PATIENCE.queued)
    following = live.follow(room.who, run.id, 1)
    working = asyncio.ensure_future(worker.run())
    try:
        event = await asyncio.wait_for(anext(following), 20)
    finally:
        working.cancel()
        await asyncio.wait({working})
        await following.aclose()
    assert event is not None
    assert (await run_of(room, run)).status is ChatRunStatus.FAILED
