"""What chats promise to whoever talks in them: one message after the other, one run at a time, nothing twice."""

import pytest
from sqlalchemy import select

from memoranda.conversations.chats import sending
from memoranda.conversations.chats.errors import RunInProgress
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.errors import OlderGeneration
from memoranda.conversations.models import Content, ConversationKey
from memoranda.conversations.service import Conversations
from memoranda.runs.events.service import Events
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from memoranda.storage.tables import activities
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, Refused
from memoranda.words.ids import new_id
from tests.contract.chat_desk import Desk
from tests.contract.conversation_desk import begun
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
async def desk(storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(storage, acme)


# --- made and listed --------------------------------------------------------------------------


async def test_a_chat_is_a_users_and_stands_for_a_workflow_of_its_own(
    storage: Storage, acme: Tenant
) -> None:
    chats = Chats(storage)
    mine = await chats.create(acme.member(acme.anna), agent_id=acme.scout.id, title=" Ships ")
    assert (mine.user_id, mine.agent_id, mine.title) == (acme.anna.id, acme.scout.id, "Ships")
    assert (mine.active_leaf, mine.revision, mine.generation) == (None, 0, 1)
    named = await chats.create(acme.owner, workflow_id="support")
    assert (named.user_id, named.workflow_id) == (acme.owner.user_id, "support")
    assert mine.workflow_id != named.workflow_id
    assert await chats.get(acme.owner, mine.id) == mine


async def test_a_workflow_has_one_chat_and_that_begins_with_it(
    storage: Storage, acme: Tenant
) -> None:
    chats, talks = Chats(storage), Conversations(storage)
    other = await new_tenant(storage, "Other")
    await chats.create(acme.owner, workflow_id="support")
    await begun(talks, acme.owner, "said", key=ConversationKey(workflow_id="sales"))
    for taken in ("support", "sales"):
        with pytest.raises(Conflict):
            await chats.create(acme.owner, workflow_id=taken)
        await chats.create(other.owner, workflow_id=taken)
    await talks.resets.reset(acme.owner, "sales")
    assert (await chats.create(acme.owner, workflow_id="sales")).generation == 2


async def test_a_chat_names_only_whom_there_is_and_whom_the_caller_acts_for(
    storage: Storage, acme: Tenant
) -> None:
    chats = Chats(storage)
    other = await new_tenant(storage, "Other")
    for named in ({"user_id": other.anna.id}, {"agent_id": other.scout.id}, {"user_id": new_id()}):
        with pytest.raises(NotFound):
            await chats.create(acme.owner, **named)
    with pytest.raises(Refused):
        await chats.create(acme.member(acme.anna), user_id=acme.ben.id)
    with pytest.raises(Refused):
        await chats.create(acme.reader)
    with pytest.raises(Invalid):
        await chats.create(acme.key_of(acme.scout))
    assert (await chats.page(acme.owner)).items == []


async def test_chats_are_listed_the_newest_first_to_those_who_may_know_of_them(
    storage: Storage, acme: Tenant
) -> None:
    chats = Chats(storage)
    other = await new_tenant(storage, "Other")
    annas = [
        await chats.create(acme.owner, user_id=acme.anna.id, agent_id=agent)
        for agent in (None, acme.scout.id, acme.clerk.id)
    ]
    bens = await chats.create(acme.owner, user_id=acme.ben.id, agent_id=acme.scout.id)
    await chats.create(other.owner)
    everything = [bens, *reversed(annas)]
    assert (await chats.page(acme.owner)).items == everything
    assert (await chats.page(acme.reader)).items == everything
    assert (await chats.page(acme.member(acme.anna))).items == everything[1:]
    assert (await chats.page(acme.owner, agent_id=acme.scout.id)).items == [bens, annas[1]]
    scouts = acme.key_of(acme.scout, acme.anna)
    assert (await chats.page(scouts)).items == [annas[1]]
    assert (await chats.page(acme.key_of(acme.scout))).items == []
    first = await chats.page(acme.owner, limit=3)
    rest = await chats.page(acme.owner, limit=3, cursor=first.next_cursor)
    assert [*first.items, *rest.items] == everything
    for who, chat in ((acme.member(acme.ben), annas[0]), (scouts, bens), (other.owner, bens)):
        for attempt in (
            chats.get(who, chat.id),
            chats.thread(who, chat.id),
            chats.send(who, chat.id, "hello"),
            chats.clear(who, chat.id),
            chats.delete(who, chat.id),
        ):
            with pytest.raises(NotFound):
                await attempt


# --- said -------------------------------------------------------------------------------------


async def test_a_message_is_shown_at_once_and_a_run_waits_that_answers_it(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    sent = await desk.ask("When will it be there?")
    assert (sent.message.role, sent.message.content) == ("user", "When will it be there?")
    assert (sent.message.parent_id, sent.message.sequence) == (None, 1)
    assert (sent.run.status, sent.run.message_id) == ("queued", sent.message.id)
    assert (sent.chat.revision, sent.chat.active_leaf) == (1, sent.message.id)
    thread = await desk.chats.thread(desk.who, desk.id)
    assert (thread.chat, thread.run, thread.earlier) == (sent.chat, sent.run, 0)
    (shown,) = thread.messages
    assert (shown.id, shown.version, shown.versions) == (sent.message.id, 1, [sent.message.id])
    run = await Runs(storage).get(acme.owner, sent.run.id)
    assert (run.status, run.chat_id, run.user_id, run.input) == (
        "running",
        desk.id,
        acme.anna.id,
        None,
    )


async def test_the_path_grows_behind_what_is_shown(desk: Desk) -> None:
    for turn in range(3):
        await desk.exchange(f"q{turn}", f"a{turn}")
    assert await desk.shown() == ["q0", "a0", "q1", "a1", "q2", "a2"]
    await desk.assert_known()
    thread = await desk.chats.thread(desk.who, desk.id, limit=2)
    assert [each.content for each in thread.messages] == ["q2", "a2"]
    assert thread.earlier == 4
    before = await desk.chats.thread(desk.who, desk.id, before=thread.messages[0].id, limit=3)
    assert [each.content for each in before.messages] == ["a0", "q1", "a1"]
    assert before.earlier == 1
    with pytest.raises(NotFound):
        await desk.chats.thread(desk.who, desk.id, before=new_id())


async def test_while_a_run_is_live_nothing_else_is_said(desk: Desk, storage: Storage) -> None:
    sent = await desk.ask("first")
    for status in ("queued", "running", "waiting"):
        before = await desk.rows()
        with pytest.raises(RunInProgress) as refused:
            await desk.ask("second")
        assert refused.value.details == {"run_id": str(sent.run.id), "status": status}
        assert await desk.rows() == before
        if status == "queued":
            await desk.chats.pick_up(desk.who, sent.run.id)
        elif status == "running":
            await desk.chats.wait(desk.who, sent.run.id, "an approval")
    await desk.chats.resume(desk.who, sent.run.id)
    await desk.reply(sent.run, "done")
    await desk.ask("second")
    assert await desk.shown() == ["first", "done", "second"]


async def test_what_is_sent_again_is_answered_with_what_the_first_send_made(
    desk: Desk, storage: Storage
) -> None:
    sent = await desk.ask("hello", client_message_id="m1")
    before = await desk.rows()
    assert await desk.ask("hello", client_message_id="m1") == sent
    assert await desk.rows() == before
    await desk.reply(sent.run, "hi")
    later = await desk.ask("hello", client_message_id="m1")
    assert later.message == sent.message
    assert (later.run.id, later.run.status) == (sent.run.id, "completed")
    assert await desk.shown() == ["hello", "hi"]
    with pytest.raises(Conflict) as refused:
        await desk.ask("something else", client_message_id="m1")
    assert refused.value.details == {"message_id": str(sent.message.id)}
    assert (await desk.ask("something else", client_message_id="m2")).message.sequence == 3


async def test_an_answer_that_was_made_anew_leaves_the_first_send_its_own_run(desk: Desk) -> None:
    sent = await desk.ask("hello", client_message_id="m1")
    await desk.reply(sent.run, "hi")
    again = await desk.regenerate()
    assert (await desk.ask("hello", client_message_id="m1")).run.id == sent.run.id != again.run.id


async def test_one_clients_ids_are_of_one_chat(desk: Desk, storage: Storage, acme: Tenant) -> None:
    other = await Desk.of(storage, acme)
    sent = [await each.ask("hello", client_message_id="m1") for each in (desk, other)]
    assert sent[0].message.id != sent[1].message.id


async def test_blocks_come_back_as_they_were_sent(desk: Desk) -> None:
    blocks = [{"type": "text", "text": "look"}, {"zeta": 1, "type": "image", "alpha": [None, 0.5]}]
    sent = await desk.chats.send(desk.who, desk.id, blocks)
    (shown,) = (await desk.chats.thread(desk.who, desk.id)).messages
    assert shown.content == sent.message.content == blocks
    assert [*shown.content[1]] == ["zeta", "type", "alpha"]  # type: ignore[arg-type]  # it is blocks


@pytest.mark.parametrize(
    "nothing", ["", " \n", [], [{}], [{"type": "text", "text": " "}, {"type": "text"}]]
)
async def test_who_says_nothing_begins_no_run(desk: Desk, nothing: Content) -> None:
    answered = await desk.exchange("q", "a")
    before = await desk.rows()
    with pytest.raises(Invalid):
        await desk.chats.send(desk.who, desk.id, nothing)
    with pytest.raises(Invalid):
        await desk.chats.edit(
            desk.who,
            desk.id,
            answered.run.message_id,
            nothing,
            expected_revision=answered.chat.revision,
        )
    assert await desk.rows() == before
    image = {"type": "image", "url": "https://example.org/a.png"}
    assert (await desk.chats.send(desk.who, desk.id, [image])).message.content == [image]


@pytest.mark.parametrize(
    ("content", "error"),
    [("a\0b", Invalid), ("\ud800", Invalid), ([{"a": float("nan")}], Invalid)],
)
async def test_what_could_not_be_stored_is_refused(
    desk: Desk, content: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await desk.chats.send(desk.who, desk.id, content)  # type: ignore[arg-type]  # that is the point
    assert await desk.shown() == []


async def test_messages_and_chats_have_an_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OverLimit):
        await desk.ask("x" * 1_000_000)
    monkeypatch.setattr(sending, "MOST_MESSAGES", 2)
    await desk.exchange("q", "a")
    with pytest.raises(OverLimit):
        await desk.ask("one more")
    await desk.chats.clear(desk.who, desk.id)
    await desk.ask("one more")


async def test_after_a_reset_a_chat_can_be_read_and_goes_on_once_it_is_cleared(
    desk: Desk, storage: Storage
) -> None:
    await desk.exchange("q", "a")
    await desk.talks.resets.reset(desk.who, desk.chat.workflow_id)
    before = await desk.rows()
    thread = await desk.chats.thread(desk.who, desk.id)
    for attempt in (
        desk.ask("late"),
        desk.edit(thread.messages[0].id, "late"),
        desk.regenerate(),
        desk.switch(thread.messages[0].id),
    ):
        with pytest.raises(OlderGeneration) as refused:
            await attempt
        assert refused.value.details["generation"] == 2
    assert await desk.shown() == ["q", "a"]
    assert await desk.rows() == before
    cleared = await desk.chats.clear(desk.who, desk.id)
    assert (cleared.generation, cleared.active_leaf) == (2, None)
    await desk.now()
    await desk.exchange("new", "fine")
    await desk.assert_known()


async def test_a_reset_ends_the_run_that_is_live(desk: Desk, storage: Storage) -> None:
    sent = await desk.ask("q")
    prepared = await desk.begin(sent.run)
    await desk.talks.resets.reset(desk.who, desk.chat.workflow_id)
    run = await desk.chats.run(desk.who, sent.run.id)
    assert (run.status, run.reason) == ("stopped", "The workflow was reset.")
    assert (await Runs(storage).get(desk.who, run.id)).status == "cancelled"
    with pytest.raises(OlderGeneration):
        await desk.chats.answer(desk.who, run.id, "late", [desk.turn(prepared, "late")])


async def test_what_happens_in_a_chat_is_told_without_a_word(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    done = await desk.exchange("secret question", "secret answer")
    assert done.answer is not None
    await desk.regenerate()
    page = await Events(storage).page(acme.owner, 0)
    told = [each for each in page.items if each.type == "chat.updated"]
    assert [each.metadata["action"] for each in told] == [
        "created",
        "sent",
        "completed",
        "regenerated",
    ]
    assert {each.user_id for each in told} == {acme.anna.id}
    assert [each.metadata["revision"] for each in told] == [0, 1, 2, 3]
    recorded = await read(storage, acme, select(activities.c.type, activities.c.metadata))
    assert "secret" not in repr((page, recorded))


async def test_no_other_organization_finds_a_run_or_message(desk: Desk, storage: Storage) -> None:
    other = await Desk.of(storage, await new_tenant(storage, "Other"))
    sent = await desk.ask("q", client_message_id="m1")
    theirs = await other.ask("q", client_message_id="m1")
    assert theirs.message.id != sent.message.id
    await other.reply(theirs.run, "a")
    for attempt in (
        other.chats.run(other.who, sent.run.id),
        other.chats.pick_up(other.who, sent.run.id),
        other.chats.prepare(other.who, sent.run.id),
        other.chats.answer(other.who, sent.run.id, "a"),
        other.chats.fail(other.who, sent.run.id, "no"),
        other.edit(sent.message.id, "x"),
        other.switch(sent.message.id),
    ):
        with pytest.raises(NotFound):
            await attempt
