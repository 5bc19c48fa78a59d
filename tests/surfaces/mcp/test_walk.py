"""What tools and resources tell each key, of two organizations that are alike to the letter."""

import json
from collections.abc import AsyncIterator
from typing import Final

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from memoranda.app import Memoranda
from memoranda.surfaces.mcp import resources
from memoranda.words.ids import new_id
from tests.surfaces.mcp.clients import all_pages, called, over_http
from tests.surfaces.mcp.served import live_mcp
from tests.surfaces.mcp.walk_house import (
    CALLERS,
    FILE_WRITES,
    PHRASE,
    WORD,
    WRITES,
    House,
    furnish,
    lists,
    takes_part,
)
from tests.surfaces.mcp.walk_steps import (
    READING,
    UUIDS,
    WALK,
    hidden_from,
    named_by,
    offered_to,
    pages,
    told_by,
)


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def houses(memoranda: Memoranda) -> list[House]:
    """Two organizations, furnished alike."""
    return [await furnish(memoranda, name) for name in ("acme", "zeta")]


@pytest.fixture
def url(database_url: str, houses: list[House]) -> AsyncIterator[str]:
    """Where both are served."""
    with live_mcp(database_url) as live:
        yield live.url


# --- tools --------------------------------------------------------------------------------------


async def test_the_walk_goes_through_every_tool(memoranda: Memoranda, houses: list[House]) -> None:
    assert [tool.name for tool in memoranda.tools._registry] == list(WALK)
    assert {name for name in WALK if memoranda.tools.effect_of(name) == "writes"} == {
        *(*WRITES, *FILE_WRITES)
    }


async def test_each_key_is_told_by_each_tool_exactly_what_it_may_know(
    memoranda: Memoranda, houses: list[House]
) -> None:
    for house in houses:
        for name, who in house.callers.items():
            hidden = hidden_from(house, name, houses)
            for tool, step in WALK.items():
                said = ""
                for identity in named_by(tool, houses):
                    result = await memoranda.tools.call(who, tool, step.asked(identity))
                    told = result.model_dump_json().replace(identity, "")
                    assert not hidden & set(UUIDS.findall(told)), (name, tool)
                    said += told
                assert set(WORD.findall(said)) == told_by(tool, house, name), (name, tool)


async def test_the_official_client_is_told_the_same(url: str, houses: list[House]) -> None:
    house = houses[0]
    for name, key in house.keys.items():
        async with over_http(url, key) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert offered == offered_to(CALLERS[name]), name
            for tool in READING:
                said = ""
                for identity in named_by(tool, [house]):
                    result = await called(client, tool, **WALK[tool].asked(identity))
                    said += result.model_dump_json()
                assert set(WORD.findall(said)) == told_by(tool, house, name), (name, tool)


async def test_pages_hold_each_memory_that_may_be_known_once_and_no_other(
    memoranda: Memoranda, houses: list[House]
) -> None:
    for house in houses:
        for name, who in house.callers.items():
            for tool in ("recall", "list"):
                found = WORD.findall(json.dumps(await pages(memoranda, who, tool)))
                assert sorted(found) == sorted(told_by(tool, house, name)), (name, tool)


async def test_a_brief_goes_on_with_a_conversation_for_those_who_take_part_in_it(
    url: str, houses: list[House]
) -> None:
    house = houses[0]
    for name, key in house.keys.items():
        async with over_http(url, key) as client:
            for user in house.people:
                meta = {"memoranda/conversation-id": str(house.others[f"conversation {user}"])}
                brief = await client.call_tool("build_brief", {"query": PHRASE}, meta=meta)
                said = set(WORD.findall(brief.model_dump_json()))
                expected = told_by("build_brief", house, name) | {house.word(f"said{user}")}
                assert said == (expected if takes_part(CALLERS[name], user) else set())


SLUGS: Final = {"about-you", "organization", "people", "glossary", "voice", "roster"}


# --- resources ----------------------------------------------------------------------------------


async def listed(client: Client, kind: str) -> dict[str, str]:
    """What each resource of a kind says that is listed, by its address."""
    pages = await all_pages(lambda cursor: client.list_resources(cursor=cursor))
    every = [resource.uri for page in pages for resource in page.resources]
    assert len(set(every)) == len(every)
    found = [uri for uri in every if uri.startswith(kind)]
    read = {uri: (await client.read_resource(uri)).contents for uri in found}
    return {uri: content.text for uri, [content] in read.items()}


async def memories_of(client: Client) -> dict[str, str]:
    """What each memory says that is listed, by its address."""
    return await listed(client, "memoranda://memories/")


async def files_of(client: Client) -> dict[str, str]:
    """What each file says that is listed, by its address."""
    return await listed(client, "memoranda://files/")


# Of every kind of resource that there is, with the words that are told beside those of memories.
KINDS: Final = {"memoranda://memories/{id}": memories_of, "memoranda://files/{slug}": files_of}


async def test_the_walk_goes_through_every_kind_of_resource(url: str, houses: list[House]) -> None:
    for key in houses[0].keys.values():
        async with over_http(url, key) as client:
            templates = (await client.list_resource_templates()).resource_templates
            assert [each.uri_template for each in templates] == list(KINDS)
            for resource in (await client.list_resources()).resources:
                kind = UUIDS.sub("{id}", resource.uri)
                assert kind in KINDS or kind.removeprefix("memoranda://files/") in SLUGS


async def test_each_key_lists_and_reads_exactly_the_resources_that_it_may_know(
    url: str, houses: list[House], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "PAGE", 3)
    house = houses[0]
    for name, key in house.keys.items():
        async with over_http(url, key) as client:
            for walk in KINDS.values():
                said = str(await walk(client))
                file = {house.word("file")} if CALLERS[name].space is None else set()
                told = house.words(name, lists) if walk is memories_of else file
                assert set(WORD.findall(said)) == told, name
                assert not hidden_from(house, name, houses) & set(UUIDS.findall(said))


async def test_a_resource_of_anybody_else_is_refused_like_one_that_never_was(
    url: str, houses: list[House]
) -> None:
    house = houses[0]
    for name, key in house.keys.items():
        async with over_http(url, key) as client:
            for template in KINDS:
                address = template.replace("{slug}", "{id}")
                never = await unread(client, address.replace("{id}", str(new_id())))
                for identity in some_hidden_from(house, name, houses):
                    assert await unread(client, address.replace("{id}", identity)) == never


def some_hidden_from(house: House, caller: str, houses: list[House]) -> set[str]:
    """All memories here that the caller may not know, and from elsewhere one for everybody and one of a space."""
    here = set(named_by("get", [house])) & hidden_from(house, caller, houses)
    return here | {str(houses[1].memories[name]) for name in ("all", "one")}


async def unread(client: Client, address: str) -> str:
    """How an address is refused where nothing is."""
    with pytest.raises(MCPError) as error:
        await client.read_resource(address)
    return error.value.error.model_dump_json()
