"""Every command about tools, on both backends: what is shown, what is answered, how it ends."""

import asyncio
import json
from typing import Any

import pytest

from memoranda.app import Memoranda
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, kept, refused, texts

TOOLS = ["remember", "recall", "list", "get", "update", "forget", "search_knowledge", "build_brief"]


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def called(cli: Cli, tool: str, *words: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = cli.json("tools", "call", tool, json.dumps(arguments), *words)
    return answer


async def wished(db: str, key: str, memory: str) -> str:
    """An agent's call, which no command can make: a person is at the terminal."""
    async with Memoranda.open(db) as memoranda:
        agent = await memoranda.access.authenticate(key)
        wish = {"memory_id": memory, "expected_version": 1}
        answer = (await memoranda.tools.invoke(agent, "forget", wish)).answer
        return str(answer["approval_id"])


def asking(cli: Cli, text: str) -> str:
    """The id of a call that waits: the agent's wish to forget a memory of its own."""
    memory = kept(cli, text, "--agent", "clerk")
    key = cli.json("keys", "create", "--role", "agent", "--agent", "clerk")["key"]
    return asyncio.run(wished(cli.db, key, memory))


def test_tools_are_listed_with_what_the_caller_may_do(cli: Cli) -> None:
    assert [each["name"] for each in cli.json("tools")["items"]] == TOOLS
    shown = cli("tools").out
    assert all(name in shown for name in TOOLS)
    assert refused(cli, "tools", "--agent", "nobody") == (3, "not_found")


def test_a_call_prints_what_a_model_would_be_answered(cli: Cli) -> None:
    made = called(cli, "remember", content="Ada takes oat milk.", tags=["food"])
    assert (made["outcome"], made["version"]) == ("done", 1)
    found = json.loads(cli("tools", "call", "recall", '{"query": "oat milk"}').out)
    assert [each["content"] for each in found["memories"]] == ["Ada takes oat milk."]
    assert [each["id"] for each in called(cli, "list")["memories"]] == [made["memory_id"]]
    assert len(json.loads(cli("tools", "call", "list").out)["memories"]) == 1


def test_the_same_call_under_one_key_is_done_once(cli: Cli) -> None:
    first = called(cli, "remember", "--key", "a", content="Tea.")
    assert called(cli, "remember", "--key", "a", content="Tea.") == first
    assert texts(cli) == ["Tea."]
    other = ("tools", "call", "remember", '{"content": "Milk."}', "--key", "a")
    assert refused(cli, *other) == (4, "idempotency_key_reused")


def test_a_call_that_can_not_be_is_refused(cli: Cli) -> None:
    call = ("tools", "call")
    assert refused(cli, *call, "rememeber") == (3, "unknown_tool")
    assert refused(cli, *call, "remember", "{") == (5, "invalid_input")
    assert refused(cli, *call, "remember", "[]") == (5, "invalid_input")
    assert refused(cli, *call, "remember", '{"content": "x", "user_id": "y"}') == (
        5,
        "invalid_input",
    )
    assert refused(cli, *call, "get", json.dumps({"memory_id": NOBODY})) == (3, "not_found")


def test_a_policy_is_set_shown_and_taken_back(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")

    def decided() -> dict[str, str]:
        items = cli.json("tools", "--agent", "clerk")["items"]
        return {each["tool"]: each["decision"] for each in items}

    assert (decided()["remember"], decided()["recall"]) == ("ask", "allow")
    set_to = card(cli("tools", "policy", "clerk", "remember", "allow"))
    assert set_to == {"agent": "clerk", "tool": "remember", "may": "allow"}
    assert decided()["remember"] == "allow"
    assert "allow" in cli("tools", "--agent", "clerk").out
    cli.json("tools", "policy", "clerk", "remember", "default")
    assert decided()["remember"] == "ask"
    assert refused(cli, "tools", "policy", "clerk", "recall", "ask") == (5, "invalid_input")
    assert cli("tools", "policy", "clerk", "recall", "maybe").code == 2


def test_a_call_that_waits_is_shown_and_decided(cli: Cli) -> None:
    assert "No call waits for anybody." in cli("tools", "approvals").out
    cli.json("agents", "create", "clerk")
    first, second = asking(cli, "Tea."), asking(cli, "Milk.")
    shown = cli("tools", "approvals").out
    assert all(part in shown for part in (first, "forget", "clerk"))
    assert card(cli("tools", "approve", first))["approved"] == first
    assert card(cli("tools", "deny", second)) == {"denied": second, "tool": "forget"}
    assert texts(cli) == ["Milk."]
    assert refused(cli, "tools", "approve", first) == (4, "conflict")
    assert refused(cli, "tools", "deny", NOBODY) == (3, "not_found")
    assert [
        each["id"] for each in cli.json("tools", "approvals", "--status", "approved")["items"]
    ] == [first]


def test_the_journal_says_what_was_called_and_not_what_was_said(cli: Cli) -> None:
    assert "No tool was called yet." in cli("tools", "calls").out
    called(cli, "remember", content="Swordfish.")
    cli("tools", "call", "get", json.dumps({"memory_id": NOBODY}))
    lines = [(each["tool"], each["outcome"]) for each in cli.json("tools", "calls")["items"]]
    assert lines == [("get", "refused"), ("remember", "done")]
    shown = cli("tools", "calls").out
    assert "not_found" in shown
    assert "Swordfish" not in shown


def test_a_node_is_published_given_a_key_and_withdrawn(cli: Cli) -> None:
    assert "There is no space yet." in cli("tools", "spaces").out
    publish = ("tools", "publish", "invoices", "extract")
    assert refused(cli, *publish, "--tool", "remember") == (5, "writer_needs_an_agent")
    cli.json("agents", "create", "clerk")
    space = cli.json(*publish, "--tool", "remember", "--tool", "recall", "--agent", "clerk")["id"]
    assert all(
        part in cli("tools", "spaces").out for part in ("invoices extract", "remember, recall")
    )
    key = ("keys", "create", "--space", space)
    made = cli.json(*key, "--role", "agent", "--agent", "clerk")
    assert made["space_id"] == space
    assert refused(cli, *key, "--role", "owner") == (5, "invalid_input")
    assert card(cli("tools", "withdraw", space)) == {"withdrawn": space}
    assert cli.json("tools", "spaces")["items"] == []
