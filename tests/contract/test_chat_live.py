"""What is told of a run while it goes on, and how it is stopped: on every database, and to nobody else."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.conversations.chats.errors import RunEnded
from memoranda.conversations.chats.following.ears import Ears
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.live import store
from memoranda.conversations.chats.live.folding import folded
from memoranda.conversations.chats.live.models import (
    NewEvent,
    RunEnd,
    RunEvent,
    RunSnapshot,
    RunState,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from memoranda.conversations.chats.models import AgentTurn, ChatRun, ChatRunStatus
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.endings import NOT_RUN, UNANSWERED
from memoranda.conversations.models import Message
from memoranda.runs.models import RunStatus
from memoranda.runs.service import Runs
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, Refused
from tests.contract.chat_room import NOWHERE, Room, new_room, strangers
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture(scope="module")
async def acme(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage)


@pytest.fixture(scope="module")
async def other(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage, "Other")


@pytest.fixture
async def room(shared_storage: Storage, acme: Tenant) -> Room:
    return await new_room(shared_storage, acme)


async def told(room: Room, run: ChatRun, **asked: Any) -> list[RunEvent]:
    return (await room.live.events(room.who, run.id, limit=1_000, **asked)).items


async def test_events_are_numbered_from_one_and_come_to_the_snapshot(room: Room) -> None:
    run = await room.running()
    calls: list[NewEvent] = [
        TextDelta(text="Let me "),
        TextDelta(text="look."),
        ToolStarted(call_id="c1", name="look_up", arguments="{}"),
        ToolFinished(call_id="c1", result="noon"),
    ]
    heard = await room.live.emit(room.who, run.id, calls)
    assert (heard.status, heard.stop) == (ChatRunStatus.RUNNING, False)
    done = await room.answer(run, "At noon.")
    events = await told(room, run)
    assert [each.sequence for each in events] == list(range(1, len(events) + 1))
    assert [each.type for each in events] == [
        *("status", "status", "text.delta", "text.delta", "tool.started", "tool.finished"),
        *("message", "status"),
    ]
    snapshot = await room.live.snapshot(room.who, run.id)
    state = folded(RunState(), events)
    assert RunState(**snapshot.model_dump(include=set(RunState.model_fields))) == state
    assert (snapshot.status, snapshot.message) == (ChatRunStatus.COMPLETED, done.answer)
    assert done.run.last_event == snapshot.sequence == heard.sequence + 2


async def test_a_snapshot_of_very_many_events_is_what_all_of_them_come_to(room: Room) -> None:
    run = await room.running()
    for start, end in ((0, 500), (500, 650)):
        await room.tell(run, *(f"{number} " for number in range(start, end)))
    snapshot = await room.live.snapshot(room.who, run.id)
    assert snapshot.blocks == [
        {"type": "text", "text": "".join(f"{number} " for number in range(650))}
    ]
    there = await room.storage.read(room.who.organization_id, store.head, run.id)
    assert there is not None
    assert there.upto == 502  # nobody folds all of them again
    half = await told(room, run, after=200)
    assert (half[0].sequence, half[-1].sequence) == (201, snapshot.sequence)


async def test_an_event_of_a_long_run_takes_no_look_at_all_that_was_told(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FOLDED_EVERY", 10)
    run = await room.running()
    looked_at: list[int] = []
    real = store.state_of

    def counted(tx: Transaction, run_id: UUID, there: store.Head) -> RunState:
        looked_at.append(there.last)
        return real(tx, run_id, there)

    monkeypatch.setattr(store, "state_of", counted)
    told = 1_000
    for number in range(0, told, 10):
        await room.tell(run, *(f"{each} " for each in range(number, number + 10)))
    # Else each event would cost more than the one before it.
    assert sum(looked_at) <= store.FOLDED_SHARE * told
    looked_at.clear()
    await room.live.emit(room.who, run.id)
    await room.live.events(room.who, run.id, after=told)
    await room.chats.wait(room.who, run.id, "Approval.")
    assert looked_at == []
    monkeypatch.undo()
    snapshot = await room.live.snapshot(room.who, run.id)
    assert snapshot.blocks[0]["text"] == "".join(f"{each} " for each in range(told))


async def test_what_was_told_and_whose_answer_was_lost_is_not_told_twice(room: Room) -> None:
    run = await room.running()
    words: list[NewEvent] = [TextDelta(text="one "), TextDelta(text="two ")]
    first = await room.live.emit(room.who, run.id, words, after=2)
    assert await room.live.emit(room.who, run.id, words, after=2) == first
    more = await room.live.emit(room.who, run.id, [TextDelta(text="three")], after=4)
    assert more.sequence == 5
    assert await room.live.emit(room.who, run.id, words, after=2) == more
    for after, events in ((2, [TextDelta(text="other")]), (9, words), (4, words)):
        with pytest.raises(Conflict) as refused:
            await room.live.emit(room.who, run.id, events, after=after)
        assert refused.value.details["sequence"] == 5
    assert len(await told(room, run)) == 5
    with pytest.raises(Invalid):
        await room.live.emit(room.who, run.id, words, after=-1)


async def test_only_a_run_that_was_picked_up_and_has_not_ended_tells_anything(room: Room) -> None:
    run = await room.queued()
    with pytest.raises(Conflict, match="pick it up"):
        await room.tell(run, "early")
    await room.chats.pick_up(room.who, run.id)
    await room.chats.fail(room.who, run.id, "It broke.")
    with pytest.raises(RunEnded):
        await room.tell(run, "late")
    heard = await room.live.emit(room.who, run.id)
    assert (heard.status, heard.stop) == (ChatRunStatus.FAILED, True)
    snapshot = await room.live.snapshot(room.who, run.id)
    assert (snapshot.blocks, snapshot.reason) == ([], "It broke.")


async def test_a_run_that_nobody_picked_up_is_stopped_at_once_and_the_chat_goes_on(
    room: Room,
) -> None:
    run = await room.queued()
    stopped = await room.live.stop(room.who, run.id)
    assert (stopped.status, stopped.answer_id) == (ChatRunStatus.STOPPED, None)
    assert await room.live.stop(room.who, run.id) == stopped
    assert await room.shown() == ["When does the ferry leave?"]
    among_runs = await Runs(room.storage).get(room.who, run.id)
    assert among_runs.status is RunStatus.CANCELLED
    with pytest.raises(RunEnded):
        await room.chats.pick_up(room.who, run.id)
    assert (await room.answered("And back?")).run.status is ChatRunStatus.COMPLETED


async def test_a_running_run_hears_that_it_is_to_stop_and_keeps_how_far_it_came(
    room: Room,
) -> None:
    run = await room.running()
    prepared = await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    await room.live.emit(
        room.who, run.id, [ToolStarted(call_id="c1", name="look_up", arguments="{}")]
    )
    assert (await room.live.stop(room.who, run.id)).status is ChatRunStatus.STOPPING
    heard = await room.live.emit(room.who, run.id, [TextDelta(text="At no")])
    assert (heard.status, heard.stop) == (ChatRunStatus.STOPPING, True)
    calls = [
        {"type": "tool_call", "id": each, "name": "look_up", "arguments": "{}"}
        for each in ("c1", "c2")
    ]
    said = [*prepared.request(), Message(role="assistant", content=calls)]
    turn = AgentTurn(agent_id=room.tenant.scout.id, messages=said, fence=prepared.loaded.fence)
    done = await room.chats.answer(room.who, run.id, "At no", [turn], stopped=True)
    assert done.run.status is ChatRunStatus.STOPPED
    assert done.answer is not None
    assert done.answer.state == "stopped"
    partial = [{"type": "text", "text": "At no", "stopped": True}]
    assert await room.shown() == ["When does the ferry leave?", partial]
    results: Any = (await room.known())[-1].content
    assert {block["tool_call_id"]: block["content"] for block in results} == {
        "c1": UNANSWERED,
        "c2": NOT_RUN,
    }
    after = await room.running("Go on.")
    again = await room.chats.prepare(room.who, after.id, room.tenant.scout.id)
    assert again.loaded.messages == [*said[:-1], *again.loaded.messages[len(said) - 1 :]]


async def test_an_answer_that_was_whole_before_the_stop_came_is_taken_as_whole(
    room: Room,
) -> None:
    run = await room.running()
    await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    await room.live.stop(room.who, run.id)
    done = await room.chats.answer(room.who, run.id, "At noon.")
    assert (done.run.status, await room.shown()) == (
        ChatRunStatus.COMPLETED,
        ["When does the ferry leave?", "At noon."],
    )


async def test_whoever_follows_is_told_everything_once_in_order_and_then_the_end(
    shared_storage: Storage, acme: Tenant
) -> None:
    # Nobody looks by the clock: each has to be woken.
    live = LiveRuns(shared_storage, ears=Ears(poll_s=600))
    room = await new_room(shared_storage, acme, Chats(shared_storage, live=live))
    run = await room.running()

    async def followed() -> list[Any]:
        return [each async for each in room.live.follow(room.who, run.id, 0)]

    listeners = [asyncio.ensure_future(followed()) for _ in range(3)]
    for number in range(20):
        await room.tell(run, f"{number} ")
    done = await room.chats.answer(room.who, run.id, "At noon.")
    whole = await told(room, run)
    end = RunEnd(sequence=done.run.last_event, status=ChatRunStatus.COMPLETED)
    for heard in await asyncio.wait_for(asyncio.gather(*listeners), 20):
        assert heard == [*whole, end]


async def test_who_follows_without_a_number_begins_with_a_snapshot_and_is_woken_by_what_comes(
    shared_storage: Storage, acme: Tenant
) -> None:
    live = LiveRuns(shared_storage, ears=Ears(poll_s=600))
    room = await new_room(shared_storage, acme, Chats(shared_storage, live=live))
    run = await room.running()
    await room.tell(run, "one ", "two")
    following = live.follow(room.who, run.id)
    first = await anext(following)
    assert isinstance(first, RunSnapshot)
    assert first.blocks == [{"type": "text", "text": "one two"}]
    hearing = asyncio.ensure_future(anext(following))
    await live.snapshot(room.who, run.id)  # by when it has looked, and waits
    await room.tell(run, " three")
    event = await asyncio.wait_for(hearing, 10)
    assert isinstance(event, RunEvent)
    assert (event.sequence, event.data) == (first.sequence + 1, {"text": " three"})
    await following.aclose()


async def test_what_another_process_tells_is_heard_by_looking_again(room: Room) -> None:
    run = await room.running()
    elsewhere = LiveRuns(room.storage, ears=Ears(poll_s=0.01))
    following = elsewhere.follow(room.who, run.id, 2)
    hearing = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    await room.tell(run, "one")  # wakes nobody there
    event = await asyncio.wait_for(hearing, 10)
    assert isinstance(event, RunEvent)
    assert event.data == {"text": "one"}
    await following.aclose()


async def test_a_follower_is_told_now_and_then_that_nothing_happened(room: Room) -> None:
    run = await room.running()
    patient = LiveRuns(room.storage, ears=Ears(poll_s=0.001), pause=timedelta(0))
    following = patient.follow(room.who, run.id, 2)
    assert [await anext(following) for _ in range(3)] == [None, None, None]
    await following.aclose()


async def test_once_all_is_closed_nobody_follows_any_more(room: Room) -> None:
    run = await room.running()
    closed = asyncio.Event()
    live = LiveRuns(room.storage, ears=Ears(closed, poll_s=0.001))
    following = live.follow(room.who, run.id, 2)
    hearing = asyncio.ensure_future(anext(following, "over"))
    await asyncio.sleep(0)
    closed.set()
    assert await asyncio.wait_for(hearing, 10) == "over"


async def test_of_a_run_that_ended_long_ago_the_state_stays_and_who_comes_late_is_given_that(
    shared_storage: Storage, acme: Tenant
) -> None:
    room = await new_room(shared_storage, acme)
    home = acme.owner.organization_id
    assert home is not None
    done = await room.answered()
    alive = await new_room(shared_storage, acme)
    going_on = await alive.running()
    before = await room.live.snapshot(room.who, done.run.id)
    later = (await shared_storage.read(home, lambda tx: tx.now)) + timedelta(seconds=1)
    assert await shared_storage.write(home, store.prune, later, 1_000) >= 1
    assert await shared_storage.write(home, store.prune, later, 1_000) == 0
    assert await room.live.snapshot(room.who, done.run.id) == before
    page = await room.live.events(room.who, done.run.id, after=1)
    assert (page.items, page.snapshot) == ([], before)
    heard = [each async for each in room.live.follow(room.who, done.run.id, 1)]
    assert heard == [before, RunEnd(sequence=before.sequence, status=ChatRunStatus.COMPLETED)]
    assert len(await told(alive, going_on)) == 2


async def test_a_number_that_the_run_never_gave_out_is_answered_with_the_snapshot(
    room: Room,
) -> None:
    run = await room.running()
    page = await room.live.events(room.who, run.id, after=77)
    assert page.snapshot is not None
    assert (page.items, page.snapshot.sequence, page.last) == ([], 2, 2)
    present = await room.live.events(room.who, run.id, after=2)
    assert (present.items, present.snapshot) == ([], None)


async def test_a_run_tells_no_more_than_it_may_and_a_refusal_leaves_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await room.running()
    monkeypatch.setattr("memoranda.conversations.chats.live.telling.MOST_BYTES", 180)
    await room.tell(run, "x" * 40)
    with pytest.raises(OverLimit):
        await room.tell(run, "y", "y" * 60)
    monkeypatch.setattr("memoranda.conversations.chats.live.telling.MOST_EVENTS", 4)
    await room.tell(run, "z")
    with pytest.raises(OverLimit):
        await room.tell(run, "z")
    with pytest.raises(OverLimit):
        await room.tell(run, "z" * 100_001)
    with pytest.raises(Invalid, match="may have 500"):
        await room.tell(run, *["z"] * 501)
    with pytest.raises(Invalid, match="NUL"):
        await room.tell(run, "\0")
    assert [each.data for each in await told(room, run, after=2)] == [
        {"text": "x" * 40},
        {"text": "z"},
    ]


async def test_nobody_else_reads_follows_tells_or_stops_a_run(
    room: Room, acme: Tenant, other: Tenant
) -> None:
    run = await room.running()
    live = room.live
    for who in strangers(acme, other):
        for refused in (
            live.emit(who, run.id, [TextDelta(text="theirs")]),
            live.snapshot(who, run.id),
            live.events(who, run.id),
            live.stop(who, run.id),
            anext(live.follow(who, run.id)),
        ):
            with pytest.raises(NotFound):
                await refused
    with pytest.raises(Refused):
        await live.emit(acme.reader, run.id)
    assert (await live.snapshot(acme.reader, run.id)).status is ChatRunStatus.RUNNING
    with pytest.raises(NotFound):
        await live.snapshot(acme.owner, NOWHERE)
    for who in (acme.member(acme.anna), acme.key_of(acme.scout, acme.anna)):
        assert (await live.emit(who, run.id)).stop is False
    assert len(await told(room, run)) == 2


async def test_many_who_tell_at_once_are_numbered_without_a_gap(room: Room) -> None:
    run = await room.running()
    await asyncio.gather(*(room.tell(run, f"{each} a", f"{each} b") for each in range(8)))
    events = await told(room, run, after=2)
    assert [each.sequence for each in events] == list(range(3, 19))
    pairs = [each.data["text"].partition(" ")[0] for each in events]
    assert pairs[::2] == pairs[1::2]


async def test_a_stop_and_an_answer_at_once_end_in_one_of_both(
    shared_storage: Storage, acme: Tenant
) -> None:
    for _ in range(5):
        room = await new_room(shared_storage, acme, Chats(shared_storage))
        run = await room.running()
        await asyncio.gather(
            room.live.stop(room.who, run.id), room.chats.answer(room.who, run.id, "At noon.")
        )
        found = await room.chats.run(room.who, run.id)
        assert found.status is ChatRunStatus.COMPLETED
        assert await room.shown() == ["When does the ferry leave?", "At noon."]
