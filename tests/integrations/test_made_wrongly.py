"""What a framework's object is made with is looked at when it is made, and not in the middle of a run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agno.agent import Agent
from langgraph.store.base import InvalidNamespaceError

from memoranda import Memoranda, sync
from memoranda.integrations.agno import AgnoRuntime
from memoranda.integrations.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.integrations.langgraph import MemorandaSaver, MemorandaStore
from memoranda.integrations.openai_agents import MemorandaSession
from memoranda.integrations.pydantic_ai import MemorandaConversationStore
from memoranda.settings import Settings
from memoranda.words.errors import Invalid, MemorandaError, NotFound
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda

__all__ = ["acme", "memoranda"]
from memoranda.words.fitting import EXAMPLE

NO_ID = f"user_id must be an id or None and is 'ada'. An id looks like {EXAMPLE}. access.user finds the id"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sync.Memoranda]:
    file: Path = tmp_path_factory.mktemp("made") / "m.db"
    with sync.Memoranda(str(file), settings=Settings(embedder="none")) as opened:
        opened.create_agent("scout")
        yield opened


def there(script: sync.Memoranda) -> Memoranda:
    """The asynchronous face of what a script opened."""

    async def same(opened: Memoranda) -> Memoranda:
        return opened

    return script.lend(same)


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        (MemorandaStore, {"user_id": "ada"}, NO_ID),
        (MemorandaSaver, {"user_id": "ada"}, NO_ID),
        (MemorandaStore, {"fields": "text"}, "fields must be a list and is a text"),
        (MemorandaSession, {"session_id": "s", "user_id": "ada"}, NO_ID),
        (MemorandaSession, {"session_id": "s", "agent_id": 7}, "agent_id must be an id or None"),
        (MemorandaSession, {"session_id": " "}, "session_id is empty"),
        (MemoryTool, {"agent": ""}, "agent is empty"),
        (MemoryTool, {}, "name the agent"),
        (MemoryTool, {"agent": 5}, "agent must be a text or an id or None"),
        (MemoryTool, {"agent": "scout", "run_id": "r"}, "run_id must be an id or None"),
    ],
)
def test_a_name_that_can_not_be_right_is_refused_when_it_is_made(
    script: sync.Memoranda, kind: Any, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(Invalid) as refused:
        kind(script, **given)
    assert why in refused.value.message


def test_in_a_script_a_tool_of_nobody_is_not_made(script: sync.Memoranda) -> None:
    with pytest.raises(NotFound, match="nobody"):
        MemoryTool(script, agent="nobody")
    with pytest.raises(NotFound):
        MemoryTool(script, agent="scout", user="nobody")
    MemoryTool(script, agent="scout")


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (AgnoRuntime, {}),
        (AsyncMemoryTool, {"agent": "scout"}),
        (MemorandaConversationStore, {}),
    ],
)
def test_the_synchronous_face_is_refused_where_a_loop_is_needed(
    script: sync.Memoranda, kind: Any, given: dict[str, Any]
) -> None:
    with pytest.raises(MemorandaError, match=r"of the type memoranda\.app\.Memoranda") as refused:
        kind(script, **given)
    assert "async with memoranda.Memoranda.open" in refused.value.message
    assert kind(there(script), **given)


def test_an_id_may_be_given_as_its_text(script: sync.Memoranda) -> None:
    user = script.create_user("Ada")
    as_text: Any = str(user.id)
    store = MemorandaStore(script, user_id=as_text)
    store.put(("t",), "k", {"n": 1})
    assert MemorandaStore(script, user_id=user.id).get(("t",), "k") is not None
    session = MemorandaSession(script, "s", user_id=as_text)
    assert session._home.subject["user_id"] == user.id


@pytest.mark.parametrize(
    ("ask", "kind", "why"),
    [
        (
            lambda s: s.put("notes", "k", {"n": 1}),
            InvalidNamespaceError,
            "namespace must be a tuple",
        ),
        (lambda s: s.get("notes", "k"), InvalidNamespaceError, "namespace must be a tuple"),
        (lambda s: s.search("notes"), InvalidNamespaceError, "namespace_prefix must be a tuple"),
        (lambda s: s.put(("a",), "k", "text"), ValueError, "value must be a mapping.* is a text"),
        (lambda s: s.put(("a",), "k", [("n", 1)]), ValueError, "value must be a mapping"),
        (lambda s: s.put(("a",), "k", {}, index="n"), ValueError, "index must be a list"),
        (lambda s: s.search(("a",), filter="n"), ValueError, "filter must be a mapping"),
    ],
)
def test_what_a_graph_puts_wrongly_is_refused_in_langgraphs_own_errors(
    script: sync.Memoranda, ask: Callable[[Any], Any], kind: type[Exception], why: str
) -> None:
    store = MemorandaStore(script)
    with pytest.raises(kind, match=why):
        ask(store)
    assert store.search(("n",)) == []


async def test_what_is_no_conversation_and_no_run_is_refused_by_name(
    memoranda: Memoranda, acme: Tenant
) -> None:
    store: Any = MemorandaConversationStore(memoranda, acme.owner)
    runtime: Any = AgnoRuntime(memoranda, acme.owner)
    agent = Agent()
    for asked, field in (
        (store.save("x"), "conversation"),
        (store.write_record("x", expected_revision=None), "record"),
        (runtime.resume(agent, acme.anna.id), "output"),
        (runtime.resume("agent", acme.anna.id), "agent"),
        (runtime.run("agent", "q"), "agent"),
    ):
        with pytest.raises(Invalid) as refused:
            await asked
        assert refused.value.details["field"] == field
    assert not (await memoranda.runs.page(acme.owner)).items


async def test_a_policy_that_is_not_there_is_named_and_begins_no_run(
    memoranda: Memoranda, acme: Tenant
) -> None:
    with pytest.raises(NotFound, match="'nope'") as missing:
        await AgnoRuntime(memoranda, acme.owner, policy_name="nope").run(Agent(), "q")
    assert missing.value.details["field"] == "policy_name"
    with pytest.raises(Invalid, match="before any agent"):
        await AgnoRuntime(memoranda, acme.owner, policy_name="front_door").run(
            Agent(), "q", agent_id=acme.scout.id
        )
    assert not (await memoranda.runs.page(acme.owner)).items


async def test_whose_a_session_is_hears_an_owner_and_nobody_else(
    memoranda: Memoranda, acme: Tenant
) -> None:
    item: Any = {"role": "user", "content": "hello"}
    await MemorandaSession(memoranda, "s", acme.owner, user_id=acme.anna.id).add_items([item])
    theirs = MemorandaSession(memoranda, "s", acme.owner, user_id=acme.ben.id)
    for ask in (theirs.get_items, theirs.pop_item, theirs.clear_session, theirs.list_branches):
        with pytest.raises(NotFound, match="'s' is another user's") as refused:
            await ask()
        assert refused.value.details["field"] == "session_id"
    with pytest.raises(NotFound, match="another user's"):
        await theirs.add_items([item])
    with pytest.raises(NotFound) as hidden:
        await MemorandaSession(memoranda, "s", acme.member(acme.ben)).add_items([item])
    assert "another user" not in hidden.value.message
    with pytest.raises(NotFound) as nobody:
        await MemorandaSession(
            memoranda, "t", acme.owner, user_id=acme.owner.organization_id
        ).add_items([item])
    assert "another user" not in nobody.value.message
