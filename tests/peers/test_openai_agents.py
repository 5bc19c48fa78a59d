"""Sessions of the OpenAI Agents SDK over Memoranda keep the promises that the SDK's own sessions keep."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, function_tool
from agents.memory import Session, SessionSettings
from hypothesis import given
from hypothesis import strategies as st

from memoranda import Memoranda, sync
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.said import words_of
from memoranda.integrations import home
from memoranda.integrations.openai_agents import MemorandaSession
from memoranda.integrations.openai_agents.items import KEPT, KEPT_AS_TEXT, item_of, message_of
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, Refused
from tests.contract.tenants import Tenant, new_tenant
from tests.peers.rooms import Hands, opened
from tests.peers.scripted_agents import ScriptedModel

NUMBERS = count(1)
QUIET = RunConfig(tracing_disabled=True)

CALL = {
    "type": "function_call",
    "call_id": "c1",
    "name": "weather",
    "arguments": '{"city": "Rome" ',
    "id": "fc_1",
    "status": "completed",
}
ANSWER = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "Sunny.", "annotations": [], "logprobs": []},
        {"type": "refusal", "refusal": "No more."},
    ],
}
ITEMS: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Rome?"},
    {"role": "user", "content": "typed", "type": "message"},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "And this?"},
            {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Think."}],
        "encrypted_content": "gAAA",
    },
    CALL,
    {"type": "function_call_output", "call_id": "c1", "output": "31 degrees"},
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [{"type": "input_text", "text": "31"}],
        "id": None,
    },
    ANSWER,
    {"role": "assistant", "content": "Plain answer."},
    {"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls", "id": "ct"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "a b"},
    {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search"}},
    {"type": "computer_call_output", "call_id": "c3", "output": {"type": "computer_screenshot"}},
    {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
    {"type": "item_reference", "id": "msg_0"},
    {"type": "something_new", "nested": {"a": [1, 2.5, None, False, "字"]}},
    {"role": "tool", "content": None, "unknown": {}},
    {"role": "user", "content": "a NUL \0 and half \ud800 of a pair"},
    {},
]


@pytest.fixture(scope="module")
async def memoranda(module_database_url: str) -> AsyncIterator[Memoranda]:
    async with opened(module_database_url, Hands()) as product:
        yield product


@pytest.fixture(scope="module")
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
def name() -> str:
    return f"session-{next(NUMBERS)}"


@pytest.fixture
async def session(memoranda: Memoranda, acme: Tenant, name: str) -> MemorandaSession:
    return MemorandaSession(memoranda, name, acme.owner)


async def contents(session: Session, **asked: Any) -> list[Any]:
    items: list[Any] = list(await session.get_items(**asked))
    return [item.get("content") for item in items]


def said(*texts: str) -> list[Any]:
    """Turns of a user's, each answered."""
    return [
        {"role": role, "content": text}
        for each in texts
        for role, text in (("user", each), ("assistant", f"re {each}"))
    ]


async def test_items_of_every_kind_come_back_equal_and_in_order(session: MemorandaSession) -> None:
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(ITEMS[:7])
    await session.add_items(ITEMS[7:])
    await session.add_items([])
    assert await session.get_items() == ITEMS
    assert await session.get_items(limit=3) == ITEMS[-3:]
    popped = [await session.pop_item() for _ in ITEMS]
    assert popped == ITEMS[::-1]
    assert await session.pop_item() is None
    assert await session.get_items() == []


def test_hardly_any_item_is_kept_twice() -> None:
    twice = [each for each in ITEMS if {KEPT, KEPT_AS_TEXT} & message_of(each).metadata.keys()]
    assert CALL not in twice
    assert ANSWER not in twice
    assert ITEMS[6] not in twice
    assert ITEMS[4] not in twice
    assert ITEMS[2] in twice


PARTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = st.sampled_from([str(each.get("type")) for each in ITEMS] + ["message", ""])
ODD = st.fixed_dictionaries(
    {},
    optional={
        "type": KINDS | PARTS,
        "role": st.sampled_from(["user", "assistant", "system", "tool", "developer"]) | PARTS,
        "content": PARTS
        | st.lists(st.fixed_dictionaries({"type": KINDS}, optional={"text": PARTS})),
        "id": PARTS,
        "call_id": PARTS,
        "name": PARTS,
        "arguments": PARTS,
        "output": PARTS,
        "summary": PARTS,
        "input": PARTS,
    },
)


