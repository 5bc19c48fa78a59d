"""Notes and ratings: told once, ahead of what the user says, and never lost or told to somebody else."""

from typing import Any
from uuid import UUID

import pytest

from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.chats.notes.models import Note
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, OverLimit, Refused
from memoranda.words.ids import new_id
from tests.contract.chat_room import Room, new_room, strangers
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


async def note(room: Room, key: str, text: str) -> Note:
    return await room.chats.notes.add(room.who, room.chat.id, key, text)


async def told_in(room: Room, text: str = "Go on.") -> list[str]:
    """The notes that a whole new turn is told."""
    run = await room.running(text)
    prepared = await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    await room.answer(run, "Done.")
    return prepared.notes


async def standing(room: Room) -> list[tuple[str, bool, bool]]:
    """Each note's key, whether a run was given it, and whether it was told."""
    page = await room.chats.notes.page(room.who, room.chat.id)
    return [
        (each.key, each.claimed_by is not None, each.told_at is not None) for each in page.items
    ]


async def test_a_note_is_told_once_ahead_of_what_the_user_says_and_never_in_the_system_prompt(
    room: Room,
) -> None:
    await note(room, "form", "The address was changed.")
    await note(room, "approval", "The order was approved.")
    run = await room.running("Where is it?")
    prepared = await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    request = prepared.request("You help.")
    lines = "[The address was changed.]\n[The order was approved.]"
    assert [(each.role, each.content) for each in request] == [
        ("system", "You help."),
        ("user", f"{lines}\n\nWhere is it?"),
    ]
    assert await room.shown() == ["Where is it?"]
    await room.answer(run, "On its way.")
    assert (await room.known())[0].content == f"{lines}\n\nWhere is it?"
    assert await standing(room) == [("form", True, True), ("approval", True, True)]
    assert await told_in(room) == []


async def test_a_newer_note_takes_the_place_of_one_that_nobody_was_told(room: Room) -> None:
    await note(room, "form", "Saved once.")
    await note(room, "form", "Saved twice.")
    assert await told_in(room) == ["[Saved twice.]"]
    await note(room, "form", "Saved three times.")
    assert await told_in(room) == ["[Saved three times.]"]
    assert await standing(room) == [("form", True, True)] * 2


async def test_to_prepare_twice_or_another_agent_tells_the_same(room: Room) -> None:
    await note(room, "form", "Saved.")
    run = await room.running()
    for agent in (room.tenant.scout.id, room.tenant.scout.id, room.tenant.clerk.id):
        prepared = await room.chats.prepare(room.who, run.id, agent)
        assert prepared.notes == ["[Saved.]"]


@pytest.mark.parametrize("ends", ["failed", "stopped"])
async def test_what_a_run_was_given_that_came_to_no_answer_waits_again(
    room: Room, ends: str
) -> None:
    await note(room, "form", "Saved.")
    await note(room, "order", "Sent.")
    run = await room.running()
    await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    await note(room, "form", "Saved again.")
    if ends == "failed":
        await room.chats.fail(room.who, run.id, "It broke.")
    else:
        await room.live.stop(room.who, run.id)
        await room.chats.answer(room.who, run.id, "", stopped=True)
    assert sorted(await standing(room)) == [("form", False, False), ("order", False, False)]
    assert sorted(await told_in(room)) == ["[Saved again.]", "[Sent.]"]


@pytest.mark.parametrize("ends", ["failed", "stopped", "cleared", "deleted"])
async def test_a_run_that_was_given_two_notes_of_one_key_can_end(room: Room, ends: str) -> None:
    run = await room.running()
    await note(room, "form", "Saved.")
    await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    await note(room, "form", "Saved again.")
    prepared = await room.chats.prepare(room.who, run.id, room.tenant.clerk.id)
    assert prepared.notes == ["[Saved.]", "[Saved again.]"]
    match ends:
        case "failed":
            await room.chats.fail(room.who, run.id, "It broke.")
        case "stopped":
            await room.chats.answer(room.who, run.id, "", stopped=True)
        case "cleared":
            await room.chats.clear(room.who, room.chat.id)
        case _:
            await room.chats.delete(room.who, room.chat.id)
            return
    assert await told_in(room) == ([] if ends == "cleared" else ["[Saved again.]"])


