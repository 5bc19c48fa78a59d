"""What moves in a chat promise: agents know what is shown, what was left comes back as it was, and refusals change nothing."""

from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.app import Memoranda
from memoranda.conversations.chats.branches import store as branches
from memoranda.conversations.chats.errors import (
    BranchUnavailable,
    CannotRewind,
    NotEditable,
    RevisionConflict,
    RunInProgress,
)
from memoranda.conversations.chats.models import Answered, Thread
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.models import ConversationKey, Message
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from memoranda.storage.tables import chat_branch_snapshots
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id
from tests.contract.chat_desk import SYSTEM, Desk, assert_sendable, says
from tests.contract.memory_trail import read
from tests.contract.talking_house import Scripted, turn
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
async def desk(storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(storage, acme)


async def message_ids(desk: Desk) -> list[UUID]:
    return [each.id for each in (await desk.chats.thread(desk.who, desk.id)).messages]


def answer_of(done: Answered) -> UUID:
    assert done.answer is not None
    return done.answer.id


async def talked(desk: Desk, turns: int = 3, *agents: UUID | None) -> list[UUID]:
    """Some turns; the ids of the messages."""
    for number in range(turns):
        await desk.exchange(f"q{number}", f"a{number}", *agents)
    return await message_ids(desk)


def versions(thread: Thread) -> list[tuple[int, int]]:
    return [(each.version, len(each.versions)) for each in thread.messages]


# --- edit, regenerate, switch -----------------------------------------------------------------


async def test_an_edit_stands_beside_what_was_said_and_takes_the_agents_memory_back(
    desk: Desk,
) -> None:
    ids = await talked(desk)
    sent = await desk.edit(ids[2], "q1 anew")
    assert (sent.message.parent_id, sent.run.status) == (ids[1], "queued")
    assert await desk.shown() == ["q0", "a0", "q1 anew"]
    assert await desk.known() == ["q0", "a0"]
    thread = await desk.chats.thread(desk.who, desk.id)
    assert versions(thread) == [(1, 1), (1, 1), (2, 2)]
    assert thread.messages[2].versions == [ids[2], sent.message.id]
    await desk.reply(sent.run, "a1 anew")
    await desk.assert_known()


async def test_the_first_message_can_be_edited_too(desk: Desk) -> None:
    ids = await talked(desk, 2)
    sent = await desk.edit(ids[0], "q0 anew")
    assert (sent.message.parent_id, await desk.known()) == (None, [])
    await desk.reply(sent.run, "a0 anew")
    assert await desk.shown() == ["q0 anew", "a0 anew"]
    await desk.assert_known()


async def test_an_answer_made_anew_stands_beside_the_one_before(desk: Desk) -> None:
    ids = await talked(desk, 2)
    sent = await desk.regenerate()
    assert sent.message.id == ids[2]
    assert await desk.shown() == ["q0", "a0", "q1"]
    assert await desk.known() == ["q0", "a0"]
    done = await desk.reply(sent.run, "a1 anew")
    thread = await desk.chats.thread(desk.who, desk.id)
    assert versions(thread)[-1] == (2, 2)
    assert thread.messages[-1].versions == [ids[3], answer_of(done)]
    await desk.assert_known()


async def test_a_switch_shows_the_newest_of_a_branch_and_brings_its_memory_back(
    desk: Desk,
) -> None:
    ids = await talked(desk)
    left = await desk.loaded()
    stamps = await desk.talks.messages(desk.who, left.conversation.id)  # type: ignore[union-attr]  # it is there
    sent = await desk.edit(ids[2], "q1 anew")
    await desk.reply(sent.run, "a1 anew")
    thread = await desk.switch(ids[2])
    assert [each.content for each in thread.messages] == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert (thread.chat.active_leaf, thread.run) == (ids[-1], None)
    await desk.assert_known()
    back = await desk.loaded()
    assert (back.messages, back.length, back.digest) == (left.messages, left.length, left.digest)
    now = await desk.talks.messages(desk.who, left.conversation.id)  # type: ignore[union-attr]  # it is there
    assert [each.ts for each in now] == [each.ts for each in stamps]
    await desk.exchange("q3", "a3")
    await desk.assert_known()
    await desk.switch(sent.message.id)
    assert await desk.shown() == ["q0", "a0", "q1 anew", "a1 anew"]
    await desk.assert_known()


async def test_however_often_one_goes_to_and_fro_each_branch_is_as_it_was(desk: Desk) -> None:
    ids = await talked(desk, 2)
    first = await desk.edit(ids[0], "other")
    await desk.reply(first.run, "answer")
    again = await desk.regenerate()
    await desk.reply(again.run, "answer anew")
    branches_of: dict[UUID, list[str]] = {
        ids[3]: ["q0", "a0", "q1", "a1"],
        (await message_ids(desk))[1]: ["other", "answer anew"],
    }
    for _ in range(3):
        for leaf, path in branches_of.items():
            await desk.switch(leaf)
            assert await desk.shown() == path
            await desk.assert_known()


async def test_a_switch_to_what_is_shown_already_changes_nothing(desk: Desk) -> None:
    ids = await talked(desk, 2)
    before = await desk.rows()
    assert (await desk.switch(ids[0])).chat.active_leaf == ids[-1]
    assert await desk.rows() == before


async def test_a_message_that_failed_is_answered_by_regenerating_it(desk: Desk) -> None:
    await talked(desk, 1)
    sent = await desk.ask("q1")
    await desk.begin(sent.run)
    await desk.chats.fail(desk.who, sent.run.id, "the model is away")
    again = await desk.regenerate()
    assert again.message.id == sent.message.id
    await desk.reply(again.run, "a1")
    assert await desk.shown() == ["q0", "a0", "q1", "a1"]
    await desk.assert_known()


async def test_after_a_regeneration_that_failed_the_first_answer_can_be_shown_again(
    desk: Desk,
) -> None:
    ids = await talked(desk, 2)
    sent = await desk.regenerate()
    await desk.begin(sent.run)
    await desk.chats.fail(desk.who, sent.run.id, "the model is away")
    assert await desk.shown() == ["q0", "a0", "q1"]
    await desk.switch(ids[3])
    assert await desk.shown() == ["q0", "a0", "q1", "a1"]
    await desk.assert_known()


async def test_after_a_regeneration_that_failed_one_can_go_on_talking(desk: Desk) -> None:
    ids = await talked(desk, 1)
    await desk.chats.fail(desk.who, (await desk.regenerate()).run.id, "no")
    await desk.exchange("q1", "a1")
    assert await desk.shown() == ["q0", "q1", "a1"]
    await desk.assert_known()
    await desk.switch(ids[1])
    assert await desk.shown() == ["q0", "a0"]
    await desk.assert_known()
    await desk.switch(ids[0])
    assert await desk.shown() == ["q0", "q1", "a1"]
    await desk.assert_known()


async def test_a_stopped_answer_can_be_left_and_shown_again(desk: Desk) -> None:
    await talked(desk, 1)
    sent = await desk.ask("q1")
    stopped = await desk.reply(sent.run, "a1 as f", stopped=True)
    again = await desk.regenerate()
    assert await desk.known() == ["q0", "a0"]
    await desk.reply(again.run, "a1")
    await desk.assert_known()
    await desk.switch(answer_of(stopped))
    assert await desk.shown() == ["q0", "a0", "q1", "a1 as f"]
    await desk.assert_known()
    prepared = await desk.begin((await desk.ask("go on")).run)
    assert_sendable(prepared.request(SYSTEM))


async def test_each_agent_is_taken_to_what_it_knew_on_the_branch(desk: Desk, acme: Tenant) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    await desk.exchange("q0", "a0", scout)
    await desk.exchange("q1", "a1", scout, clerk)
    ids = await message_ids(desk)
    sent = await desk.edit(ids[2], "q1 anew")
    assert (await desk.known(scout), await desk.known(clerk)) == (["q0", "a0"], [])
    await desk.reply(sent.run, "a1 anew", None)
    assert await desk.known() == ["q0", "a0", "q1 anew", "a1 anew"]  # it joined, and was told
    await desk.switch(ids[3])
    assert await desk.known(scout) == ["q0", "a0", "q1", "a1"]
    assert await desk.known(clerk) == ["q0", "a0", "q1", "a1"]
    assert await desk.known() == []
    await desk.switch(sent.message.id)
    assert (await desk.known(scout), await desk.known(clerk)) == (["q0", "a0"], [])
    assert await desk.known() == ["q0", "a0", "q1 anew", "a1 anew"]  # it joined, and was told


async def test_runs_on_a_part_that_was_left_say_so_until_somebody_comes_back(
    desk: Desk, storage: Storage
) -> None:
    first = await desk.exchange("q0", "a0")
    second = await desk.exchange("q1", "a1")
    runs = Runs(storage)

    async def left() -> list[bool]:
        found = [await runs.get(desk.who, each.run.id) for each in (first, second)]
        return [run.left_at is not None for run in found]

    assert await left() == [False, False]
    sent = await desk.regenerate()
    assert await left() == [False, True]
    await desk.reply(sent.run, "a1 anew")
    await desk.switch(answer_of(second))
    assert await left() == [False, False]
    assert (await runs.get(desk.who, sent.run.id)).left_at is not None


async def test_another_system_prompt_in_each_run_is_in_nobodys_way(desk: Desk) -> None:
    for number in range(3):
        prepared = await desk.begin((await desk.ask(f"q{number}")).run)
        sent = [*prepared.request(f"It is day {number}."), says(f"a{number}")]
        saved = desk.turn(prepared, "").model_copy(update={"messages": sent})
        await desk.chats.answer(desk.who, prepared.run.id, f"a{number}", [saved])
    ids = await message_ids(desk)
    await desk.edit(ids[2], "q1 anew")
    assert await desk.known() == ["q0", "a0"]


async def with_a_long_result(storage: Storage, tenant: Tenant) -> Desk:
    """A chat with one turn, in which a tool said more than a run is given of it."""
    desk = await Desk.of(storage, tenant)
    desk.chats = Chats(storage, limits=ConversationLimits(result_chars=300))
    prepared = await desk.begin((await desk.ask("q0")).run)
    long = [*prepared.request(SYSTEM), *turn(1, size=2_000)[1:]]
    saved = desk.turn(prepared, "").model_copy(update={"messages": long})
    await desk.chats.answer(desk.who, prepared.run.id, "a0", [saved])
    return desk


async def test_where_a_run_saved_nothing_what_is_stored_stays_as_it_is(
    storage: Storage, acme: Tenant
) -> None:
    desk = await with_a_long_result(storage, acme)
    before = (await desk.loaded()).digest
    sent = await desk.ask("q1")
    await desk.begin(sent.run)
    await desk.chats.fail(desk.who, sent.run.id, "no")
    await desk.regenerate()
    assert (await desk.loaded()).digest == before


async def test_what_a_run_was_given_is_what_it_is_taken_back_to(
    storage: Storage, acme: Tenant
) -> None:
    desk = await with_a_long_result(storage, acme)
    done = await desk.exchange("q1", "a1")  # was given the result cut to its limit, and saved that
    shorter = (await desk.loaded()).messages
    again = await desk.regenerate()
    assert (await desk.loaded()).messages == shorter[:-2]
    await desk.chats.fail(desk.who, again.run.id, "no")
    await desk.switch(answer_of(done))
    assert (await desk.loaded()).messages == shorter


async def test_what_was_said_between_two_runs_stays_on_the_branch_where_it_was_said(
    desk: Desk,
) -> None:
    ids = await talked(desk, 2)
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    await desk.talks.append(desk.who, key, [Message(role="user", content="(approved)")])
    sent = await desk.regenerate()
    assert await desk.known() == ["q0", "a0"]
    await desk.talks.append(desk.who, key, [Message(role="user", content="(refused)")])
    await desk.reply(sent.run, "a1 anew")
    await desk.switch(ids[3])
    assert await desk.known() == ["q0", "a0", "q1", "a1", "(approved)"]
    await desk.switch((await desk.chats.run(desk.who, sent.run.id)).answer_id or new_id())
    assert await desk.known() == ["q0", "a0", "(refused)", "q1", "a1 anew"]


async def test_pins_come_back_with_their_messages(desk: Desk) -> None:
    ids = await talked(desk, 2)
    loaded = await desk.loaded()
    assert loaded.conversation is not None
    stored = await desk.talks.messages(desk.who, loaded.conversation.id)
    await desk.talks.compactions.pin(desk.who, loaded.conversation.id, stored[-1].position)
    await desk.regenerate()
    await desk.chats.fail(desk.who, (await desk.chats.thread(desk.who, desk.id)).run.id, "no")  # type: ignore[union-attr]  # it is live
    await desk.switch(ids[3])
    back = await desk.talks.messages(desk.who, loaded.conversation.id)
    assert [each.pinned for each in back] == [False] * 4 + [True]


async def test_what_was_left_is_in_no_load_list_or_past(desk: Desk) -> None:
    ids = await talked(desk, 2)
    await desk.reply((await desk.edit(ids[2], "q1 anew")).run, "a1 anew")
    loaded = await desk.loaded()
    assert loaded.conversation is not None
    listed = await desk.talks.messages(desk.who, loaded.conversation.id)
    assert "q1" not in [each.content for each in listed]
    await desk.exchange("q2", "a2")
    assert await desk.known() == ["q0", "a0", "q1 anew", "a1 anew", "q2", "a2"]


async def test_what_was_left_is_found_by_no_search_until_somebody_comes_back(
    database_url: str,
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        desk = await Desk.of(memoranda.storage, await new_tenant(memoranda.storage))
        done = await desk.exchange("When do we ship?", "The marmalade leaves on friday.")

        async def found() -> bool:
            await memoranda.worker.drain()
            answer = await memoranda.conversation_search.search(desk.who, "marmalade")
            return "marmalade leaves" in repr(answer.results)

        assert await found()
        again = await desk.regenerate()
        assert not await found()
        await desk.chats.fail(desk.who, again.run.id, "no")
        await desk.switch(answer_of(done))
        assert await found()


# --- refusals ---------------------------------------------------------------------------------


async def test_whoever_saw_an_older_revision_moves_nothing(desk: Desk) -> None:
    ids = await talked(desk, 2)
    before = await desk.rows()
    for expected in (0, 3, 99):
        for attempt in (
            desk.chats.edit(desk.who, desk.id, ids[0], "x", expected_revision=expected),
            desk.chats.regenerate(desk.who, desk.id, expected_revision=expected),
            desk.chats.switch(desk.who, desk.id, ids[0], expected_revision=expected),
        ):
            with pytest.raises(RevisionConflict) as refused:
                await attempt
            assert refused.value.details == {"revision": 4}
    assert await desk.rows() == before


async def test_while_a_run_is_live_nobody_moves(desk: Desk) -> None:
    ids = await talked(desk, 1)
    await desk.ask("q1")
    before = await desk.rows()
    for attempt in (desk.edit(ids[0], "x"), desk.regenerate(), desk.switch(ids[0])):
        with pytest.raises(RunInProgress):
            await attempt
    assert await desk.rows() == before


async def test_only_what_a_person_said_and_is_shown_is_edited(desk: Desk) -> None:
    ids = await talked(desk, 2)
    await desk.reply((await desk.edit(ids[2], "q1 anew")).run, "a1 anew")
    before = await desk.rows()
    for answer in (ids[1], ids[3]):
        with pytest.raises(NotEditable, match="An answer is not edited: regenerate makes another"):
            await desk.edit(answer, "x")
    with pytest.raises(NotEditable, match="switch to its branch first"):
        await desk.edit(ids[2], "x")
    for attempt in (desk.edit(new_id(), "x"), desk.switch(new_id())):
        with pytest.raises(NotFound):
            await attempt
    assert await desk.rows() == before


async def test_where_nothing_was_said_nothing_is_answered_anew(desk: Desk) -> None:
    with pytest.raises(NotEditable):
        await desk.regenerate()


@pytest.mark.parametrize("what", ["compacted", "cleared", "written over"])
async def test_what_can_not_be_what_it_was_is_not_taken_back(desk: Desk, what: str) -> None:
    for number in range(3):
        await desk.exchange(f"q{number} " + "q" * 400, f"a{number} " + "a" * 400)
    ids = await message_ids(desk)
    await desk.reply((await desk.edit(ids[4], "q2 anew")).run, "a2 anew")
    loaded = await desk.loaded()
    assert loaded.conversation is not None
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    if what == "compacted":
        compactions = Compactions(desk.storage, Scripted())
        done = await compactions.compact(desk.who, loaded.conversation.id)
        assert done.status == "activated"
    elif what == "cleared":
        await desk.talks.clear(desk.who, key)
    else:
        await desk.talks.save(desk.who, key, [says("something else")], fence=loaded.fence)
    before = await desk.rows()
    shown = await message_ids(desk)
    attempts: list[Awaitable[Any]] = [
        *(desk.edit(shown[at], "x") for at in (2, 4)),
        desk.regenerate(),
    ]
    if what != "written over":
        attempts += [desk.switch(ids[5]), desk.edit(shown[0], "x")]
    for attempt in attempts:
        with pytest.raises(CannotRewind):
            await attempt
    assert await desk.rows() == before
    await desk.exchange("but one can go on", "of course")


async def test_a_branch_that_was_left_comes_back_whatever_was_written_over_the_other(
    desk: Desk,
) -> None:
    ids = await talked(desk, 2)
    await desk.reply((await desk.regenerate()).run, "a1 anew")
    loaded = await desk.loaded()
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    await desk.talks.save(desk.who, key, [says("something else")], fence=loaded.fence)
    await desk.switch(ids[3])
    await desk.assert_known()


async def test_the_oldest_branches_go_first_and_can_not_be_shown_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "MOST_SNAPSHOTS", 2)
    answers = [answer_of(await desk.exchange("q", "a0"))]
    for number in range(1, 4):
        done = await desk.reply((await desk.regenerate()).run, f"a{number}")
        answers.append(answer_of(done))
    before = await desk.rows()
    with pytest.raises(BranchUnavailable):
        await desk.switch(answers[0])
    assert await desk.rows() == before
    await desk.switch(answers[1])
    await desk.assert_known()
    await desk.switch(answers[2])
    await desk.assert_known()


async def test_branches_take_no_more_room_than_they_may(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "SNAPSHOT_BYTES", 3_000)
    for number in range(4):
        sent = await (desk.regenerate() if number else desk.ask("q"))
        await desk.reply(sent.run, str(number) * 1_000)
    sizes = await desk.storage.read(
        desk.who.organization_id, lambda tx: tx.all(select(chat_branch_snapshots.c.bytes))
    )
    assert 0 < sum(row.bytes for row in sizes) <= 3_000


async def test_a_branch_of_one_organization_is_no_others(desk: Desk, storage: Storage) -> None:
    other_tenant = await new_tenant(storage, "Other")
    other = await Desk.of(storage, other_tenant, workflow_id=desk.chat.workflow_id)
    for each in (desk, other):
        await talked(each, 1)
        await each.reply((await each.regenerate()).run, "anew")
    ids = await message_ids(desk)
    with pytest.raises(NotFound):
        await other.switch(ids[1])
    kept = await read(storage, other_tenant, select(chat_branch_snapshots.c.chat_id))
    assert [row.chat_id for row in kept] == [other.id]
    await other.assert_known()
    await desk.assert_known()
