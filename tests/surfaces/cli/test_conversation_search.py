"""`memoranda conversations search`: what was said is found, with no worker beside the command."""

from typing import Any

import pytest

from memoranda.words.ids import new_id
from tests.surfaces.cli.terminal import Cli


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def said(cli: Cli, *texts: str, user: str | None = None) -> str:
    """The id of a conversation with these messages."""
    made: dict[str, Any] = cli.json("conversations", "create", *(["--user", user] if user else []))
    for text in texts:
        cli.json("conversations", "append", made["id"], text)
    return str(made["id"])


def test_what_was_just_said_is_found_with_its_place_and_the_reason(cli: Cli) -> None:
    talk = said(cli, "The ferry leaves at noon", "Good to know")
    shown = cli("conversations", "search", "does the ferry leave at noon?")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert f"{talk}, message 1" in lines[0]
    assert lines[1] == "The ferry leaves at noon"
    assert "says ferry, noon" in lines[2]
    (found, _) = cli.json("conversations", "search", "ferry")["results"]
    assert (found["conversation_id"], found["position"]) == (talk, 1)


def test_a_search_is_narrowed_to_a_user_or_to_one_conversation(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    own, others = said(cli, "The ferry is hers", user="ada"), said(cli, "The ferry is ours")
    for words, expected in (
        (("--user", "ada"), own),
        (("--conversation", others), others),
    ):
        results = cli.json("conversations", "search", "ferry", *words)["results"]
        assert {each["conversation_id"] for each in results} == {expected}
    assert cli("conversations", "search", "ferry", "--conversation", str(new_id())).code != 0


def test_where_nothing_answers_it_is_said(cli: Cli) -> None:
    said(cli, "The ferry leaves at noon")
    assert "Nothing that was said" in cli("conversations", "search", "zeppelin").out


def test_the_tool_finds_what_was_just_said_too(cli: Cli) -> None:
    said(cli, "The ferry leaves at noon")
    found = cli.json("tools", "call", "search_conversations", '{"query": "ferry"}')
    assert [each["text"] for each in found["messages"]] == ["The ferry leaves at noon"]