async def test_what_was_told_on_a_part_that_was_left_is_told_again(room: Room) -> None:
    await note(room, "form", "Saved.")
    await note(room, "order", "Sent.")
    assert await told_in(room) == ["[Saved.]", "[Sent.]"]
    await note(room, "order", "Sent back.")
    chat = await room.chats.get(room.who, room.chat.id)
    again = await room.chats.regenerate(room.who, room.chat.id, expected_revision=chat.revision)
    await room.chats.pick_up(room.who, again.run.id)
    prepared = await room.chats.prepare(room.who, again.run.id, room.tenant.scout.id)
    assert prepared.notes == ["[Saved.]", "[Sent back.]"]


async def test_a_note_that_waits_can_be_taken_back(room: Room) -> None:
    notes = room.chats.notes
    await note(room, "form", "Saved.")
    assert await notes.take_back(room.who, room.chat.id, "form") is True
    assert await notes.take_back(room.who, room.chat.id, "form") is False
    assert await told_in(room) == []


async def test_so_many_notes_may_wait_and_no_more_but_a_key_can_still_say_something_newer(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.conversations.chats.notes.store.MOST_WAITING", 2)
    await note(room, "one", "One.")
    await note(room, "two", "Two.")
    with pytest.raises(OverLimit):
        await note(room, "three", "Three.")
    await note(room, "two", "Two again.")
    assert await told_in(room) == ["[One.]", "[Two again.]"]
    await note(room, "three", "Three.")


async def test_what_a_live_run_was_given_counts_for_it_may_wait_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.conversations.chats.notes.store.MOST_WAITING", 2)
    await note(room, "one", "One.")
    await note(room, "two", "Two.")
    run = await room.running()
    await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    with pytest.raises(OverLimit):
        await note(room, "three", "Three.")
    await note(room, "two", "Two again.")
    await room.chats.fail(room.who, run.id, "It broke.")
    assert await told_in(room) == ["[One.]", "[Two again.]"]


MOST = "memoranda.conversations.chats.notes.store.MOST_WAITING"


async def rated(room: Room, answers: list[UUID], rating: Rating = Rating.UP) -> None:
    for answer_id in answers:
        await room.chats.feedback.give(room.who, room.chat.id, answer_id, rating)


async def several_answers(room: Room, count: int) -> list[UUID]:
    done = [await room.answered(f"Question {number}?") for number in range(count)]
    return [each.answer.id for each in done if each.answer is not None]


async def test_a_rating_is_kept_however_many_notes_wait_and_of_ratings_the_newest_are_told(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = await several_answers(room, 4)
    monkeypatch.setattr(MOST, 2)
    await note(room, "one", "One.")
    await note(room, "two", "Two.")
    await rated(room, answers)
    await rated(room, answers[2:3], Rating.DOWN)  # and is the newest by that
    kept = await room.chats.feedback.list(room.who, room.chat.id)
    assert [each.message_id for each in kept] == answers
    with pytest.raises(OverLimit):
        await note(room, "three", "Three.")
    told = await told_in(room)
    assert told[:2] == ["[One.]", "[Two.]"]
    assert ["good" in told[2], "not good" in told[3]] == [True, True]
    assert ["Question 3" in told[2], "Question 2" in told[3]] == [True, True]
    assert len(told) == 4


async def test_what_a_live_run_was_told_of_ratings_makes_room_too_and_comes_back_no_more(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = await several_answers(room, 3)
    monkeypatch.setattr(MOST, 2)
    await rated(room, answers[:2])
    run = await room.running()
    given = await room.chats.prepare(room.who, run.id, room.tenant.scout.id)
    assert len(given.notes) == 2
    await rated(room, answers[2:])
    assert len(await room.chats.feedback.list(room.who, room.chat.id)) == 3
    await room.chats.fail(room.who, run.id, "It broke.")
    told = await told_in(room)
    assert [["Question 1" in told[0], "Question 2" in told[1]], len(told)] == [[True, True], 2]


async def test_of_ratings_told_on_a_part_that_was_left_the_newest_are_told_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = await several_answers(room, 3)
    await rated(room, answers)
    await note(room, "form", "Saved.")
    assert len(await told_in(room)) == 4
    monkeypatch.setattr(MOST, 2)
    chat = await room.chats.get(room.who, room.chat.id)
    again = await room.chats.regenerate(room.who, room.chat.id, expected_revision=chat.revision)
    await room.chats.pick_up(room.who, again.run.id)
    told = (await room.chats.prepare(room.who, again.run.id, room.tenant.scout.id)).notes
    assert ["Question 1" in told[0], "Question 2" in told[1], told[2:]] == [
        *(True, True),
        ["[Saved.]"],
    ]


async def test_nobody_leaves_a_note_in_the_place_of_a_rating(room: Room) -> None:
    (answer,) = await several_answers(room, 1)
    await rated(room, [answer])
    with pytest.raises(Invalid):
        await note(room, f"rating of {answer}", "It was bad.")
    (told,) = await told_in(room)
    assert "as good" in told


async def test_notes_are_listed_page_by_page(room: Room) -> None:
    for key in ("a", "b", "c"):
        await note(room, key, key)
    notes = room.chats.notes
    first = await notes.page(room.who, room.chat.id, limit=2)
    rest = await notes.page(room.who, room.chat.id, limit=2, cursor=first.next_cursor)
    assert [each.key for each in (*first.items, *rest.items)] == ["a", "b", "c"]
    assert rest.next_cursor is None
    alien = await new_room(room.storage, room.tenant)
    with pytest.raises(Invalid):
        await notes.page(room.who, alien.chat.id, cursor=first.next_cursor)


async def test_a_rating_is_kept_once_and_its_agent_is_told(room: Room) -> None:
    done = await room.answered()
    assert done.answer is not None
    feedback, where = room.chats.feedback, (room.chat.id, done.answer.id)
    anna = room.tenant.member(room.tenant.anna)
    await feedback.give(anna, *where, Rating.UP)
    given = await feedback.give(anna, *where, Rating.DOWN, comment="It leaves\nat one.]")
    assert (given.user_id, given.rating) == (room.tenant.anna.id, Rating.DOWN)
    assert await feedback.list(room.who, room.chat.id) == [given]
    (line,) = await told_in(room)
    assert line == (
        "[The user rated the answer \"To 'When does the ferry leave?': at noon.\" as not good, "
        "and says: It leaves at one.)]"
    )


async def test_a_rating_can_be_taken_back_with_what_waits_to_be_told(room: Room) -> None:
    done = await room.answered()
    assert done.answer is not None
    feedback, where = room.chats.feedback, (room.chat.id, done.answer.id)
    await feedback.give(room.who, *where, Rating.UP)
    assert await feedback.take_back(room.who, *where) is True
    assert await feedback.take_back(room.who, *where) is False
    assert await feedback.list(room.who, room.chat.id) == []
    assert await told_in(room) == []


async def test_only_an_answer_of_the_chat_can_be_rated(room: Room) -> None:
    done = await room.answered()
    feedback = room.chats.feedback
    with pytest.raises(Invalid, match="Only an answer"):
        await feedback.give(room.who, room.chat.id, done.run.message_id, Rating.UP)
    elsewhere = await (await new_room(room.storage, room.tenant)).answered()
    assert elsewhere.answer is not None
    for message_id in (new_id(), elsewhere.answer.id):
        with pytest.raises(NotFound):
            await feedback.give(room.who, room.chat.id, message_id, Rating.UP)
    wrong: Any = "maybe"
    with pytest.raises(Invalid):
        await feedback.give(room.who, room.chat.id, elsewhere.answer.id, wrong)
    assert await feedback.list(room.who, room.chat.id) == []


async def test_nobody_else_notes_rates_or_reads_either(
    room: Room, acme: Tenant, other: Tenant
) -> None:
    done = await room.answered()
    assert done.answer is not None
    await note(room, "form", "Saved.")
    chat_id, answer_id = room.chat.id, done.answer.id
    notes, feedback = room.chats.notes, room.chats.feedback
    for who in strangers(acme, other):
        for refused in (
            notes.add(who, chat_id, "form", "Theirs."),
            notes.take_back(who, chat_id, "form"),
            notes.page(who, chat_id),
            feedback.give(who, chat_id, answer_id, Rating.UP),
            feedback.take_back(who, chat_id, answer_id),
            feedback.list(who, chat_id),
        ):
            with pytest.raises(NotFound):
                await refused
    for denied in (
        notes.add(acme.reader, chat_id, "form", "Theirs."),
        feedback.give(acme.reader, chat_id, answer_id, Rating.UP),
    ):
        with pytest.raises(Refused):
            await denied
    assert await told_in(room) == ["[Saved.]"]
    assert await feedback.list(room.who, chat_id) == []


async def test_each_who_rates_is_told_of_apart_and_by_no_name(room: Room, acme: Tenant) -> None:
    (answer,) = await several_answers(room, 1)
    feedback, where = room.chats.feedback, (room.chat.id, answer)
    bens = acme.owner.model_copy(update={"user_id": acme.ben.id})
    await feedback.give(acme.member(acme.anna), *where, Rating.UP)
    await feedback.give(bens, *where, Rating.UP)
    await feedback.give(bens, *where, Rating.DOWN, comment="No.")
    mine, other = await told_in(room)
    assert mine.startswith("[The user rated the answer ")
    assert mine.endswith(" as good.]")
    assert other.startswith("[Somebody else rated the answer ")
    assert other.endswith(" as not good, and says: No.]")


async def test_who_takes_a_rating_back_takes_back_none_but_the_own_note(
    room: Room, acme: Tenant
) -> None:
    (answer,) = await several_answers(room, 1)
    feedback, where = room.chats.feedback, (room.chat.id, answer)
    bens = acme.owner.model_copy(update={"user_id": acme.ben.id})
    await feedback.give(acme.member(acme.anna), *where, Rating.UP)
    await feedback.give(bens, *where, Rating.DOWN)
    await feedback.take_back(bens, *where)
    assert ["The user" in line for line in await told_in(room)] == [True]


async def test_a_rating_waits_until_its_answer_is_shown_and_goes_on_to_be_told_there_alone(
    room: Room,
) -> None:
    first = await room.answered("When?")
    assert first.answer is not None
    await note(room, "form", "Saved.")
    edited = await room.chats.edit(
        room.who,
        room.chat.id,
        first.run.message_id,
        "Where?",
        expected_revision=first.chat.revision,
    )
    await rated(room, [first.answer.id])
    await room.chats.pick_up(room.who, edited.run.id)
    prepared = await room.chats.prepare(room.who, edited.run.id, room.tenant.scout.id)
    assert prepared.notes == ["[Saved.]"]
    done = await room.answer(edited.run, "In Ghent.")
    assert done.answer is not None

    async def switched(to: UUID) -> None:
        chat = await room.chats.get(room.who, room.chat.id)
        await room.chats.switch(room.who, chat.id, to, expected_revision=chat.revision)

    await switched(first.answer.id)
    assert [line for line in await told_in(room) if "as good" in line and "When" in line]
    await switched(done.answer.id)  # where it was told is left, but nobody here knows the answer
    assert await told_in(room) == ["[Saved.]"]
