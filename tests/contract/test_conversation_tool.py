"""The tool that looks in conversations: for whom it is found, how much of it, and under which policy."""

import json

import pytest

from memoranda.storage import Storage
from memoranda.tools.conversations import SaidMessages, SearchConversations, conversations_tool
from memoranda.tools.models import Course
from tests.contract.said_house import SaidHouse, new_said_house


@pytest.fixture
async def house(storage: Storage) -> SaidHouse:
    house = await new_said_house(storage)
    acme = house.tenant
    await house.talk("The ferry leaves at noon", "So be early", by=acme.anna, to=acme.scout)
    await house.talk("The ferry is late", by=acme.ben, to=acme.scout)
    return house


async def called(house: SaidHouse, who, query: str, chars: int = 1_000) -> SaidMessages:
    tool = conversations_tool(house.search, chars=chars)
    assert tool.read is not None
    answer = await tool.read(who, SearchConversations(query=query), Course())
    assert isinstance(answer, SaidMessages)
    return answer


async def test_an_agent_that_runs_for_a_user_finds_what_they_said_to_each_other(
    house: SaidHouse,
) -> None:
    acme = house.tenant
    found = await called(house, acme.key_of(acme.scout, acme.anna), "is the ferry there at noon")
    first = found.messages[0]
    assert (first.text, first.position, first.role) == ("The ferry leaves at noon", 1, "user")
    assert first.words == ["ferry", "noon"]
    assert "late" not in json.dumps(found.model_dump(mode="json"))
    assert (await called(house, acme.key_of(acme.clerk, acme.anna), "ferry")).messages == []


async def test_an_answer_has_room_for_one_message_at_least_and_says_how_many_it_left_out(
    house: SaidHouse,
) -> None:
    found = await called(house, house.tenant.owner, "ferry", chars=1)
    assert (len(found.messages), found.cut) == (1, 2)
    assert (found.semantic, found.waiting) == (False, 0)


async def test_messages_that_are_too_new_are_told_of(house: SaidHouse) -> None:
    await house.say(await house.begin(), "The ferry sank")
    found = await called(house, house.tenant.owner, "ferry")
    assert found.waiting == 1


async def test_a_space_has_no_conversations_to_look_in(house: SaidHouse) -> None:
    assert not conversations_tool(house.search, chars=1_000).in_spaces
