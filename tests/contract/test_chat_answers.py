"""What runs of a chat promise to the host that answers with them: prepared from what is known, ended once, nothing lost."""

import pytest

from memoranda.conversations.calls import results_of
from memoranda.conversations.chats.errors import RunEnded
from memoranda.conversations.chats.models import AgentTurn
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.errors import ConversationTooLarge, LateSave
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.listeners import Listeners
from memoranda.conversations.models import ConversationChange, ConversationKey, Message
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, Invalid, NotFound, Refused
from tests.contract.chat_desk import SYSTEM, Desk, assert_sendable, says
from tests.contract.tenants import Tenant


@pytest.fixture
async def desk(storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(storage, acme)


async def test_an_answer_goes_below_what_it_answers_and_ends_the_run(
    desk: Desk, storage: Storage
) -> None:
    sent = await desk.ask("q")
    done = await desk.reply(sent.run, "a")
    assert done.answer is not None
    assert (done.answer.role, done.answer.content, done.answer.state) == (
        "assistant",
        "a",
        "complete",
    )
    assert (done.answer.parent_id, done.answer.run_id) == (sent.message.id, sent.run.id)
    assert (done.run.status, done.run.answer_id) == ("completed", done.answer.id)
    assert done.run.ended_at is not None
    assert (done.chat.active_leaf, done.chat.revision) == (done.answer.id, 2)
    assert await desk.chats.run(desk.who, sent.run.id) == done.run
    assert (await desk.chats.thread(desk.who, desk.id)).run is None
    assert (await Runs(storage).get(desk.who, sent.run.id)).status == "completed"
    await desk.assert_known()


async def test_a_run_is_picked_up_once(desk: Desk) -> None:
    sent = await desk.ask("q")
    run = await desk.chats.pick_up(desk.who, sent.run.id)
    assert (run.status, run.picked_up_at is None) == ("running", False)
    with pytest.raises(Conflict):
        await desk.chats.pick_up(desk.who, sent.run.id)


async def test_a_run_that_nobody_picked_up_is_neither_prepared_nor_answered(desk: Desk) -> None:
    sent = await desk.ask("q")
    before = await desk.rows()
    for attempt in (
        desk.chats.prepare(desk.who, sent.run.id),
        desk.chats.answer(desk.who, sent.run.id, "a"),
        desk.chats.wait(desk.who, sent.run.id, "x"),
        desk.chats.resume(desk.who, sent.run.id),
    ):
        with pytest.raises(Conflict) as refused:
            await attempt
        assert refused.value.details["status"] == "queued"
    assert await desk.rows() == before


async def test_nothing_comes_of_a_run_that_has_ended(desk: Desk) -> None:
    sent = await desk.ask("q")
    prepared = await desk.begin(sent.run)
    turn = desk.turn(prepared, "a")
    await desk.chats.answer(desk.who, sent.run.id, "a", [turn])
    before = await desk.rows()
    for attempt in (
        desk.chats.pick_up(desk.who, sent.run.id),
        desk.chats.prepare(desk.who, sent.run.id),
        desk.chats.answer(desk.who, sent.run.id, "late", [turn]),
        desk.chats.fail(desk.who, sent.run.id, "late"),
        desk.chats.wait(desk.who, sent.run.id, "late"),
    ):
        with pytest.raises(RunEnded) as refused:
            await attempt
        assert refused.value.details["status"] == "completed"
    assert await desk.rows() == before


async def test_the_run_among_runs_is_changed_by_its_chat_alone(
    desk: Desk, storage: Storage
) -> None:
    runs, sent = Runs(storage), await desk.ask("q")
    for attempt in (
        runs.complete(desk.who, sent.run.id),
        runs.cancel(desk.who, sent.run.id),
        runs.fail(desk.who, sent.run.id, "x"),
        runs.wait(desk.who, sent.run.id, "x"),
    ):
        with pytest.raises(Conflict) as refused:
            await attempt
        assert refused.value.details["chat_id"] == str(desk.id)
    await desk.chats.pick_up(desk.who, sent.run.id)
    await desk.chats.wait(desk.who, sent.run.id, "an approval")
    waiting = await runs.get(desk.who, sent.run.id)
    assert (waiting.status, waiting.waiting_reason) == ("waiting", "an approval")
    await desk.chats.resume(desk.who, sent.run.id)
    assert (await runs.get(desk.who, sent.run.id)).stage == 1
    await desk.chats.fail(desk.who, sent.run.id, "the model is away")
    failed = await runs.get(desk.who, sent.run.id)
    assert (failed.status, failed.failure_reason) == ("failed", "the model is away")


async def test_what_is_prepared_begins_with_what_is_known_and_ends_with_what_was_said(
    desk: Desk,
) -> None:
    await desk.exchange("q0", "a0")
    prepared = await desk.begin((await desk.ask("q1")).run)
    assert [each.content for each in prepared.request("Be brief.")] == [
        "Be brief.",
        "q0",
        "a0",
        "q1",
    ]
    assert (prepared.loaded.length, prepared.notes) == (3, [])
    again = await desk.chats.prepare(desk.who, prepared.run.id)
    assert again.request() == prepared.request()


async def test_a_message_whose_run_failed_is_told_with_the_next(desk: Desk) -> None:
    await desk.exchange("q0", "a0")
    sent = await desk.ask("q1")
    await desk.begin(sent.run)
    done = await desk.chats.fail(desk.who, sent.run.id, "the model is away")
    assert (done.answer, done.run.status, done.run.reason) == (None, "failed", "the model is away")
    assert await desk.shown() == ["q0", "a0", "q1"]
    assert await desk.known() == ["q0", "a0"]
    prepared = await desk.begin((await desk.ask("q2")).run)
    assert [each.content for each in prepared.asked] == ["q1", "q2"]
    assert_sendable(prepared.request(SYSTEM))
    await desk.chats.answer(desk.who, prepared.run.id, "a2", [desk.turn(prepared, "a2")])
    assert await desk.shown() == ["q0", "a0", "q1", "q2", "a2"]
    await desk.assert_known()


async def test_an_answer_that_no_run_saved_is_told_with_the_next_message(desk: Desk) -> None:
    sent = await desk.ask("q0")
    await desk.chats.pick_up(desk.who, sent.run.id)
    await desk.chats.answer(desk.who, sent.run.id, "a0")
    assert await desk.known() == []
    await desk.exchange("q1", "a1")
    await desk.assert_known()


async def test_a_stopped_answer_is_kept_as_far_as_it_went_and_its_open_calls_were_not_run(
    desk: Desk, storage: Storage
) -> None:
    prepared = await desk.begin((await desk.ask("q")).run)
    call = {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": "{}"}
    said = [{"type": "text", "text": "Looking"}, call]
    sent = [*prepared.request(SYSTEM), Message(role="assistant", content=said)]
    turn = AgentTurn(messages=sent, fence=prepared.loaded.fence)
    done = await desk.chats.answer(desk.who, prepared.run.id, "Looking", [turn], stopped=True)
    assert done.answer is not None
    assert (done.answer.state, done.run.status) == ("stopped", "stopped")
    assert done.answer.content == [{"type": "text", "text": "Looking", "stopped": True}]
    assert (await Runs(storage).get(desk.who, done.run.id)).status == "cancelled"
    loaded = await desk.loaded()
    assert "was not run" in results_of(loaded.messages[-1])[0]["content"]
    await desk.exchange("go on", "done")
    assert await desk.shown() == ["q", "Looking", "go on", "done"]


async def test_a_run_that_was_stopped_before_a_word_leaves_no_answer(desk: Desk) -> None:
    sent = await desk.ask("q")
    await desk.begin(sent.run)
    done = await desk.chats.answer(desk.who, sent.run.id, "", stopped=True)
    assert (done.answer, done.run.status) == (None, "stopped")
    assert await desk.shown() == ["q"]
    await desk.exchange("again", "a")
    await desk.assert_known()


async def test_each_agent_of_a_run_goes_on_with_its_own_conversation(
    desk: Desk, acme: Tenant
) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    await desk.exchange("q0", "a0", scout, clerk)
    await desk.exchange("q1", "a1", scout)
    await desk.assert_known(scout)
    assert await desk.known(clerk) == ["q0", "a0"]
    assert await desk.known() == []
    (made, *_) = (await desk.talks.of_workflow(desk.who, desk.chat.workflow_id)).items
    assert made.user_id == acme.anna.id


async def test_the_chats_own_agent_answers_where_none_is_named(
    storage: Storage, acme: Tenant
) -> None:
    scout = acme.scout.id
    desk = await Desk.of(storage, acme, agent_id=scout)
    await desk.exchange("q0", "a0")
    await desk.exchange("q1", "a1", scout)
    await desk.assert_known(scout)
    sent = await desk.ask("q2")
    turns = [desk.turn(await desk.begin(sent.run, each), "a2", each) for each in (None, scout)]
    with pytest.raises(Invalid):
        await desk.chats.answer(desk.who, sent.run.id, "a2", turns)


async def test_of_an_answer_everything_is_saved_or_nothing(desk: Desk, acme: Tenant) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    sent = await desk.ask("q")
    turns = [desk.turn(await desk.begin(sent.run, each), "a", each) for each in (scout, clerk)]
    late = turns[1].model_copy(update={"fence": 7})
    stranger = desk.turn(await desk.begin(sent.run, scout), "a")
    before = await desk.rows()
    for wrong, error in (
        ([turns[0], late], LateSave),
        ([turns[0], stranger], Conflict),
        ([turns[0], turns[0]], Invalid),
    ):
        with pytest.raises(error):
            await desk.chats.answer(desk.who, sent.run.id, "a", wrong)
        assert await desk.rows() == before
    await desk.chats.answer(desk.who, sent.run.id, "a", turns)
    await desk.assert_known(scout, clerk)


async def test_a_list_that_is_too_large_is_refused_and_the_run_can_still_be_answered(
    storage: Storage, acme: Tenant
) -> None:
    desk = await Desk.of(storage, acme)
    desk.chats = Chats(storage, limits=ConversationLimits(max_bytes=500))
    prepared = await desk.begin((await desk.ask("q")).run)
    with pytest.raises(ConversationTooLarge):
        await desk.chats.answer(desk.who, prepared.run.id, "a", [desk.turn(prepared, "x" * 600)])
    assert await desk.known() == []
    await desk.chats.answer(desk.who, prepared.run.id, "a", [desk.turn(prepared, "a")])
    await desk.assert_known()


async def test_a_conversation_that_was_cleared_meanwhile_is_not_written_over(desk: Desk) -> None:
    await desk.exchange("q0", "a0")
    prepared = await desk.begin((await desk.ask("q1")).run)
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    await desk.talks.clear(desk.who, key)
    with pytest.raises(LateSave):
        await desk.chats.answer(desk.who, prepared.run.id, "a1", [desk.turn(prepared, "a1")])
    await desk.chats.answer(desk.who, prepared.run.id, "a1")
    assert await desk.known() == []


async def test_over_the_list_that_is_expected_alone(desk: Desk) -> None:
    await desk.exchange("q0", "a0")
    prepared = await desk.begin((await desk.ask("q1")).run)
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    await desk.talks.append(desk.who, key, [says("meanwhile")])
    turn = desk.turn(prepared, "a1")
    careful = turn.model_copy(update={"expected_digest": prepared.loaded.digest})
    with pytest.raises(Conflict):
        await desk.chats.answer(desk.who, prepared.run.id, "a1", [careful])
    await desk.chats.answer(desk.who, prepared.run.id, "a1", [turn])
    await desk.assert_known()


async def test_what_somebody_else_said_under_the_key_is_not_the_chats(
    desk: Desk, acme: Tenant
) -> None:
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    await desk.talks.append(acme.member(acme.ben), key, [says("bens")])
    sent = await desk.ask("q")
    with pytest.raises(NotFound):
        await desk.begin(sent.run)
    await desk.chats.fail(desk.who, sent.run.id, "no")
    await desk.chats.clear(desk.who, desk.id)
    loaded = await desk.talks.load(acme.owner, key)
    assert [each.content for each in loaded.messages] == ["bens"]


async def test_an_agents_key_answers_for_its_agent_and_user_alone(
    storage: Storage, acme: Tenant
) -> None:
    desk = await Desk.of(storage, acme, agent_id=acme.scout.id)
    sent = await desk.ask("q")
    key = acme.key_of(acme.scout, acme.anna)
    for stranger in (acme.key_of(acme.scout, acme.ben), acme.key_of(acme.clerk, acme.anna)):
        for attempt in (
            desk.chats.pick_up(stranger, sent.run.id),
            desk.chats.run(stranger, sent.run.id),
        ):
            with pytest.raises(NotFound):
                await attempt
    await desk.chats.pick_up(key, sent.run.id)
    with pytest.raises(Refused):
        await desk.chats.prepare(key, sent.run.id, acme.clerk.id)
    prepared = await desk.chats.prepare(key, sent.run.id)
    await desk.chats.answer(key, sent.run.id, "a", [desk.turn(prepared, "a")])
    await desk.assert_known(acme.scout.id)
    with pytest.raises(Refused):
        await desk.chats.send(acme.reader, desk.id, "q")


async def test_listeners_hear_of_conversations_that_an_answer_or_a_move_changed(
    storage: Storage, acme: Tenant
) -> None:
    heard = Listeners()
    told: list[ConversationChange] = []
    heard.add(told.append)
    desk = await Desk.of(storage, acme)
    desk.chats = Chats(storage, listeners=heard)
    done = await desk.exchange("q", "a")
    assert done.answer is not None
    await desk.regenerate()
    assert [(each.action, each.conversation.length) for each in told] == [
        ("saved", 3),
        ("moved", 0),
    ]


async def test_turns_may_be_plain_json_and_what_is_wrong_in_one_is_named(desk: Desk) -> None:
    run = (await desk.ask("q0")).run
    turn = desk.turn(await desk.begin(run), "a0").model_dump(mode="json")
    lacking = {name: value for name, value in turn.items() if name != "fence"}
    strange = {**turn, "messages": [*turn["messages"], {"role": "user"}]}
    for given, place in (
        (lacking, "turns.0.fence"),
        ({**turn, "fenc": 1}, "turns.0.fenc"),
        (strange, f"turns.0.messages.{len(turn['messages'])}.content"),
    ):
        with pytest.raises(Invalid, match=r"no such field|missing") as refused:
            await desk.chats.answer(desk.who, run.id, "a0", [given])
        assert refused.value.details["field"] == place
    await desk.chats.answer(desk.who, run.id, "a0", [turn])
    assert await desk.known() == ["q0", "a0"]
