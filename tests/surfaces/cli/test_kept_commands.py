"""Every command about what frameworks keep, on both backends: it is listed, shown, exported, deleted and refused."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memoranda.app import Memoranda
from tests.contract.kept_house import Keeping
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


@pytest.fixture
def user(cli: Cli) -> str:
    """Ada, of whom frameworks keep everything in the word `adas`, with an agent."""
    made = str(cli.json("users", "create", "Ada", "--external-id", "ada")["id"])
    agent = str(cli.json("agents", "create", "clerk")["id"])
    asyncio.run(keep(cli.db, UUID(made), UUID(agent)))
    return made


async def keep(url: str, user: UUID, agent: UUID) -> None:
    async with Memoranda.open(url) as memoranda:
        await Keeping(memoranda, memoranda.owner, "adas", user, agent).everything()


SUBJECT = ("--user", "ada", "--agent", "clerk")


def only(answer: Any) -> dict[str, Any]:
    [found] = answer["items"]
    return dict(found)


def test_what_frameworks_keep_is_listed_and_shown(cli: Cli, user: str) -> None:
    thread = only(cli.json("graphs", "threads", "--user", "ada"))
    assert (thread["thread_id"], thread["user_id"], thread["checkpoints"]) == (
        "adas-thread",
        user,
        1,
    )
    step = only(cli.json("graphs", "checkpoints", "adas-thread", *SUBJECT))
    at = ("--namespace", step["namespace"], "--checkpoint", step["checkpoint_id"])
    shown = cli.json("graphs", "show", "adas-thread", *at, *SUBJECT)
    parts = {each["name"]: base64.b64decode(each["body"]) for each in shown["parts"]}
    assert b"adas is the state" in parts["state"]
    assert only(cli.json("graphs", "namespaces"))["namespace"] == ["adas", "notes"]
    item = only(cli.json("graphs", "items", "--namespace", "adas", *SUBJECT))
    assert cli.json("graphs", "item", item["id"])["value"] == {"said": "adas says"}
    history = only(cli.json("histories", "list", "--user", "ada"))
    said = cli.json("histories", "show", history["id"])
    assert (said["history"]["record"], len(said["entries"])) == ('{"of": "adas"}', 3)
    session = only(cli.json("sessions", "list", "--application", "desk"))
    events = cli.json("sessions", "show", session["id"])["events"]
    assert [each["name"] for each in events] == ["adas-event"]
    states = cli.json("sessions", "states")["items"]
    assert [each["person"] for each in states] == ["", user]
    branch = only(cli.json("conversations", "branches"))
    assert len(cli.json("conversations", "show", branch["id"])["messages"]) == 2
    counts = cli.json("kept", "--user", "ada")
    assert counts == dict.fromkeys(counts, 1) | {"history_entries": 3}
    for words in (
        ("graphs", "threads"),
        ("graphs", "checkpoints", "adas-thread", *SUBJECT),
        ("graphs", "show", "adas-thread", *at, *SUBJECT),
        ("graphs", "namespaces"),
        ("graphs", "items"),
        ("graphs", "item", item["id"]),
        ("histories", "list"),
        ("histories", "show", history["id"]),
        ("sessions", "list"),
        ("sessions", "show", session["id"]),
        ("sessions", "states"),
        ("conversations", "branches"),
    ):
        ended = cli(*words)
        assert (ended.code, "adas" in ended.out) == (0, True), words
    assert "history entries" in cli("kept").out
    assert "1 checkpoints" in cli("doctor").out


def test_a_list_says_how_it_goes_on(cli: Cli, user: str) -> None:
    history = only(cli.json("histories", "list"))
    page = cli("histories", "show", history["id"], "--limit", "1")
    assert "There are more: add --cursor " in page.out
    cursor = cli.json("histories", "show", history["id"], "--limit", "1")["next_cursor"]
    rest = cli.json("histories", "show", history["id"], "--cursor", cursor)
    assert [each["name"] for each in rest["entries"]] == ["adas-b", "adas-c"]
    session = only(cli.json("sessions", "list"))
    assert cli.json("sessions", "show", session["id"], "--after", "1")["events"] == []
    at = ("--namespace", "adas", *SUBJECT, "--after", "5")
    assert cli.json("graphs", "show", "adas-thread", *at)["parts"][0]["begin"] == 5


def test_an_export_is_written_whole(cli: Cli, user: str, tmp_path: Path) -> None:
    printed = [json.loads(line) for line in cli("kept", "export").out.splitlines()]
    path = tmp_path / "kept.jsonl"
    done = cli.json("kept", "export", str(path), "--user", "ada")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert done["lines"] == len(lines)
    # All but what the application keeps for everybody.
    assert [each for each in printed[:-1] if each.get("person") != ""] == lines[:-1]
    states = printed[-1]["session_states"] - 1
    assert lines[-1] == printed[-1] | {"kind": "end", "session_states": states}
    assert cli("kept", "export", str(path)).code == 4


def test_each_is_deleted_for_good_and_then_not_there(cli: Cli, user: str) -> None:
    item, history, session = (
        only(cli.json(*words))["id"]
        for words in (("graphs", "items"), ("histories", "list"), ("sessions", "list"))
    )
    workflow = only(cli.json("conversations", "branches"))["workflow_id"]
    for words, rows in (
        (("graphs", "purge-items", item), 1),
        (("graphs", "purge-thread", "adas-thread", *SUBJECT), 3),
        (("histories", "purge", history), 4),
        (("sessions", "purge", session), 2),
        (("sessions", "purge-state", "desk", user), 1),
        (("conversations", "purge-branch", workflow, "adas-way", "--agent", "clerk"), 1),
    ):
        assert cli.json(*words) == {"rows": rows, "scrubbed": True}, words
        assert cli(*words).code == 3, words
    counts = cli.json("kept")
    assert counts == dict.fromkeys(counts, 0) | {"session_states": 1}
    assert "Deleted: 1 row." in cli("sessions", "purge-state", "desk").out


def test_what_is_meant_is_named_once(cli: Cli, user: str) -> None:
    item = only(cli.json("graphs", "items"))["id"]
    for words in (
        ("graphs", "purge-items"),
        ("graphs", "purge-items", item, "--namespace", "adas"),
        ("graphs", "purge-items", item, "--user", "ada"),
        ("graphs", "purge-items", "--namespace", "a..b"),
        ("graphs", "items", "--limit", "0"),
        ("histories", "list", "--cursor", "x"),
        ("sessions", "states", "--limit", "11"),
    ):
        assert cli(*words).code == 5, words
    for words in (
        ("graphs", "item", NOBODY),
        ("histories", "show", NOBODY),
        ("sessions", "show", NOBODY),
        ("graphs", "checkpoints", "adas-thread"),
        ("graphs", "show", "adas-thread", "--user", "ada"),
        ("kept", "--user", "nobody"),
    ):
        assert cli(*words).code == 3, words
    assert cli.json("kept")["items"] == 1


def test_an_erasure_says_with_which_command_to_look_where_it_is_quoted(cli: Cli, user: str) -> None:
    made = cli.json("remember", "adas says")["id"]
    told = cli("memories", "erase", made).out
    for shown in ("graphs item ", "histories show ", "sessions show ", "sessions states"):
        assert f"`memoranda {shown}" in told
