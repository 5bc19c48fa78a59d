"""Every command about tools, on both backends: what is shown, what is answered, how it ends."""

import asyncio
import json
from typing import Any

import pytest

from memoranda.app import Memoranda
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, kept, refused, texts

TOOLS = [
    *("remember", "recall", "list", "get", "update", "forget", "search_knowledge"),
    *("search_conversations", "build_brief"),
    *("get_context_file", "update_context_file", "get_file_load"),
]


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def called(cli: Cli, tool: str, *words: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = cli.json("tools", "call", tool, json.dumps(arguments), *words)
    return answer


async def wished(db: str, key: str, tool: str, **wish: Any) -> dict[str, Any]:
    """An agent's call, which no command can make: a person is at the terminal."""
    async with Memoranda.open(db) as memoranda:
        agent = await memoranda.access.authenticate(key)
        return (await memoranda.tools.invoke(agent, tool, wish)).answer


def asking(cli: Cli, text: str) -> str:
    """The id of a call that waits: the agent's wish to forget a memory of its own."""
    memory = kept(cli, text, "--agent", "clerk")
    answer = wishing(cli, "forget", memory_id=memory, expected_version=1)
    return str(answer["approval_id"])


def wishing(cli: Cli, tool: str, **wish: Any) -> dict[str, Any]:
    """What the agent is answered that is called clerk."""
    key = cli.json("keys", "create", "--role", "agent", "--agent", "clerk")["key"]
    return asyncio.run(wished(cli.db, key, tool, **wish))


def in_a_space(cli: Cli, text: str, *, allow: bool = True) -> str:
    """The id of what a node has remembered for itself, or proposed to."""
    cli.json("agents", "create", "clerk")
    publish = ("tools", "publish", "invoices", "extract", "--agent", "clerk", "--tool", "remember")
    space = cli.json(*publish)["id"]
    if allow:
        cli.json("tools", "policy", "clerk", "remember", "allow")
    made = cli.json(
        "keys", "create", "--role", "agent", "--agent", "clerk", "--space", space, "--name", "node"
    )
    answer = asyncio.run(wished(cli.db, made["key"], "remember", content=text))
    return str(answer["memory_id"] or answer["proposal_id"])


def test_a_space_is_published_with_what_a_reset_does_to_its_memories(cli: Cli) -> None:
    publish = ("tools", "publish", "invoices", "extract", "--tool", "recall")
    assert cli.json(*publish)["reset_policy"] == "keep"
    assert cli.json(*publish, "--on-reset", "clear")["reset_policy"] == "clear"
    assert cli.json(*publish)["reset_policy"] == "clear"


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


def test_a_call_may_be_made_as_an_agent_whose_policy_then_decides(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")
    cli.json("users", "create", "Ada", "--external-id", "ada")
    as_clerk = ("--agent", "clerk", "--user", "ada")
    asked = called(cli, "remember", *as_clerk, content="Ada takes oat milk.")
    assert asked["outcome"] == "proposed"
    (waits,) = cli.json("inbox")["items"]
    assert waits["proposal"]["text"] == "Ada takes oat milk."
    assert None not in {waits["user_id"], waits["agent_id"]}
    assert refused(cli, "tools", "call", "list", "--agent", "nobody") == (3, "not_found")
    assert refused(cli, "tools", "call", "list", "--user", "ada") == (5, "invalid_input")


def test_a_run_that_has_ended_takes_the_calls_that_name_it_and_its_journal_says_so(
    cli: Cli,
) -> None:
    run = cli.json("runs", "create")["id"]
    cli.json("runs", "cancel", run)
    assert called(cli, "remember", "--run", run, content="Tea.")["outcome"] == "done"
    (line,) = cli.json("tools", "calls", "--run", run)["items"]
    assert (line["tool"], line["outcome"]) == ("remember", "done")


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
    assert all(part in shown for part in (first, "forget", "clerk", "Tea.", "Milk."))
    approved = card(cli("tools", "approve", first))
    assert (approved["approved"], approved["tool"]) == (first, "forget")
    assert "is forgotten" in approved["what came of it"]
    assert card(cli("tools", "deny", second))["denied"] == second
    assert texts(cli) == ["Milk."]
    assert refused(cli, "tools", "approve", first) == (4, "conflict")
    assert refused(cli, "tools", "deny", NOBODY) == (3, "not_found")
    assert [
        each["id"] for each in cli.json("tools", "approvals", "--status", "approved")["items"]
    ] == [first]


def test_a_change_that_waits_shows_what_is_said_now_and_what_would_be_said(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")
    memory = kept(cli, "Ada takes milk.", "--agent", "clerk", "--tag", "food")
    patch = {"content": "Ada takes oat milk.", "title": "Milk", "tags": None}
    wishing(cli, "update", memory_id=memory, expected_version=1, patch=patch)
    shown = cli("tools", "approvals").out
    for part in ("Ada takes milk.", "would say: Ada takes oat milk.", "title: nothing -> Milk"):
        assert part in shown
    assert "tags: food -> nothing" in shown
    assert "{" not in shown
    (waiting,) = cli.json("tools", "approvals")["items"]
    assert waiting["memory"]["text"] == "Ada takes milk."
    cli.json("memories", "edit", memory, "Ada takes soy milk.")
    shown = cli("tools", "approvals").out
    assert "Ada takes soy milk." in shown
    assert "approving it would fail" in shown


def test_no_text_of_an_agent_forges_a_line_of_what_a_person_decides_by(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")
    memory = kept(cli, "Ada takes milk.", "--agent", "clerk")
    forged = "Oat milk.\n\u2028approved by Ada\x1b[2J"
    wishing(cli, "update", memory_id=memory, expected_version=1, patch={"content": forged})
    shown = cli("tools", "approvals").out
    assert "\x1b" not in shown
    assert not [line for line in shown.splitlines() if line.strip().startswith("approved")]


def test_what_failed_is_told_in_a_table_and_as_json_for_machines(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")
    waiting = asking(cli, "Tea.")
    (memory,) = (each["id"] for each in cli.json("memories")["items"])
    cli.json("memories", "edit", memory, "Green tea.")
    # It was decided, and what was asked for failed.
    decided = card(cli("tools", "approve", waiting), code=10)
    assert decided["failed"] == waiting
    assert "version 2 by now" in decided["what came of it"]
    for status in ("failed", "approved", "denied"):
        assert "{" not in cli("tools", "approvals", "--status", status).out
    shown = cli("tools", "approvals", "--status", "failed").out
    assert all(part in shown for part in (waiting, memory, "version 2 by now", "clerk"))
    (failed,) = cli.json("tools", "approvals", "--status", "failed")["items"]
    assert failed["answer"]["code"] == "stale_version"
    assert failed["memory"] is None


def test_an_agent_can_not_nag_a_person(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")
    waiting = asking(cli, "Tea.")
    (memory,) = (each["id"] for each in cli.json("memories")["items"])
    wish = {"memory_id": memory, "expected_version": 1}
    assert wishing(cli, "forget", **wish)["approval_id"] == waiting
    assert len(cli.json("tools", "approvals")["items"]) == 1
    cli.json("tools", "deny", waiting)
    assert wishing(cli, "forget", **wish)["outcome"] == "denied"
    assert cli.json("tools", "approvals")["items"] == []


def test_what_a_space_keeps_is_shown_as_that_spaces(cli: Cli) -> None:
    memory = in_a_space(cli, "Supplier 7 sends totals without tax.")
    space = "the space invoices/extract"
    assert space in cli("memories").out
    assert "everybody" not in cli("memories").out
    assert card(cli("memories", "show", memory))["for"] == space
    assert cli.json("memories", "show", memory)["space"] == "invoices/extract"
    assert [each["space"] for each in cli.json("memories")["items"]] == ["invoices/extract"]
    assert [each["name"] for each in cli.json("tools", "spaces")["items"]] == ["invoices/extract"]
    assert space in cli("tools", "calls").out
    assert f"clerk in {space}" in cli("keys", "list").out
    assert card(cli("memories", "pin", memory))["for"] == space


def test_what_a_node_proposes_is_shown_as_its_spaces(cli: Cli) -> None:
    proposal = in_a_space(cli, "Supplier 7 sends totals without tax.", allow=False)
    assert "the space invoices/extract" in cli("proposals").out
    assert "everybody" not in cli("proposals").out
    (waiting,) = cli.json("proposals")["items"]
    assert (waiting["id"], waiting["space"]) == (proposal, "invoices/extract")
    assert cli.json("proposals", "accept", proposal)["space"] == "invoices/extract"


def test_a_memory_of_a_space_is_not_moved_and_none_to_where_it_is(cli: Cli) -> None:
    memory = in_a_space(cli, "Supplier 7 sends totals without tax.")
    assert refused(cli, "memories", "move", memory) == (4, "conflict")
    assert refused(cli, "memories", "move", memory, "--agent", "clerk") == (4, "conflict")
    assert "Remember its text anew" in cli("memories", "move", memory).err
    assert cli.json("memories", "show", memory)["space"] == "invoices/extract"
    everybodys = kept(cli, "Tea.")
    assert card(cli("memories", "move", everybodys))["already there"] == everybodys


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
    assert refused(cli, *publish, "--tool", "build_brief") == (5, "not_in_spaces")
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


def test_an_agent_that_may_not_is_told_whose_it_changes_and_who_may(cli: Cli) -> None:
    cli.json("agents", "create", "clerk")
    cli.json("tools", "policy", "clerk", "forget", "allow")
    memory = cli.json("remember", "Tea is at four.")
    wish = json.dumps({"memory_id": memory["id"], "expected_version": 1})
    ended = cli("tools", "call", "forget", wish, "--agent", "clerk")
    assert ended.code == 6
    assert "An agent changes its own memories alone" in ended.err
    assert "Without --agent, it is the owner's call." in ended.err
    assert "key" not in ended.err
    assert cli("tools", "call", "forget", wish).code == 0
