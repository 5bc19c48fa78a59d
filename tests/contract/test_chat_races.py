"""What happens when a chat is changed at once, or a process breaks in the middle: one after the other, and never half."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from memoranda.conversations.chats import ending
from memoranda.conversations.chats.errors import RevisionConflict, RunEnded, RunInProgress
from memoranda.conversations.chats.models import Answered, Chat, ChatRun, Sent, Thread
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.errors import LateSave, OlderGeneration
from memoranda.conversations.models import Conversation, ConversationKey, WorkflowReset
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, NotFound
from tests.contract.chat_desk import Desk, says
from tests.contract.tenants import Tenant

ROUNDS = 3


@pytest.fixture
async def several(database_url: str) -> AsyncIterator[list[Storage]]:
    """As many processes would be: each with a database of its own that it has open."""
    opened = [await Storage.open(database_url) for _ in range(3)]
    yield opened
    for each in opened:
        await each.close()


@pytest.fixture
async def desk(storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(storage, acme)


async def together(*attempts: Awaitable[Any]) -> list[Any]:
    """Their outcomes; an error that no caller should see is raised."""
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    for each in outcomes:
        if isinstance(each, BaseException) and not isinstance(each, Conflict | NotFound):
            raise each
    return outcomes


def kinds(outcomes: list[Any]) -> list[type]:
    return sorted((type(each) for each in outcomes), key=lambda kind: kind.__name__)


async def test_of_sends_at_once_one_wins_and_the_others_have_to_wait(
    desk: Desk, several: list[Storage]
) -> None:
    for turn in range(ROUNDS):
        outcomes = await together(
            *[Chats(each).send(desk.who, desk.id, f"{turn}") for each in several]
        )
        assert kinds(outcomes) == [RunInProgress, RunInProgress, Sent]
        (sent,) = [each for each in outcomes if isinstance(each, Sent)]
        await desk.reply(sent.run, "a")
    assert await desk.shown() == [text for turn in range(ROUNDS) for text in (f"{turn}", "a")]
    await desk.assert_known()


async def test_one_message_sent_at_once_is_one_message(desk: Desk, several: list[Storage]) -> None:
    outcomes = await together(
        *[Chats(each).send(desk.who, desk.id, "hello", client_message_id="m1") for each in several]
    )
    assert len({each.message.id for each in outcomes}) == 1
    assert len({each.run.id for each in outcomes}) == 1
    assert await desk.shown() == ["hello"]


async def test_a_run_is_picked_up_by_one_and_answered_by_one(
    desk: Desk, several: list[Storage]
) -> None:
    sent = await desk.ask("q")
    chats = [Chats(each) for each in several]
    outcomes = await together(*[each.pick_up(desk.who, sent.run.id) for each in chats])
    assert kinds(outcomes).count(ChatRun) == 1
    turn = desk.turn(await desk.begin(sent.run), "a")
    answers = await together(
        *[each.answer(desk.who, sent.run.id, "a", [turn]) for each in chats[:2]],
        chats[2].fail(desk.who, sent.run.id, "no"),
    )
    assert kinds(answers) == [Answered, RunEnded, RunEnded]
    done = next(each for each in answers if isinstance(each, Answered))
    assert await desk.shown() == (["q", "a"] if done.answer else ["q"])
    assert await desk.known() == (["q", "a"] if done.answer else [])


async def test_of_moves_from_one_revision_one_goes_through(
    desk: Desk, several: list[Storage]
) -> None:
    await desk.exchange("q0", "a0")
    await desk.exchange("q1", "a1")
    chats = [Chats(each) for each in several]
    for _ in range(ROUNDS):
        thread = await desk.chats.thread(desk.who, desk.id)
        seen = {"expected_revision": thread.chat.revision}
        outcomes = await together(
            chats[0].edit(desk.who, desk.id, thread.messages[0].id, "q", **seen),
            chats[1].regenerate(desk.who, desk.id, **seen),
            chats[2].edit(desk.who, desk.id, thread.messages[-2].id, "q", **seen),
        )
        assert kinds(outcomes).count(Sent) == 1
        assert set(kinds(outcomes)) <= {Sent, RevisionConflict, RunInProgress}
        (sent,) = [each for each in outcomes if isinstance(each, Sent)]
        await desk.reply(sent.run, "a")
        await desk.assert_known()


async def test_moves_against_saves_and_resets_end_with_what_is_shown_or_are_refused(
    desk: Desk, several: list[Storage]
) -> None:
    await desk.exchange("q0", "a0")
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    for _ in range(ROUNDS):
        revision = await desk.revision()
        moved, appended, _ = await together(
            Chats(several[0]).regenerate(desk.who, desk.id, expected_revision=revision),
            Conversations(several[1]).append(desk.who, key, [says("meanwhile")]),
            Conversations(several[2]).compactions.compact(
                desk.who, (await desk.loaded()).conversation.id
            ),  # type: ignore[union-attr]  # it is there
        )
        assert isinstance(moved, Sent)
        assert isinstance(appended, Conversation)
        assert {*await desk.known()} <= {"meanwhile"}
        await desk.reply(moved.run, "a0")
    sent, reset = await together(
        Chats(several[0]).send(desk.who, desk.id, "q1"),
        Conversations(several[1]).resets.reset(desk.who, desk.chat.workflow_id),
    )
    assert isinstance(reset, WorkflowReset)
    assert isinstance(sent, Sent | OlderGeneration)
    assert (await desk.chats.thread(desk.who, desk.id)).run is None


async def test_an_answer_against_a_clear_is_cleared_or_refused(
    desk: Desk, several: list[Storage]
) -> None:
    for _ in range(ROUNDS):
        sent = await desk.ask("q")
        turn = desk.turn(await desk.begin(sent.run), "a")
        answered, cleared = await together(
            Chats(several[0]).answer(desk.who, sent.run.id, "a", [turn]),
            Chats(several[1]).clear(desk.who, desk.id),
        )
        assert isinstance(cleared, Chat)
        assert isinstance(answered, Answered | NotFound | LateSave)
        assert (await desk.shown(), await desk.known()) == ([], [])


async def test_two_chats_for_one_workflow_are_never_made(
    several: list[Storage], acme: Tenant
) -> None:
    outcomes = await together(
        *[Chats(each).create(acme.owner, workflow_id="support") for each in several]
    )
    assert kinds(outcomes) == [Chat, Conflict, Conflict]


class Broken(Exception):
    """What a process dies of, in a test."""


async def _nothing(_: Desk) -> None:
    """Nothing is needed before."""


async def _live(desk: Desk) -> None:
    await desk.begin((await desk.ask("q1")).run)


async def _answer(desk: Desk) -> Answered:
    run = (await desk.chats.thread(desk.who, desk.id)).run
    assert run is not None
    return await desk.reply(run, "a1")


async def _switch(desk: Desk) -> Thread:
    versions = (await desk.chats.thread(desk.who, desk.id)).messages[0].versions
    return await desk.switch(versions[0])


Verb = Callable[[Desk], Awaitable[Any]]


async def _edit(desk: Desk) -> Sent:
    return await desk.edit((await desk.chats.thread(desk.who, desk.id)).messages[0].id, "x")


@pytest.mark.parametrize(
    ("before", "verb"),
    [
        (_nothing, lambda desk: desk.ask("q1")),
        (_nothing, _edit),
        (_nothing, _switch),
        (_nothing, lambda desk: desk.regenerate()),
        (_live, _answer),
        (_live, lambda desk: desk.chats.clear(desk.who, desk.id)),
        (_live, lambda desk: desk.chats.delete(desk.who, desk.id)),
    ],
    ids=["send", "edit", "switch", "regenerate", "answer", "clear", "delete"],
)
async def test_what_breaks_at_its_last_step_has_changed_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, before: Verb, verb: Verb
) -> None:
    await desk.exchange("first", "version")
    await desk.reply((await _edit(desk)).run, "a0")
    await before(desk)

    async def everything() -> Any:
        rows = await desk.rows()
        del rows["chat_runs"]  # when a host was heard of, which is no change of the chat
        return rows

    rows = await everything()

    def broken(*_: Any, **__: Any) -> None:
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(ending, "record_event", broken)
        with pytest.raises(Broken):
            await verb(desk)
    assert await everything() == rows
    await verb(desk)
    assert await everything() != rows
