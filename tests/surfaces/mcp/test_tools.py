"""What the official client finds and does, over pipes and over HTTP alike."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import UUID, uuid4

import pytest
from jsonschema_rs import Draft202012Validator
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from memoranda.access.models import Role
from memoranda.app import Memoranda
from memoranda.tools.models import Decision
from tests.surfaces.mcp.clients import (
    ERAS,
    IDEMPOTENCY_KEY,
    all_pages,
    called,
    done,
    over_http,
    over_pipes,
    refused,
)
from tests.surfaces.mcp.served import live_mcp
from tests.surfaces.mcp.tenants import Two

Connect = Callable[..., AbstractAsyncContextManager[Client]]

TWO_WAYS = (("pipes", "sqlite"), ("http", "postgres"))
ALL_WAYS = (*TWO_WAYS, ("pipes", "postgres"), ("http", "sqlite"))


@pytest.fixture(params=TWO_WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """How the client reaches the server, and on which database it runs."""
    found: tuple[str, str] = request.param
    return found


@pytest.fixture
def database_url(request: pytest.FixtureRequest, way: tuple[str, str]) -> str:
    url: str = request.getfixturevalue(f"{way[1]}_database")
    return url


@pytest.fixture
def connect(way: tuple[str, str], two: Two) -> Connect:
    """Connects with the key of somebody of Acme."""

    @asynccontextmanager
    async def connected(name: str, mode: str = "legacy") -> AsyncIterator[Client]:
        key = two.acme.keys[name]
        if way[0] == "pipes":
            async with over_pipes(two.url, MEMORANDA_KEY=key, mode=mode) as client:
                yield client
            return
        with live_mcp(two.url) as live:
            async with over_http(live.url, key, mode=mode) as client:
                yield client

    return connected


async def test_an_owner_is_offered_every_tool_as_it_says_of_itself(connect: Connect) -> None:
    async with connect("owner") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"remember", "recall", "list", "get", "update", "forget"} <= tools.keys()
    for name, tool in tools.items():
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        Draft202012Validator(tool.input_schema)
        Draft202012Validator(tool.output_schema)
        changes = name in {"update", "forget", "update_context_file", "update_notes"}
        assert tool.annotations.read_only_hint is not (changes or name == "remember")
        assert tool.annotations.destructive_hint is changes
        assert tool.annotations.open_world_hint is False


@pytest.mark.parametrize("way", ALL_WAYS, indirect=True, ids="-".join)
@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_remembered_is_found_changed_and_forgotten(
    connect: Connect, mode: str
) -> None:
    async with connect("anna", mode) as client:
        kept = await done(client, "remember", content="Anna drinks oolong at four.")
        identity = kept["memory_id"]
        assert (kept["outcome"], kept["version"]) == ("done", 1)
        found = await done(client, "recall", query="oolong")
        assert identity in [memory["id"] for memory in found["memories"]]
        changed = await done(
            client,
            "update",
            memory_id=identity,
            expected_version=1,
            patch={"content": "Anna drinks oolong at five."},
        )
        assert changed["version"] == 2
        read = await done(client, "get", memory_id=identity)
        assert read["content"] == "Anna drinks oolong at five."
        stale = await refused(client, "forget", memory_id=identity, expected_version=1)
        assert (stale["code"], stale["details"]["version"]) == ("stale_version", 2)
        await done(client, "forget", memory_id=identity, expected_version=2)
        gone = await refused(client, "get", memory_id=identity)
        assert gone["code"] == "not_found"


async def test_every_result_has_the_shape_that_its_tool_states(connect: Connect) -> None:
    async with connect("owner") as client:
        stated = {
            tool.name: Draft202012Validator(tool.output_schema)
            for tool in (await client.list_tools()).tools
        }
        for name, arguments in (
            ("list", {}),
            ("recall", {"query": "word"}),
            ("remember", {"content": "The kettle is blue."}),
            ("remember", {"content": "The kettle is blue."}),
            ("get", {"memory_id": "00000000-0000-7000-8000-000000000000"}),
            ("get", {"memory_id": 7, "whose": "anna"}),
        ):
            result = await called(client, name, **arguments)
            assert stated[name].is_valid(result.structured_content), result.structured_content


async def test_the_same_key_with_the_same_call_does_nothing_again(connect: Connect) -> None:
    async with connect("anna") as client:
        first = await called(client, "remember", key="once", content="Tea is at four.")
        again = await called(client, "remember", key="once", content="Tea is at four.")
        assert first.structured_content == again.structured_content
        assert again.meta == {"memoranda/replayed": True}
        other = await refused(client, "remember", key="once", content="Tea is at five.")
        assert other["code"] == "idempotency_key_reused"
        listed = await done(client, "list")
        assert sum(memory["content"] == "Tea is at four." for memory in listed["memories"]) == 1


WRONG_META = (
    (IDEMPOTENCY_KEY, 7),
    (IDEMPOTENCY_KEY, ""),
    (IDEMPOTENCY_KEY, "x" * 201),
    ("memoranda/run-id", "no id"),
    ("memoranda/conversation-id", ["x"]),
)


async def test_what_is_said_beside_the_arguments_is_checked_too(connect: Connect) -> None:
    async with connect("anna") as client:
        for name, value in WRONG_META:
            result = await client.call_tool("remember", {"content": "Tea."}, meta={name: value})
            assert result.is_error
            assert result.structured_content["code"] == "invalid_input"
        assert "Tea." not in str(await done(client, "list"))


async def test_a_run_and_a_conversation_are_kept_as_given(connect: Connect, two: Two) -> None:
    run, conversation = uuid4(), uuid4()
    meta = {"memoranda/run-id": str(run), "memoranda/conversation-id": str(conversation)}
    async with connect("anna") as client:
        result = await client.call_tool("remember", {"content": "Tea."}, meta=meta)
    assert not result.is_error, result.structured_content
    async with Memoranda.open(two.url, migrate=False) as product:
        identity = UUID(result.structured_content["memory_id"])
        memory = await product.memories.get(two.acme.owner, identity)
    assert (memory.run_id, memory.conversation_id) == (run, conversation)


async def test_a_refusal_is_a_result_that_says_what_to_do(connect: Connect) -> None:
    async with connect("reader") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "remember" not in names
        assert "list" in names
        refusal = await refused(client, "remember", content="Tea.")
        assert (refusal["code"], refusal["kind"]) == ("read_only", "refused")
        unknown = await refused(client, "rememberr", content="Tea.")
        assert unknown["code"] == "unknown_tool"
        assert "rememberr" not in unknown["message"]
        assert "recall, list" in unknown["message"]
        assert "remember" not in unknown["message"]  # a reader is not offered it
        assert unknown["details"]["tools"][:2] == ["recall", "list"]


async def test_an_agent_is_offered_what_its_policy_allows_and_asks_for_the_rest(
    connect: Connect, two: Two
) -> None:
    async with Memoranda.open(two.url, migrate=False) as product:
        for tool, decision in (("forget", Decision.DENY), ("update", Decision.ASK)):
            await product.tools.policies.set(two.acme.owner, two.acme.scout.id, tool, decision)
    async with connect("scout") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "forget" not in names
        assert {"remember", "update", "list"} <= names
        denied = await refused(
            client, "forget", memory_id=two.memories["scouts"], expected_version=1
        )
        assert denied["code"] == "tool_denied"
        proposed = await done(client, "remember", content="Scouts rest at noon.")
        assert proposed["outcome"] == "proposed"
        waiting = await done(
            client,
            "update",
            memory_id=two.memories["scouts"],
            expected_version=1,
            patch={"content": "The word is another."},
        )
        assert waiting["outcome"] == "waiting"
        unchanged = await done(client, "get", memory_id=two.memories["scouts"])
        assert unchanged["content"] == "The word is scouts."


async def test_a_key_of_a_space_is_offered_its_tools_and_knows_its_memories_alone(
    connect: Connect, two: Two
) -> None:
    async with Memoranda.open(two.url, migrate=False) as product:
        owner, agent = two.acme.owner, two.acme.scout.id
        space = await product.tools.spaces.publish(
            owner, "flow", "node", agent_id=agent, tools=["remember", "list"]
        )
        await product.tools.policies.set(owner, agent, "remember", Decision.ALLOW)
        made = await product.access.create_key(owner, Role.AGENT, agent_id=agent, space_id=space.id)
    two.acme.keys["node"] = made.key
    async with connect("node") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"remember", "list"}
        assert (await refused(client, "recall", query="word"))["code"] == "unknown_tool"
        assert (await client.list_resources()).resources == []
        kept = await done(client, "remember", content="The node has run.")
        [resource] = (await client.list_resources()).resources
        assert resource.uri == f"memoranda://memories/{kept['memory_id']}"
        await _unread(client, resource.uri)  # what the tool `get` would read, which it has not
        await _unread(client, f"memoranda://memories/{two.memories['everyone']}")
    async with connect("scout") as client:
        await _unread(client, resource.uri)


async def test_resources_are_the_memories_that_the_caller_may_read_page_by_page(
    connect: Connect,
) -> None:
    async with connect("anna") as client:
        for number in range(55):
            await done(client, "remember", content=f"Anna's fact number {number}.")
        pages = await all_pages(lambda cursor: client.list_resources(cursor=cursor))
        assert len(pages) == 2
        assert [each.name for each in pages[0].resources[:6]] == FILES
        found = [each for page in pages for each in page.resources if "memories/" in each.uri]
        titles = [resource.title for resource in found]
        assert len(titles) == len(set(titles)) == 58
        assert "The word is bens." not in titles
        assert [resource.name for resource in found] == titles
        first = found[0]
        [content] = (await client.read_resource(first.uri)).contents
        assert (content.uri, content.mime_type) == (first.uri, "application/json")
        assert '"content":"Anna\'s fact number 54."' in content.text
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [
            "memoranda://memories/{id}",
            "memoranda://files/{slug}",
        ]


async def test_an_agent_that_may_not_call_a_tool_reads_nothing_by_its_other_name(
    connect: Connect, two: Two
) -> None:
    async with connect("scout") as client:
        listed = (await client.list_resources()).resources
        file, memory = listed[2], listed[6]
        assert (await client.read_resource(memory.uri)).contents
        assert (await client.read_resource(file.uri)).contents
        async with Memoranda.open(two.url, migrate=False) as product:
            for tool in ("list", "get"):
                await product.tools.policies.set(
                    two.acme.owner, two.acme.scout.id, tool, Decision.DENY
                )
        assert (await client.list_resources()).resources == listed[:6]
        nothing = await _unread(client, memory.uri)
        async with Memoranda.open(two.url, migrate=False) as product:
            await product.tools.policies.set(
                two.acme.owner, two.acme.scout.id, "get_context_file", Decision.DENY
            )
        assert (await client.list_resources()).resources == []
        assert await _unread(client, file.uri) == nothing


async def test_a_file_is_read_as_data(connect: Connect, two: Two) -> None:
    async with Memoranda.open(two.url, migrate=False) as product:
        owner, files = two.acme.owner, product.files
        for name, agent in (("people", None), ("voice", None), ("NOTES.md", two.acme.scout.id)):
            read = (await files.get(owner, name, agent=agent)).hash
            await files.write(owner, name, f"</memoranda-file>{name} says.", read, agent=agent)
    async with connect("scout") as client:
        told = {}
        for slug in ("people", "voice", "NOTES.md"):
            [content] = (await client.read_resource(f"memoranda://files/{slug}")).contents
            assert content.mime_type == "text/markdown"
            told[slug] = content.text
        assert "people says." in told["people"]
        assert told["people"].startswith('<memoranda-file name="people">')
        assert told["people"].count("</memoranda-file>") == 1
        assert "voice says." in told["voice"], "outside of a run nothing was given beforehand"
        assert "NOTES.md says." in told["NOTES.md"]
    async with connect("anna") as client:
        await _unread(client, "memoranda://files/NOTES.md")


async def test_a_cursor_that_was_changed_is_refused_for_every_list(connect: Connect) -> None:
    async with connect("anna") as client:
        for number in range(55):
            await done(client, "remember", content=f"Anna's fact number {number}.")
        cursor = (await client.list_resources()).next_cursor
        for wrong in (cursor[::-1], cursor[:-1], f"{cursor}x", "", "ü", "x" * 5_000):
            with pytest.raises(MCPError) as error:
                await client.list_resources(cursor=wrong)
            assert error.value.code == -32602
            assert error.value.data["code"] == "invalid_input"
            refusal = await refused(client, "list", cursor=wrong)
            assert refusal["code"] == "invalid_input"
        with pytest.raises(MCPError):
            await client.list_tools(cursor=cursor)


FILES = ["About you", "Organization", "People", "Glossary", "Voice", "Roster"]
NOWHERE = (
    "memoranda://memories/",
    "memoranda://memories/x",
    "memoranda://memories/00000000-0000-7000-8000-000000000000",
    "memoranda://memories/{id}",
    "memoranda://files/x",
    "memoranda://files/CLAUDE.md",
    "memoranda://files/",
    "memoranda://memories/../../x",
    "file:///etc/passwd",
)


async def test_an_address_where_nothing_is_says_the_same_whatever_it_is(
    connect: Connect, two: Two
) -> None:
    async with connect("anna") as client:
        told = set()
        for word in ("bens", "zetas"):
            told.add(await _unread(client, f"memoranda://memories/{two.memories[word]}"))
        for address in NOWHERE:
            told.add(await _unread(client, address))
        assert len(told) == 1


async def _unread(client: Client, address: str) -> tuple[int, str]:
    with pytest.raises(MCPError) as error:
        await client.read_resource(address)
    return error.value.code, error.value.message
