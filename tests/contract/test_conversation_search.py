"""What was said is found: with its place, its time and the reason, by whom it is for and by nobody else."""

from datetime import UTC, datetime

import pytest

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.conversations.finding.passages import FULL
from memoranda.conversations.finding.reach import store as reach
from memoranda.conversations.models import Message
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, Refused
from memoranda.words.ids import new_id
from tests.contract.said_house import SaidHouse, new_said_house, user
from tests.contract.test_knowledge_meaning import Thesaurus

TALK = [
    "My automobile broke down on the hill",
    "That sounds like a long walk",
    "A stranger helped me push",
    "We sailed a ship around the island",
    "The dog chased a ball",
]
QUERIES = ["car", "puppy ball", "who sailed a boat", "what broke down", "zeppelin", "island walk"]


@pytest.fixture
async def house(storage: Storage) -> SaidHouse:
    return await new_said_house(storage, Thesaurus("one"))


async def test_a_result_says_where_it_stands_who_said_it_when_and_why_it_was_found(
    house: SaidHouse,
) -> None:
    acme = house.tenant
    talk = await house.begin(acme.anna, acme.scout)
    said = [
        user("The ferry leaves at noon", name="Ada", at="8 May 2023"),
        Message(role="assistant", content=[{"type": "text", "text": "The harbor is near"}]),
    ]
    await house.say(talk, *said)
    await house.serve()
    (first, second) = (await house.ask("When does Ada take the ferry from the harbor?")).results
    assert (first.conversation_id, first.position, first.role) == (talk.id, 1, "user")
    assert (first.name, first.at, first.text) == ("Ada", "8 May 2023", "The ferry leaves at noon")
    assert (first.user_id, first.agent_id) == (acme.anna.id, acme.scout.id)
    assert (datetime.now(UTC) - first.ts).total_seconds() < 60
    assert (first.why.words, first.why.nearby) == (["Ada", "ferry"], ["harbor"])
    assert first.why.meaning is not None
    assert 0 < first.why.meaning <= 1
    assert (second.position, second.role, second.text) == (2, "assistant", "The harbor is near")
    assert not first.compacted


async def test_what_was_said_is_found_by_meaning_too_and_the_answer_says_so(
    house: SaidHouse,
) -> None:
    await house.talk(*TALK)
    answer = await house.ask("car")
    assert answer.results[0].text == TALK[0]
    assert (answer.semantic, answer.model, answer.words_alone) == (True, "one", 0)
    assert answer.results[0].why.words == []


async def test_without_an_embedder_words_find_it_and_the_answer_says_so(storage: Storage) -> None:
    house = await new_said_house(storage)
    await house.talk(*TALK)
    answer = await house.ask("automobile")
    assert answer.results[0].text == TALK[0]
    assert (answer.semantic, answer.model) == (False, None)
    assert all(each.why.meaning is None for each in answer.results)
    assert (await house.ask("car")).results == []


async def test_of_a_short_talk_what_has_next_to_nothing_to_do_with_the_query_is_not_listed(
    storage: Storage,
) -> None:
    said = (
        *("Good morning.", "Fine weather.", "Which ferry leaves last?"),
        *("The last ferry leaves at nine.", "Is the last ferry late?", "Seldom."),
    )
    house, other = await new_said_house(storage), await new_said_house(storage, name="Other")
    for each in (house, other):
        await each.talk(*said)
    await other.talk(*said)
    for query in ("ferry", "when does the last ferry leave?", "a ferry to an island with a dog"):
        for each in (house, other):
            results = (await each.ask(query, limit=20)).results
            found = [result.text for result in results]
            assert "Good morning." not in found
            assert set(said[2:]) <= set(found)  # the answer too, in which no word of the query is
            assert all(
                result.why.words or result.score >= 0.4 * results[0].score for result in results
            )
    assert [each.text for each in (await house.ask("ferry", limit=4)).results][-1] == "Seldom."


