"""What a framework's object is made with is looked at when it is made, and not in the middle of a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memoranda, sync
from memoranda.integrations.agno import AgnoRuntime
from memoranda.integrations.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.integrations.langgraph import MemorandaSaver, MemorandaStore
from memoranda.integrations.openai_agents import MemorandaSession
from memoranda.integrations.pydantic_ai import MemorandaConversationStore
from memoranda.settings import Settings
from memoranda.words.errors import Invalid, MemorandaError, NotFound

NO_ID = "user_id must be an id or None and is a text. access.user finds the id"


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
