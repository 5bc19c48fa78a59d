"""Every command about chats: a person moves, a host answers, and refusals say what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, refused


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def opened(cli: Cli) -> str:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    return str(cli.json("chats", "create", "--user", "ada", "--title", "Orders")["id"])


def answered(cli: Cli, chat: str, text: str, answer: str) -> dict[str, Any]:
    """A whole turn: said, picked up and answered."""
    run = cli.json("chats", "send", chat, text)["run"]["id"]
    cli.json("chats", "pick-up", run)
    return dict(cli.json("chats", "answer", run, answer))


def contents(thread: dict[str, Any]) -> list[str]:
    return [each["content"] for each in thread["messages"]]


def test_what_is_said_is_shown_with_its_answer(cli: Cli) -> None:
    chat = opened(cli)
    answered(cli, chat, "Where is order 7?", "In Ghent.")
    assert contents(cli.json("chats", "show", chat)) == ["Where is order 7?", "In Ghent."]


def test_a_person_edits_answers_again_and_switches_back(local: Cli) -> None:
    cli = local
    chat = opened(cli)
    done = answered(cli, chat, "Where is order 7?", "In Ghent.")
    asked = done["run"]["message_id"]
    seen = str(done["chat"]["revision"])
    edited = cli.json("chats", "edit", chat, asked, "Where is order 8?", "--revision", seen)
    assert refused(cli, "chats", "regenerate", chat, "--revision", "99") == (
        *(4, "revision_conflict"),
    )
    cli.json("chats", "pick-up", edited["run"]["id"])
    later = cli.json("chats", "answer", edited["run"]["id"], "In Bruges.")
    assert contents(cli.json("chats", "show", chat)) == ["Where is order 8?", "In Bruges."]
    revision = str(later["chat"]["revision"])
    back = cli.json("chats", "switch", chat, asked, "--revision", revision)
    assert contents(back) == ["Where is order 7?", "In Ghent."]
    drawn = cli("chats", "show", chat).out
    assert "1 of 2" in drawn
    again = cli.json("chats", "regenerate", chat, "--revision", str(back["chat"]["revision"]))
    assert cli.json("chats", "stop", again["run"]["id"])["status"] == "stopped"
    assert refused(cli, "chats", "pick-up", again["run"]["id"]) == (4, "run_ended")
    assert [each["id"] for each in cli.json("chats", "list", "--user", "ada")["items"]] == [chat]
    assert cli.json("chats", "clear", chat)["active_leaf"] is None
    assert "deleted" in cli("chats", "delete", chat).out
    assert refused(cli, "chats", "show", chat) == (3, "not_found")


def test_a_host_prepares_tells_waits_and_stops(local: Cli, tmp_path: Path) -> None:
    cli = local
    chat = opened(cli)
    cli.json("chats", "note", chat, "form", "The form was saved.")
    cli.json("chats", "note", chat, "order", "Sent.")
    assert cli.json("chats", "note", chat, "order")["taken_back"] is True
    run = cli.json("chats", "send", chat, "Where is it?", "--client-id", "m1")["run"]["id"]
    same = cli.json("chats", "send", chat, "Where is it?", "--client-id", "m1")
    assert same["run"]["id"] == run
    cli.json("chats", "pick-up", run)
    prepared = cli.json("chats", "prepare", run)
    assert prepared["notes"] == ["[The form was saved.]"]
    drawn = cli("chats", "prepare", run).out
    assert "[The form was saved.]" in drawn
    assert cli.json("chats", "wait", run, "Somebody has to agree.")["status"] == "waiting"
    assert cli.json("chats", "resume", run)["status"] == "running"
    events = [{"type": "text.delta", "text": "In Ghe"}]
    file = written(tmp_path, events)
    assert cli.json("chats", "tell", run, file)["stop"] is False
    assert refused(cli, "chats", "tell", run, written(tmp_path, [{"type": "status"}]))[0] == 5
    assert cli.json("chats", "stop", run)["status"] == "stopping"
    assert cli.json("chats", "tell", run)["stop"] is True
    state = cli.json("chats", "run", run)
    assert state["blocks"] == [{"type": "text", "text": "In Ghe"}]
    assert "In Ghe" in cli("chats", "run", run).out
    told = cli.json("chats", "events", run, "--after", str(state["sequence"] - 2))["items"]
    assert [each["type"] for each in told] == ["text.delta", "status"]
    assert "text.delta" in cli("chats", "events", run).out
    said = [*prepared["asked"], {"role": "assistant", "content": "In Ghe"}]
    turn = {"messages": said, "fence": prepared["loaded"]["fence"]}
    answer = written(tmp_path, {"content": "In Ghe", "turns": [turn]})
    done = cli.json("chats", "answer", run, "--file", answer, "--stopped")
    assert (done["run"]["status"], done["answer"]["state"]) == ("stopped", "stopped")
    notes = cli.json("chats", "notes", chat)["items"]
    assert [(each["key"], each["told_at"] is not None) for each in notes] == [("form", True)]
    assert "told" in cli("chats", "notes", chat).out


def test_an_answer_is_rated_and_a_run_may_fail(local: Cli) -> None:
    cli = local
    chat = opened(cli)
    done = answered(cli, chat, "Where is order 7?", "In Ghent.")
    answer = done["answer"]["id"]
    rated = cli.json("chats", "rate", chat, answer, "down", "--comment", "It is in Bruges.")
    assert cli.json("chats", "ratings", chat)["items"] == [rated]
    assert "It is in Bruges." in cli("chats", "ratings", chat).out
    assert refused(cli, "chats", "rate", chat, answer, "maybe") == (5, "invalid_input")
    assert cli.json("chats", "rate", chat, answer, "none")["taken_back"] is True
    run = cli.json("chats", "send", chat, "And now?")["run"]["id"]
    failed = cli.json("chats", "fail", run, "No model answered.")
    assert (failed["run"]["status"], failed["answer"]) == ("failed", None)
    assert refused(cli, "chats", "answer", run, "Late.") == (4, "run_ended")
    assert refused(cli, "chats", "answer", run)[0] == 5


def test_a_host_finds_what_waits_and_may_pick_it_up_again(local: Cli) -> None:
    cli = local
    chat = opened(cli)
    run = cli.json("chats", "send", chat, "Where is it?")["run"]["id"]
    assert [each["id"] for each in cli.json("chats", "runs")["items"]] == [run]
    assert run in cli("chats", "runs", "--user", "ada").out
    first = cli.json("chats", "pick-up", run, "--by", "host-1")
    assert cli.json("chats", "pick-up", run, "--by", "host-1") == first
    assert refused(cli, "chats", "pick-up", run, "--by", "host-2") == (4, "conflict")
    assert cli.json("chats", "runs")["items"] == []
    assert cli.json("chats", "runs", "--status", "running")["items"] == [first]
    assert refused(cli, "chats", "runs", "--status", "busy") == (5, "invalid_input")
    cli.json("chats", "fail", run, "The model is away.")
    assert cli.json("chats", "show", chat)["last_run"]["reason"] == "The model is away."
    assert "failed: The model is away." in cli("chats", "show", chat).out


def test_a_field_that_an_answer_does_not_have_is_refused(local: Cli, tmp_path: Path) -> None:
    cli = local
    chat = opened(cli)
    run = cli.json("chats", "send", chat, "Where is it?")["run"]["id"]
    cli.json("chats", "pick-up", run)
    fence = cli.json("chats", "prepare", run)["loaded"]["fence"]
    turn = {"messages": [], "fence": fence}
    for wrong in (
        {"content": "In Ghent.", "turn": [turn]},
        {"content": "In Ghent.", "turns": [{**turn, "fences": 1}]},
        {"turns": [turn]},
        {"content": "In Ghent.", "stopped": "no"},
        {"content": None},
        ["In Ghent."],
    ):
        file = written(tmp_path, wrong)
        assert refused(cli, "chats", "answer", run, "--file", file) == (5, "invalid_input")
    file = written(tmp_path, {"content": "In Ghe", "stopped": True})
    assert cli.json("chats", "answer", run, "--file", file)["run"]["status"] == "stopped"


def test_what_is_not_there_is_not_found(local: Cli) -> None:
    opened(local)
    for words in (("show", NOBODY), ("notes", NOBODY), ("run", NOBODY)):
        assert refused(local, "chats", *words) == (3, "not_found")


def written(folder: Path, value: object) -> str:
    path = folder / "said.json"
    path.write_text(json.dumps(value), "utf-8")
    return str(path)


def test_a_chat_is_written_down_to_a_file_or_as_it_is(cli: Cli, tmp_path: Path) -> None:
    chat = opened(cli)
    answered(cli, chat, "Where is order 7?", "In Ghent.")
    target = str(tmp_path / "chat.jsonl")
    told = cli.json("chats", "export", chat, target)
    assert told == {"file": target, "lines": 6}
    text = Path(target).read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["content"] for line in lines if line.get("kind") == "message"] == [
        *("Where is order 7?", "In Ghent."),
    ]
    assert lines[-1]["kind"] == "end"
    assert cli("chats", "export", chat).out == text
    assert refused(cli, "chats", "export", chat, target) == (4, "conflict")
    assert cli("chats", "export", chat, target, "--force").code == 0
    assert refused(cli, "chats", "export", NOBODY) == (3, "not_found")


def test_a_chat_is_found_by_the_workflow_that_it_stands_for(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    made = cli.json("chats", "create", "--user", "ada", "--workflow", "orders/7")
    cli.json("chats", "create", "--user", "ada", "--workflow", "orders/8")
    assert cli.json("chats", "list", "--workflow", "orders/7")["items"] == [made]
    assert cli.json("chats", "list", "--workflow", "orders")["items"] == []


def test_a_run_that_is_in_the_way_is_named_with_the_commands_that_end_it(cli: Cli) -> None:
    chat = opened(cli)
    run = cli.json("chats", "send", chat, "Where is it?")["run"]["id"]
    cli.json("chats", "pick-up", run)
    for told in (cli("chats", "send", chat, "And?").err, _problem(cli, chat)):
        line = " ".join(told.split())
        assert f"The run {run} of this chat is running" in line
        for ends in (f"stop {run}", f"fail {run} REASON", f"answer {run} TEXT --stopped"):
            assert f"`memoranda chats {ends}`" in line
        assert "run_id" not in line
    cli.json("chats", "stop", run)
    assert "or stop it" not in _problem(cli, chat)
    cli.json("chats", "answer", run, "As far as.", "--stopped")
    cli.json("chats", "send", chat, "And?")


def _problem(cli: Cli, chat: str) -> str:
    return str(json.loads(cli("chats", "send", chat, "And?", "--json").err)["detail"])