async def test_messages_that_nobody_has_read_yet_are_counted_as_waiting(house: SaidHouse) -> None:
    talk = await house.talk("We met at the fountain")
    await house.say(talk, "The fountain was dry", "It rained later")
    answer = await house.ask("fountain")
    assert ([each.position for each in answer.results], answer.waiting) == ([1], 2)
    await house.read()
    answer = await house.ask("fountain")
    assert {each.position for each in answer.results if each.why.words} == {1, 2}
    assert answer.waiting == 0


async def test_instructions_are_not_found(house: SaidHouse) -> None:
    talk = await house.begin()
    await house.say(talk, Message(role="system", content="Speak like a pirate"), "Hello there")
    await house.serve()
    answer = await house.ask("pirate hello")
    assert ([each.text for each in answer.results], answer.waiting) == (["Hello there"], 0)


async def test_a_long_message_is_found_by_the_part_that_answers_and_once(house: SaidHouse) -> None:
    filler = "Nothing of note happened on that day. " * 60
    await house.talk(f"{filler}\n\nThe lighthouse keeper waved.\n\n{filler}\n\nA lighthouse again.")
    (found,) = (await house.ask("lighthouse keeper")).results
    assert "keeper waved" in found.text
    assert len(found.text) < len(filler)


async def test_every_message_of_a_long_conversation_is_found_once_however_it_came(
    house: SaidHouse,
) -> None:
    talk = await house.begin()
    for start in range(0, 2 * FULL + 20, 12):
        await house.say(talk, *(f"harbor entry{place}" for place in range(start, start + 12)))
        if start % 24 == 0:
            await house.read()
    await house.serve()
    for place in (0, 1, FULL - 1, FULL, FULL + 1, 2 * FULL, 2 * FULL + 19):
        (found,) = [each for each in (await house.ask(f"entry{place}")).results if each.why.words]
        assert (found.text, found.position) == (f"harbor entry{place}", place + 1)


async def test_it_does_not_matter_whether_a_conversation_was_read_at_once_or_turn_by_turn(
    storage: Storage,
) -> None:
    at_once = await new_said_house(storage, Thesaurus("one"))
    by_turns = await new_said_house(storage, Thesaurus("one"), name="Other")
    said = [f"{TALK[place % 5]} number{place}" for place in range(FULL + 30)]
    await at_once.talk(*said)
    talk = await by_turns.begin()
    for each in said:
        await by_turns.say(talk, each)
        await by_turns.serve()
    for query in [*QUERIES, "number7 dog", "number70"]:
        assert await by_turns.found(query) == await at_once.found(query)


async def test_a_member_finds_its_own_and_scores_and_order_are_those_of_a_lone_house(
    storage: Storage,
) -> None:
    crowd = await new_said_house(storage, Thesaurus("one"))
    lone = await new_said_house(storage, Thesaurus("one"), name="Lone")
    for house in (crowd, lone):
        await house.talk(*TALK, by=house.tenant.anna)
        await house.talk("A boat in the bay", "The island is far", by=house.tenant.anna)
    acme = crowd.tenant
    await crowd.talk(*TALK[::-1], "car car car", "island island", by=acme.ben)
    await crowd.talk("puppy ball zeppelin", "who sailed a boat", to=acme.scout)
    for query in QUERIES:
        found = await crowd.found(query, acme.member(acme.anna))
        assert found == await lone.found(query, lone.tenant.member(lone.tenant.anna))
    assert await crowd.texts("zeppelin", acme.member(acme.anna)) == set()


async def test_another_organization_moves_nothing(storage: Storage) -> None:
    ours = await new_said_house(storage, Thesaurus("one"))
    theirs = await new_said_house(storage, Thesaurus("one"), name="Theirs")
    talk = await ours.talk(*TALK)
    before = [await ours.found(query) for query in QUERIES]
    other = await theirs.talk(*TALK[::-1], "car", "zeppelin", "island island walk")
    assert [await ours.found(query) for query in QUERIES] == before
    answer = await theirs.ask("zeppelin")
    assert {each.conversation_id for each in answer.results} == {other.id}
    with pytest.raises(NotFound):
        await theirs.ask("car", conversation_id=talk.id)


