"""What a host may rely on: which runs wait for it, where a run's events are, and that no history is lost by a slip."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from memoranda.conversations.chats.errors import RunInProgress
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.models import AgentTurn, ChatRun, ChatRunStatus
from memoranda.conversations.models import ConversationKey, Message
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, Invalid, NotFound, Refused
from tests.contract.chat_desk import SYSTEM, Desk, says
from tests.contract.chat_room import Room, new_room, strangers
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
async def acme(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage)


@pytest.fixture(scope="module")
async def other(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage, "Other")


@pytest.fixture
async def desk(shared_storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(shared_storage, acme)


# --- where the run's events are -----------------------------------------------------------------


async def test_whatever_a_host_does_it_is_answered_the_number_of_the_newest_event(
    desk: Desk,
) -> None:
    async def is_newest(run: ChatRun) -> None:
        assert run.last_event == (await desk.chats.run(desk.who, run.id)).last_event
        assert run.last_event == (await desk.chats.live.snapshot(desk.who, run.id)).sequence

    sent = await desk.ask("q")
    await is_newest(sent.run)
    run = await desk.chats.pick_up(desk.who, sent.run.id)
    await is_newest(run)
    prepared = await desk.chats.prepare(desk.who, run.id)
    await is_newest(prepared.run)
    heard = await desk.chats.live.emit(
        desk.who, run.id, [TextDelta(text="a")], after=run.last_event
    )
    assert heard.sequence == run.last_event + 1
    await is_newest(await desk.chats.wait(desk.who, run.id, "an approval"))
    await is_newest(await desk.chats.resume(desk.who, run.id))
    await is_newest(await desk.chats.live.stop(desk.who, run.id))
    done = await desk.chats.answer(desk.who, run.id, "a", stopped=True)
    await is_newest(done.run)
    again = await desk.ask("q")
    await is_newest(await desk.chats.live.stop(desk.who, again.run.id))


# --- the list that is saved ---------------------------------------------------------------------


async def test_a_turn_that_leaves_out_what_the_agent_knew_is_refused(desk: Desk) -> None:
    await desk.exchange("q0", "a0")
    prepared = await desk.begin((await desk.ask("q1")).run)
    *_, asked = prepared.request()
    slips: list[Sequence[Message]] = [
        [says("a1")],
        [asked, says("a1")],
        [SYSTEM, *prepared.loaded.messages[2:], asked, says("a1")],
        [*prepared.loaded.messages, says("a1")],
        [],
    ]
    before = await desk.rows()
    for messages in slips:
        turn = AgentTurn(messages=messages, fence=prepared.loaded.fence)
        with pytest.raises(Invalid, match="whole list") as refused:
            await desk.chats.answer(desk.who, prepared.run.id, "a1", [turn])
        assert refused.value.details["field"] == "turns.0.messages"
        assert await desk.rows() == before
    await desk.chats.answer(desk.who, prepared.run.id, "a1", [desk.turn(prepared, "a1")])
    await desk.assert_known()


async def test_of_the_first_turn_too_what_was_asked_is_not_left_out(desk: Desk) -> None:
    prepared = await desk.begin((await desk.ask("q")).run)
    turn = AgentTurn(messages=[SYSTEM, says("a")], fence=prepared.loaded.fence)
    with pytest.raises(Invalid, match="whole list"):
        await desk.chats.answer(desk.who, prepared.run.id, "a", [turn])


async def test_an_agent_that_had_nothing_to_say_keeps_what_it_knew(
    desk: Desk, acme: Tenant
) -> None:
    scout = acme.scout.id
    await desk.exchange("q0", "a0", scout)
    prepared = await desk.begin((await desk.ask("q1")).run, scout)
    loaded = prepared.loaded
    same = AgentTurn(agent_id=scout, messages=loaded.messages, fence=loaded.fence)
    await desk.chats.answer(desk.who, prepared.run.id, "a1", [same])
    assert await desk.known(scout) == ["q0", "a0"]


async def test_what_was_written_over_and_prepared_again_is_what_a_turn_begins_with(
    desk: Desk,
) -> None:
    await desk.exchange("q0", "a0")
    sent = await desk.ask("q1")
    await desk.begin(sent.run)
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    loaded = await desk.loaded()
    other = [Message(role="user", content="elsewhere"), says("said")]
    await desk.talks.save(desk.who, key, other, fence=loaded.fence)
    again = await desk.begin(sent.run)
    await desk.chats.answer(desk.who, sent.run.id, "a1", [desk.turn(again, "a1")])
    assert await desk.known() == ["elsewhere", "said", "q1", "a1"]


async def test_what_was_cleared_and_prepared_again_is_what_a_turn_begins_with(desk: Desk) -> None:
    await desk.exchange("q0", "a0")
    sent = await desk.ask("q1")
    await desk.begin(sent.run)
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    await desk.talks.clear(desk.who, key)
    again = await desk.begin(sent.run)
    await desk.chats.answer(desk.who, sent.run.id, "a1", [desk.turn(again, "a1")])
    assert (await desk.known())[-1] == "a1"


# --- how the last run ended ---------------------------------------------------------------------


async def test_a_thread_tells_how_the_run_of_its_last_message_ended(desk: Desk) -> None:
    async def last() -> Any:
        thread = await desk.chats.thread(desk.who, desk.id)
        run = thread.last_run
        return None if run is None else (run.id, str(run.status), run.reason)

    assert await last() is None
    first = (await desk.ask("q0")).run
    assert await last() == (first.id, "queued", None)
    await desk.chats.fail(desk.who, first.id, "The model is away.")
    assert await last() == (first.id, "failed", "The model is away.")
    again = (await desk.regenerate()).run
    assert await last() == (again.id, "queued", None)
    await desk.reply(again, "a0")
    assert await last() == (again.id, "completed", None)
    third = (await desk.regenerate()).run
    await desk.chats.fail(desk.who, third.id, "Away again.")
    assert await last() == (third.id, "failed", "Away again.")
    answered = (await desk.chats.thread(desk.who, desk.id)).chat.active_leaf
    assert answered == first.message_id
    done = await desk.chats.run(desk.who, again.id)
    assert done.answer_id is not None
    await desk.switch(done.answer_id)
    assert await last() == (again.id, "completed", None)


async def test_a_run_that_is_in_the_way_says_how_to_end_it_where_its_host_is_gone(
    desk: Desk,
) -> None:
    sent = await desk.ask("q0")
    await desk.chats.pick_up(desk.who, sent.run.id)
    with pytest.raises(RunInProgress) as refused:
        await desk.ask("q1")
    assert f"The run {sent.run.id} of this chat is running" in refused.value.message
    assert ", or stop it" in refused.value.message
    assert "fail(run_id, reason)" in refused.value.message
    assert "stopped=True" in refused.value.message
    run = UUID(str(refused.value.details["run_id"]))
    await desk.chats.live.stop(desk.who, run)
    with pytest.raises(RunInProgress) as stopping:
        await desk.ask("q1")
    assert "is stopping: wait until it has ended. Where" in stopping.value.message
    await desk.chats.answer(desk.who, run, "as far as", stopped=True)
    await desk.exchange("q1", "a1")


# --- which runs wait ----------------------------------------------------------------------------


async def test_a_host_finds_the_runs_that_wait_the_oldest_first(
    shared_storage: Storage, acme: Tenant
) -> None:
    rooms = [await new_room(shared_storage, acme) for _ in range(4)]
    runs = [await room.queued() for room in rooms]
    live, who = rooms[0].live, acme.owner
    first = await live.page(who, limit=2)
    assert first.items == runs[:2]
    await rooms[0].chats.pick_up(who, runs[0].id)
    rest = await live.page(who, limit=2, cursor=first.next_cursor)
    assert (rest.items, rest.next_cursor) == (runs[2:], None)
    assert [each.id for each in (await live.page(who)).items] == [each.id for each in runs[1:]]
    running = await live.page(who, status=ChatRunStatus.RUNNING)
    assert [each.id for each in running.items] == [runs[0].id]
    done = await rooms[0].chats.answer(who, runs[0].id, "At noon.")
    ended = await live.page(who, status=ChatRunStatus.COMPLETED)
    assert ended.items == [done.run]
    with pytest.raises(Invalid):
        await live.page(who, cursor="x")


async def test_runs_are_listed_for_those_who_may_see_their_chats(
    shared_storage: Storage, acme: Tenant, other: Tenant
) -> None:
    room = await new_room(shared_storage, acme)
    run = await room.queued()
    theirs = await (await new_room(shared_storage, other)).queued()
    live, anna = room.live, acme.anna
    for who in (acme.owner, acme.reader, acme.member(anna), acme.key_of(acme.scout, anna)):
        assert (await live.page(who)).items == [run]
    for who in (other.owner, other.member(other.anna)):
        assert (await live.page(who)).items == [theirs]
    for who in (*strangers(acme, other)[2:], acme.key_of(acme.scout)):
        assert (await live.page(who)).items == []
    assert (await live.page(acme.owner, user_id=acme.ben.id)).items == []
    assert (await live.page(acme.owner, user_id=anna.id, agent_id=acme.scout.id)).items == [run]
    assert (await live.page(acme.owner, agent_id=acme.clerk.id)).items == []
    with pytest.raises(Refused):
        await live.page(acme.member(anna), user_id=acme.ben.id)


# --- an answer that got lost --------------------------------------------------------------------


@pytest.fixture
async def room(shared_storage: Storage, acme: Tenant) -> Room:
    return await new_room(shared_storage, acme)


async def test_a_host_that_picks_up_again_by_its_name_is_answered_the_same(room: Room) -> None:
    run = await room.queued()
    first = await room.chats.pick_up(room.who, run.id, picked_up_by="host-1")
    before = await room.live.events(room.who, run.id)
    assert await room.chats.pick_up(room.who, run.id, picked_up_by=" host-1 ") == first
    assert await room.live.events(room.who, run.id) == before
    assert before.items[-1].data["picked_up_by"] == "host-1"
    for another in ("host-2", None):
        with pytest.raises(Conflict):
            await room.chats.pick_up(room.who, run.id, picked_up_by=another)
    await room.live.stop(room.who, run.id)
    stopping = await room.chats.pick_up(room.who, run.id, picked_up_by="host-1")
    assert stopping.status is ChatRunStatus.STOPPING
    done = await room.chats.answer(room.who, run.id, "", stopped=True)
    with pytest.raises(Conflict) as refused:
        await room.chats.pick_up(room.who, run.id, picked_up_by="host-1")
    assert (refused.value.code, refused.value.details["status"]) == ("run_ended", done.run.status)


async def test_a_run_that_was_picked_up_without_a_name_is_nobodys_to_pick_up_again(
    room: Room,
) -> None:
    run = await room.running()
    for name in ("host-1", None):
        with pytest.raises(Conflict):
            await room.chats.pick_up(room.who, run.id, picked_up_by=name)
    with pytest.raises(Invalid):
        await room.chats.pick_up(room.who, run.id, picked_up_by=" ")


async def test_nobody_picks_up_by_a_hosts_name_what_it_may_not_see(
    room: Room, acme: Tenant, other: Tenant
) -> None:
    run = await room.queued()
    await room.chats.pick_up(room.who, run.id, picked_up_by="host-1")
    for who in strangers(acme, other):
        with pytest.raises(NotFound):
            await room.chats.pick_up(who, run.id, picked_up_by="host-1")
    with pytest.raises(Refused):
        await room.chats.pick_up(acme.reader, run.id, picked_up_by="host-1")
