"""Pydantic AI's own store interface over ours: equal round trips, branches, forks, and the store in memory as the model."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationRecord,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryImage,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests

from memoranda import Memoranda
from memoranda.integrations.pydantic_ai import MemorandaConversationStore
from memoranda.settings import Settings
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, MemorandaError, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant
from tests.integrations.house import acme, memoranda, other

__all__ = ["acme", "memoranda", "other"]

TestModel.__test__ = False  # type: ignore[attr-defined]  # it is no test, whatever pytest makes of its name

MESSAGES: list[ModelMessage] = [
    ModelRequest(
        parts=[
            SystemPromptPart("Be short."),
            UserPromptPart(
                [
                    "Was ist das? ",
                    ImageUrl("https://example.com/cat.png"),
                    BinaryImage(b"\x00\xff\x00", media_type="image/png"),
                ]
            ),
        ],
        instructions="Answer in German.",
    ),
    ModelResponse(
        parts=[
            ThinkingPart("Let me see.", signature="c2ln", id="t1", provider_name="anthropic"),
            TextPart(""),
            ToolCallPart("look", '{"at": "cat", ', tool_call_id="1"),
            ToolCallPart("look", {"z": 1, "a": [None, 1.5, "é\u2028"]}, tool_call_id="2"),
        ],
        model_name="m-1",
        provider_details={"finish": "tool_use"},
    ),
    ModelRequest(
        parts=[
            ToolReturnPart("look", "Not JSON.", "1", outcome="retried"),
            ToolReturnPart("look", {"found": ["cat"]}, "2", metadata={"raw": 1}),
        ]
    ),
    ModelResponse(parts=[TextPart("Eine Katze.")]),
]


def store_of(memoranda: Memoranda, tenant: Tenant, **given: Any) -> MemorandaConversationStore:
    return MemorandaConversationStore(memoranda, tenant.owner, **given)


async def test_every_kind_of_message_comes_back_equal(memoranda: Memoranda, acme: Tenant) -> None:
    store = store_of(memoranda, acme)
    waits = DeferredToolRequests(approvals=[ToolCallPart("pay", {"eur": 5}, tool_call_id="3")])
    said = Conversation(messages=MESSAGES, conversation_id="c", deferred_tool_requests=waits)
    entries = await store.save(said, scope="web")
    assert [entry.message for entry in entries] == MESSAGES
    loaded = await store_of(memoranda, acme).load("c", scope="web")
    assert loaded == said
    assert await store.load_entries("c") == entries
    last = await store.load("c", limit=2)
    assert last is not None
    assert last.messages == MESSAGES[2:]
    assert await store.load("c", scope="mail") is None
    assert len(await store.list_conversations(scope="web")) == 1
    assert await store.list_conversations(scope="mail") == []
    assert await store.load("nothing") is None


async def test_an_agent_goes_on_with_its_conversation_and_only_new_messages_are_stored(
    memoranda: Memoranda, acme: Tenant
) -> None:
    store = store_of(memoranda, acme)
    agent = Agent(TestModel(custom_output_text="Yes."), tool_timeout=9)
    results = []
    for turn in range(3):
        conversation = await store.load("c") or Conversation(conversation_id="c")
        results.append(await agent.run(f"Question {turn}", conversation=conversation))
        assert len(await store.save(results[-1])) == 2
    loaded = await store.load("c")
    assert loaded is not None
    assert loaded.messages == results[-1].all_messages()
    assert loaded.usage.requests == 3
    prompts = [part.content for each in loaded.messages[::2] for part in each.parts]
    assert prompts == ["Question 0", "Question 1", "Question 2"]


async def test_who_saves_what_others_saved_meanwhile_is_refused(
    memoranda: Memoranda, acme: Tenant
) -> None:
    store = store_of(memoranda, acme)
    await store.save(Conversation(messages=MESSAGES[:2], conversation_id="c"))
    one, two = await store.load("c"), await store.load("c")
    assert one is not None
    assert two is not None
    one.messages.append(MESSAGES[2])
    await store.save(one)
    two.messages.append(MESSAGES[3])
    with pytest.raises(ConversationConflict):
        await store.save(two)
    with pytest.raises(ConversationConflict):
        await store.save(Conversation(messages=[], conversation_id="c"))
    with pytest.raises(ConversationConflict):
        await store.delete_record("c", expected_revision=two.revision or "")
    assert (await store.load("c")) == one


async def test_a_branch_leads_back_and_a_fork_outlives_what_it_came_from(
    memoranda: Memoranda, acme: Tenant
) -> None:
    store = store_of(memoranda, acme)
    first = Conversation(messages=MESSAGES, conversation_id="c")
    entries = await store.save(first)
    branched = await store.branch("c", at=1, expected_revision=first.revision)
    branched.messages.append(ModelResponse(parts=[TextPart("Another.")]))
    await store.save(branched)
    [record] = await store.list_conversations()
    assert record.branches == [entries[-1].id]
    # A fork that goes takes nothing along that the branch which was left needs.
    await store.fork("c", at=1, new_conversation_id="gone")
    await store.delete("gone")
    back = await store.branch("c", from_entry=entries[-1].id, expected_revision=branched.revision)
    assert back.messages == MESSAGES
    fork = await store.fork("c", at=2, new_conversation_id="f")
    await store.delete("c")
    assert await store.load("c") is None
    kept = await store.load("f")
    assert kept is not None
    assert kept.messages == fork.messages == MESSAGES[:2]
    with pytest.raises(LookupError):
        await store.read_entry(entries[-1].id)
    with pytest.raises(LookupError):
        await store.read_history(entries[-1].id)


async def test_a_record_that_points_at_nothing_is_a_conflict(
    memoranda: Memoranda, acme: Tenant
) -> None:
    with pytest.raises(ConversationConflict):
        await store_of(memoranda, acme).write_record(
            ConversationRecord(conversation_id="c", head_id="nothing"), expected_revision=None
        )


class Odd:
    """Something that JSON does not know."""


@pytest.mark.parametrize(
    "message",
    [
        ModelRequest(parts=[UserPromptPart("half \ud800 of a pair")]),
        ModelRequest(parts=[ToolReturnPart("look", Odd(), "1")]),
        ModelRequest(parts=[UserPromptPart("fine")], metadata={"odd": Odd()}),
    ],
)
async def test_what_can_not_be_written_is_refused_with_a_reason_and_nothing_of_it_kept(
    memoranda: Memoranda, acme: Tenant, message: ModelMessage
) -> None:
    store = store_of(memoranda, acme)
    with pytest.raises(Invalid, match="nothing of it was kept") as refused:
        await store.save(Conversation(messages=[MESSAGES[1], message], conversation_id="c"))
    assert refused.value.details["field"] == "messages"
    assert await store.load("c") is None
    assert len(await store.save(Conversation(messages=MESSAGES, conversation_id="c"))) == 4


async def test_an_id_that_names_nothing_is_refused_by_the_name_that_the_framework_has_for_it(
    memoranda: Memoranda, acme: Tenant
) -> None:
    for wrong in ("", " ", "x" * 501, "a\0"):
        with pytest.raises(MemorandaError, match="conversation_id"):
            await store_of(memoranda, acme).save(Conversation(messages=[], conversation_id=wrong))


async def test_a_host_that_drops_the_metadata_of_what_it_loaded_can_save_all_the_same(
    memoranda: Memoranda, acme: Tenant
) -> None:
    store = store_of(memoranda, acme)
    about = ModelRequest(parts=[UserPromptPart("Hi.")], metadata={"from": "web"})
    await store.save(Conversation(messages=[about, MESSAGES[3]], conversation_id="c"))
    loaded = await store.load("c")
    assert loaded is not None
    bare = ModelRequest(parts=about.parts, timestamp=about.timestamp)
    loaded.messages[0] = bare
    loaded.messages.append(MESSAGES[2])
    await store.save(loaded)
    anew = Conversation(
        messages=[bare, *loaded.messages[1:], MESSAGES[3]],
        conversation_id="c",
        revision=loaded.revision,
    )
    await store.save(anew)
    kept = await store.load("c")
    assert kept is not None
    assert [type(each) for each in kept.messages] == [type(each) for each in anew.messages]
    assert kept.messages[1:] == anew.messages[1:]


async def test_a_save_that_is_stopped_leaves_all_or_nothing_and_can_be_made_again(
    memoranda: Memoranda, acme: Tenant
) -> None:
    store = store_of(memoranda, acme)
    task = asyncio.create_task(store.save(Conversation(messages=MESSAGES, conversation_id="c")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    there = await store.load("c")
    assert there is None or there.messages == MESSAGES
    again = there or Conversation(messages=MESSAGES, conversation_id="c")
    await store.save(again)
    whole = await store.load("c")
    assert whole is not None
    assert whole.messages == MESSAGES


async def test_a_store_is_one_users_of_one_organization(
    memoranda: Memoranda, acme: Tenant, other: Tenant
) -> None:
    stores = [
        store_of(memoranda, acme),
        store_of(memoranda, acme, user_id=acme.anna.id),
        MemorandaConversationStore(memoranda, acme.member(acme.ben)),
        store_of(memoranda, other),
    ]
    saved = []
    for number, store in enumerate(stores):
        said = Conversation(messages=MESSAGES[: number + 1], conversation_id="c")
        saved += await store.save(said)
    for number, store in enumerate(stores):
        loaded = await store.load("c")
        assert loaded is not None
        assert len(loaded.messages) == number + 1
        assert len(await store.list_conversations()) == 1
        with pytest.raises(LookupError):
            await store.read_entry(saved[-1 if number < 3 else 0].id)
    with pytest.raises(Refused):
        await MemorandaConversationStore(memoranda, acme.key_of(acme.scout)).load("c")


Act = tuple[str, str, int]


async def act(store: ConversationStore, verb: str, name: str, at: int, number: int) -> None:
    """Do one thing to a conversation of that name, if it can be done."""
    more = ModelResponse(parts=[TextPart(f"{number}")], timestamp=MESSAGES[1].timestamp)
    loaded = await store.load(name)
    if verb == "save":
        said = loaded or Conversation(conversation_id=name)
        said.messages.append(more)
        await store.save(said)
    elif verb == "fork":
        await store.fork(name, at=at, new_conversation_id="b" if name == "a" else "a")
    elif verb == "delete":
        await store.delete(name)
    elif loaded is not None and verb == "rewrite":
        loaded.new_message_index = None
        loaded.messages[at:] = [more]
        await store.save(loaded)
    elif loaded is not None and verb == "branch":
        await store.branch(name, at=at, expected_revision=loaded.revision)
    elif loaded is not None and verb == "back":
        record = await store.read_record(name)
        left = record.branches if record else []
        tip = left[at % len(left)] if left else "nothing"
        await store.branch(name, from_entry=tip, expected_revision=loaded.revision)


async def look(store: ConversationStore) -> list[Any]:
    """What a store shows; what it makes up itself is left out."""
    seen: list[Any] = []
    for name in ("a", "b"):
        whole, some = await store.load(name), await store.load(name, limit=2)
        seen.append((whole and whole.messages, some and some.messages))
    for record in await store.list_conversations():
        left = [await store.read_history(tip) for tip in record.branches]
        said = [[entry.message for entry in each] for each in left]
        seen.append((record.conversation_id, record.forked_from, said))
    return seen


async def played(store: ConversationStore, acts: list[Act]) -> list[Any]:
    """What a store shows after each of these acts."""
    seen: list[Any] = []
    for number, (verb, name, at) in enumerate(acts):
        try:
            await act(store, verb, name, at, number)
        except (ConversationConflict, UserError) as refused:
            seen.append(type(refused))
        seen += await look(store)
    return seen


class House:
    """One database for all examples, each of which has an organization of its own."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.storage = self.runner.run(Storage.open(url))

    def shown(self, acts: list[Act]) -> tuple[list[Any], list[Any]]:
        """What our store and the framework's own show after these acts."""
        return self.runner.run(self._both(acts))

    async def _both(self, acts: list[Act]) -> tuple[list[Any], list[Any]]:
        owner = (await new_tenant(self.storage, f"Organization {new_id()}")).owner
        opened: Any = Mock(spec=Memoranda, storage=self.storage, settings=Settings(), owner=owner)
        ours = MemorandaConversationStore(opened)
        return await played(ours, acts), await played(InMemoryConversationStore(), acts)


@pytest.fixture(scope="module")
def house(module_database_url: str) -> Iterator[House]:
    opened = House(module_database_url)
    yield opened
    opened.runner.run(opened.storage.close())
    opened.runner.close()


@settings(max_examples=12)
@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(["save", "save", "rewrite", "branch", "back", "fork", "delete"]),
            st.sampled_from("ab"),
            st.integers(0, 3),
        ),
        min_size=4,
        max_size=10,
    )
)
def test_whatever_is_done_it_shows_what_the_frameworks_own_store_shows(
    house: House, acts: list[Act]
) -> None:
    ours, theirs = house.shown(acts)
    assert ours == theirs


def test_without_pydantic_ai_the_import_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['pydantic_ai'] = None; import memoranda.integrations.pydantic_ai"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "memoranda[pydantic-ai]"' in done.stderr
    assert "in a checkout: pip install '.[pydantic-ai]'" in done.stderr