async def test_each_caller_finds_what_it_may_read_and_nothing_else(house: SaidHouse) -> None:
    acme = house.tenant
    said = {
        "walk nobody": (None, None),
        "walk anna": (acme.anna, None),
        "walk ben": (acme.ben, None),
        "walk anna scout": (acme.anna, acme.scout),
        "walk ben scout": (acme.ben, acme.scout),
        "walk scout": (None, acme.scout),
        "walk clerk": (None, acme.clerk),
    }
    for text, (by, to) in said.items():
        await house.talk(text, by=by, to=to)
    assert await house.texts("walk") == set(said)
    assert await house.texts("walk", acme.reader) == set(said)
    assert await house.texts("walk", acme.member(acme.anna)) == {"walk anna", "walk anna scout"}
    assert await house.texts("walk", acme.key_of(acme.scout)) == {"walk scout"}
    assert await house.texts("walk", acme.key_of(acme.scout, acme.ben)) == {"walk ben scout"}
    assert await house.texts("walk", user_id=acme.ben.id) == {"walk ben", "walk ben scout"}
    of_scout = {"walk anna scout", "walk ben scout", "walk scout"}
    assert await house.texts("walk", agent_id=acme.scout.id) == of_scout
    both = {"user_id": acme.anna.id, "agent_id": acme.scout.id}
    assert await house.texts("walk", **both) == {"walk anna scout"}
    with pytest.raises(Refused):
        await house.ask("walk", acme.member(acme.anna), user_id=acme.ben.id)
    with pytest.raises(Refused):
        await house.ask("walk", acme.key_of(acme.scout), agent_id=acme.clerk.id)


async def test_waiting_messages_of_others_are_not_told_of(house: SaidHouse) -> None:
    acme = house.tenant
    await house.say(await house.begin(acme.ben), "one", "two")
    await house.say(await house.begin(acme.anna), "three")
    assert (await house.ask("walk")).waiting == 3
    assert (await house.ask("walk", acme.member(acme.anna))).waiting == 1


async def test_one_conversation_is_searched_as_if_it_were_all_there_is(house: SaidHouse) -> None:
    acme = house.tenant
    ours = await house.talk(*TALK, by=acme.anna)
    await house.talk("We walked around the island", by=acme.ben)
    theirs = await house.talk("island", by=acme.ben)
    found = await house.ask("island walk", conversation_id=ours.id)
    assert {each.conversation_id for each in found.results} == {ours.id}
    who = acme.member(acme.anna)
    assert await house.found("island walk", who, conversation_id=ours.id) == [
        (each.text, each.score) for each in found.results
    ]
    for unseen in (theirs.id, new_id()):
        with pytest.raises(NotFound):
            await house.ask("island", who, conversation_id=unseen)


async def test_older_segments_than_one_search_goes_over_are_told_of(
    house: SaidHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = house.tenant
    for number in range(5):
        await house.talk(f"walk number{number}", by=acme.anna)
    monkeypatch.setattr(reach, "MOST_SEGMENTS", 2)
    answer = await house.ask("walk", acme.member(acme.anna))
    assert {each.text for each in answer.results} == {"walk number3", "walk number4"}
    assert answer.left_out == 3
    everything = await house.ask("walk")
    assert (len(everything.results), everything.left_out) == (5, 0)


async def test_a_limit_is_between_1_and_100(house: SaidHouse) -> None:
    await house.talk(*TALK)
    assert len((await house.ask("walk ship island dog automobile", limit=2)).results) == 2
    for limit in (0, 101):
        with pytest.raises(Invalid):
            await house.ask("walk", limit=limit)


async def test_an_operator_searches_nothing(house: SaidHouse) -> None:

    with pytest.raises(Refused):
        await house.ask("walk", LOCAL_OPERATOR)