@given(ODD)
def test_whatever_an_item_holds_its_message_gives_it_back(item: dict[str, Any]) -> None:
    message = message_of(item)
    assert item_of(Message.model_validate_json(message.model_dump_json())) == item


async def test_what_was_said_can_be_read_and_searched_as_a_conversation(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    await session.add_items(ITEMS[:9])
    key = ConversationKey(workflow_id=name)
    loaded = await memoranda.conversations.load(acme.owner, key)
    assert words_of(loaded.messages[-1].content) == "Sunny.\nNo more."
    assert loaded.conversation is not None
    stored = await memoranda.conversations.messages(acme.owner, loaded.conversation.id)
    assert [each.role for each in stored] == [
        *("system", "user", "user", "user", "assistant", "assistant", "tool", "tool", "assistant"),
    ]
    await memoranda.worker.drain()
    found = await memoranda.conversation_search.search(
        acme.owner, "degrees", conversation_id=loaded.conversation.id
    )
    assert "31 degrees" in str(found)


async def test_messages_that_came_from_elsewhere_are_items_too(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    await session.add_items(said("one"))
    blocks = [{"type": "text", "text": "from elsewhere"}]
    await memoranda.conversations.append(
        acme.owner,
        ConversationKey(workflow_id=name),
        [Message(role="assistant", content=blocks), Message(role="user", content="so?")],
    )
    assert (await contents(session))[2:] == ["from elsewhere", "so?"]


async def test_a_limit_is_the_callers_or_the_settings(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    await session.add_items(said("a", "b", "c"))
    two = MemorandaSession(memoranda, name, acme.owner, session_settings=SessionSettings(limit=2))
    three = MemorandaSession(memoranda, name, acme.owner, session_settings={"limit": 3})
    assert await contents(two) == ["c", "re c"]
    assert await contents(three) == ["re b", "c", "re c"]
    assert await contents(two, limit=1) == ["re c"]
    assert await contents(two, limit=0) == []
    assert len(await contents(two, limit=100)) == 6
    assert len(await contents(session, limit=-1)) == 6


@function_tool
def weather(city: str) -> str:
    """Say what the weather is."""
    return f"{city}: 31 degrees"


async def test_a_runner_remembers_over_several_turns_and_tools(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    model = ScriptedModel([("weather", {"city": "Rome"}), "31 degrees.", "Rome.", "Nothing else."])
    agent = Agent(name="guide", model=model, tools=[weather])
    first = await Runner.run(agent, "Weather in Rome?", session=session, run_config=QUIET)
    assert first.final_output == "31 degrees."
    anew = MemorandaSession(memoranda, name, acme.owner)
    await Runner.run(agent, "Which city?", session=anew, run_config=QUIET)
    assert [item.get("type", item.get("role")) for item in model.inputs[2]] == [
        *("user", "function_call", "function_call_output", "message", "user"),
    ]
    assert model.inputs[2][2]["output"] == "Rome: 31 degrees"
    assert model.inputs[2][:-1] == (await anew.get_items())[:4]
    limited = RunConfig(tracing_disabled=True, session_settings=SessionSettings(limit=2))
    await Runner.run(agent, "What else?", session=anew, run_config=limited)
    assert len(model.inputs[3]) == 3
    assert (await anew.get_items(limit=2))[0].get("content") == "What else?"


def test_a_script_without_a_loop_remembers_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    model = ScriptedModel(["Noted.", "Rome."])
    agent = Agent(name="guide", model=model)
    with sync.Memoranda(str(tmp_path / "script.db")) as memoranda:
        session = MemorandaSession(memoranda, "script")
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            Runner.run_sync(agent, "Rome is sunny.", session=session, run_config=QUIET)
            done = Runner.run_sync(agent, "Where is it?", session=session, run_config=QUIET)
        finally:
            asyncio.set_event_loop(None)
            loop.close()
        assert done.final_output == "Rome."
        assert len(model.inputs[1]) == 3
        stored = memoranda.conversations.load(ConversationKey(workflow_id="script"))
        assert len(stored.messages) == 4


async def test_a_branch_begins_before_a_turn_and_goes_its_own_way(
    session: MemorandaSession,
) -> None:
    await session.add_items(said("one", "two", "three"))
    branch = await session.create_branch_from_turn(2)
    assert session.branch_id == branch
    assert await contents(session) == ["one", "re one"]
    await session.add_items(said("else"))
    assert (await contents(session))[2:] == ["else", "re else"]
    nested = await session.create_branch_from_turn(2, "nested")
    assert nested == "nested"
    assert await contents(session) == ["one", "re one"]
    assert await session.pop_item() == {"role": "assistant", "content": "re one"}
    listed = await session.list_branches()
    assert [(each["branch_id"], each["message_count"], each["user_turns"]) for each in listed] == [
        ("main", 6, 3),
        (branch, 4, 2),
        ("nested", 1, 1),
    ]
    assert [each["is_current"] for each in listed] == [False, False, True]
    await session.switch_to_branch("main")
    assert len(await contents(session)) == 6
    assert len(await contents(session, branch_id=branch)) == 4
    assert len(await contents(session, branch_id="nested")) == 1


async def test_a_branch_may_begin_before_the_first_turn_and_be_found_by_what_was_said(
    session: MemorandaSession,
) -> None:
    await session.add_items(said("Weather in Rome?", "And in Bern?"))
    turns = await session.get_conversation_turns()
    assert [(each["turn"], each["content"]) for each in turns] == [
        (1, "Weather in Rome?"),
        (2, "And in Bern?"),
    ]
    assert [each["turn"] for each in await session.find_turns_by_content("BERN")] == [2]
    for pattern in (".", "%", "_", "\\u0065"):
        assert await session.find_turns_by_content(pattern) == []
    await session.create_branch_from_content("weather", "empty")
    assert await contents(session) == []
    await session.switch_to_branch("main")
    await session.switch_to_branch("empty")
    with pytest.raises(ValueError, match="No user turns"):
        await session.create_branch_from_content("nowhere")


async def test_what_is_no_branch_or_turn_is_refused_and_changes_nothing(
    session: MemorandaSession,
) -> None:
    with pytest.raises(ValueError, match=r"Turn 1 does not contain a user message\. .*no turn 1"):
        await session.create_branch_from_turn(1)
    await session.add_items(said("one"))
    for turn in (0, 2, -1):
        with pytest.raises(ValueError, match="turn"):
            await session.create_branch_from_turn(turn)
    await session.create_branch_from_turn(1, "taken")
    await session.switch_to_branch("main")
    for wrong in ("taken", "main"):
        with pytest.raises(ValueError, match="used"):
            await session.create_branch_from_turn(1, wrong)
    with pytest.raises(ValueError, match="Branch name cannot be empty"):
        await session.create_branch_from_turn(1, " ")
    with pytest.raises(ValueError, match="Branch 'nowhere' does not exist"):
        await session.switch_to_branch("nowhere")
    assert session.branch_id == "main"
    with pytest.raises(ValueError, match="Cannot delete the 'main' branch"):
        await session.delete_branch("main")
    with pytest.raises(ValueError, match="Branch 'nowhere' does not exist"):
        await session.delete_branch("nowhere")
    with pytest.raises(ValueError, match="Branch ID cannot be empty"):
        await session.delete_branch(" ")
    assert len(await session.list_branches()) == 2


async def test_what_was_called_in_which_turn_is_told_by_branch(session: MemorandaSession) -> None:
    called: list[Any] = [
        {"role": "system", "content": "Be brief."},
        *said("one"),
        CALL,
        CALL | {"call_id": "c2"},
        {"type": "function_call_output", "call_id": "c1", "output": "31"},
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        *said("two"),
        {"type": "mcp_call", "id": "m", "name": "find", "server_label": "docs", "arguments": "{}"},
        CALL | {"name": "look", "namespace": "look"},
        CALL | {"name": "look", "namespace": "crm"},
        {"type": "tool_search_output", "tools": [], "status": "completed"},
    ]
    await session.add_items(called)
    assert await session.get_tool_usage() == [
        ("weather", 2, 1),
        ("web_search_call", 1, 1),
        ("crm.look", 1, 2),
        ("docs.find", 1, 2),
        ("look", 1, 2),
        ("tool_search", 1, 2),
    ]
    turns = await session.get_conversation_by_turns()
    assert turns[0] == [{"type": "other", "tool_name": None}]
    assert [each["type"] for each in turns[1]] == [
        *("user", "assistant", "function_call", "function_call"),
        *("function_call_output", "web_search_call"),
    ]
    await session.create_branch_from_turn(2, "side")
    assert len(await session.get_tool_usage()) == 2
    assert len(await session.get_tool_usage("main")) == 6
    assert sorted(await session.get_conversation_by_turns()) == [0, 1]


async def test_a_deleted_branch_is_gone_and_its_name_stays_used(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    await session.add_items(said("one", "two"))
    await session.create_branch_from_turn(2, "side")
    elsewhere = MemorandaSession(memoranda, name, acme.owner)
    await elsewhere.switch_to_branch("side")
    with pytest.raises(ValueError, match="force"):
        await session.delete_branch("side")
    await session.delete_branch("side", force=True)
    assert session.branch_id == "main"
    assert len(await contents(session)) == 4
    with pytest.raises(ValueError, match="used"):
        await session.create_branch_from_turn(1, "side")
    for late in (elsewhere.add_items(said("late")), elsewhere.get_items(), elsewhere.pop_item()):
        with pytest.raises(NotFound):
            await late
    assert await session.get_items(branch_id="side") == []
    assert [each["branch_id"] for each in await session.list_branches()] == ["main"]


async def test_clearing_takes_every_branch_and_others_go_on_with_main(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    await session.add_items(said("one", "two"))
    await session.create_branch_from_turn(2, "side")
    elsewhere, another = (MemorandaSession(memoranda, name, acme.owner) for _ in range(2))
    for each in (elsewhere, another):
        await each.switch_to_branch("side")
    await session.clear_session()
    await session.clear_session()
    assert session.branch_id == "main"
    assert await contents(elsewhere) == []
    assert elsewhere.branch_id == "main"
    await elsewhere.add_items(said("anew"))
    assert await contents(session) == ["anew", "re anew"]
    assert await another.pop_item() == {"role": "assistant", "content": "re anew"}
    assert another.branch_id == "main"
    with pytest.raises(ValueError, match="used"):
        await session.create_branch_from_turn(1, "side")


async def test_a_workflows_reset_and_purge_take_its_branches_along(
    memoranda: Memoranda, acme: Tenant, session: MemorandaSession, name: str
) -> None:
    await session.add_items(said("one", "two"))
    await session.create_branch_from_turn(2, "side")
    [main, side] = await memoranda.conversations.branches.listed(
        acme.owner, ConversationKey(workflow_id=name)
    )
    await memoranda.conversations.resets.reset(acme.owner, name)
    for each in (main, side):
        found = await memoranda.conversations.get(acme.owner, each.conversation_id)
        assert found.length == 0
    for late in (session.add_items(said("late")), session.get_items(), session.list_branches()):
        with pytest.raises((Conflict, NotFound)):
            await late
    going = MemorandaSession(memoranda, name, acme.owner, generation=2)
    await going.add_items(said("one"))
    await going.create_branch_from_turn(1, "side")
    [_, side] = await memoranda.conversations.branches.listed(
        acme.owner, ConversationKey(workflow_id=name, generation=2)
    )
    await memoranda.conversations.resets.purge_workflow(acme.owner, name)
    with pytest.raises(NotFound):
        await memoranda.conversations.get(acme.owner, side.conversation_id)


async def test_sessions_of_another_user_agent_or_organization_are_others(
    memoranda: Memoranda, acme: Tenant, name: str
) -> None:
    other = await new_tenant(memoranda.storage, "Globex")
    annas = MemorandaSession(memoranda, name, acme.owner, user_id=acme.anna.id)
    scouts = MemorandaSession(memoranda, name, acme.owner, agent_id=acme.scout.id)
    theirs = MemorandaSession(memoranda, name, other.owner)
    for each, text in ((annas, "anna"), (scouts, "scout"), (theirs, "theirs")):
        await each.add_items(said(text, "more"))
        await each.create_branch_from_turn(2, "side")
    assert await contents(MemorandaSession(memoranda, name, acme.member(acme.anna))) == [
        *("anna", "re anna", "more", "re more"),
    ]
    assert await contents(scouts) == ["scout", "re scout"]
    for stranger in (
        MemorandaSession(memoranda, name, acme.owner, user_id=acme.ben.id),
        MemorandaSession(memoranda, name, acme.member(acme.ben)),
    ):
        for asked in (
            stranger.get_items(),
            stranger.add_items(said("x")),
            stranger.pop_item(),
            stranger.clear_session(),
            stranger.list_branches(),
        ):
            with pytest.raises(NotFound, match="name another workflow, or session"):
                await asked
        assert await stranger.get_items(branch_id="side") == []
        with pytest.raises(ValueError, match="not there"):
            await stranger.create_branch_from_turn(1)
        with pytest.raises(ValueError, match=r"not there|There is no"):
            await stranger.delete_branch("side")
    with pytest.raises(Refused):
        await MemorandaSession(memoranda, name, acme.reader).add_items(said("x"))
    await theirs.clear_session()
    assert len(await contents(annas, branch_id="main")) == 4


async def test_erasing_a_user_takes_its_sessions_and_branches(
    memoranda: Memoranda, acme: Tenant, name: str
) -> None:
    user = await memoranda.access.create_user(acme.owner, "Carla")
    session = MemorandaSession(memoranda, name, acme.owner, user_id=user.id)
    await session.add_items(said("apricot", "more"))
    await session.create_branch_from_turn(2, "side")
    found = await memoranda.conversations.branches.listed(
        acme.owner, ConversationKey(workflow_id=name)
    )
    await memoranda.removal.erase_user(acme.owner, user.id)
    for each in found:
        with pytest.raises(NotFound):
            await memoranda.conversations.get(acme.owner, each.conversation_id)


async def test_adding_and_popping_at_once_lose_and_double_nothing(
    memoranda: Memoranda, acme: Tenant, name: str
) -> None:
    sessions = [MemorandaSession(memoranda, name, acme.owner) for _ in range(4)]
    texts = [str(number) for number in range(16)]
    await asyncio.gather(*(sessions[int(text) % 4].add_items(said(text)) for text in texts))
    there = await contents(sessions[0])
    assert sorted(there[::2], key=int) == texts
    assert there[1::2] == [f"re {text}" for text in there[::2]]
    popped = await asyncio.gather(*(sessions[n % 4].pop_item() for n in range(40)))
    taken = [item["content"] for item in popped if item is not None]
    assert sorted(taken) == sorted(there)
    await asyncio.gather(sessions[0].add_items(said("x")), sessions[1].add_items(said("y")))
    names = await asyncio.gather(*(each.create_branch_from_turn(1) for each in sessions))
    assert len(set(names)) == 4


async def test_a_loop_that_waits_for_a_thread_is_told_of_and_nothing_is_done(
    session: MemorandaSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "STALLED_S", 0.05)
    told: list[str] = []

    def work() -> None:
        with pytest.raises(RuntimeError) as refused:
            asyncio.run(session.add_items(said("x")))
        told.append(str(refused.value))
        with pytest.raises(RuntimeError, match="does not run"):
            session._home.wait(session.get_items())

    thread = Thread(target=work)
    thread.start()
    thread.join()  # on the loop itself, which can do nothing meanwhile
    assert "Nothing was done" in told[0]
    assert await session.get_items() == []
    await asyncio.to_thread(asyncio.run, session.add_items(said("x")))
    assert len(await session.get_items()) == 2


async def test_what_can_not_be_kept_is_refused_and_nothing_of_it_kept(
    session: MemorandaSession,
) -> None:
    wrong: Any = [{"role": "user", "content": "fine"}, {"role": "user", "content": object()}]
    with pytest.raises(Invalid):
        await session.add_items(wrong)
    large: Any = [{"role": "user", "content": "x" * 8_000_001}]
    with pytest.raises(OverLimit):
        await session.add_items(large)
    assert await session.get_items() == []
    many: Any = said(*(str(number) for number in range(501)))
    await session.add_items(many)
    assert await session.get_items() == many
