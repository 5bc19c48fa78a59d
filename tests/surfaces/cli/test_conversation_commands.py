"""Every command about conversations, on both backends: what is kept, shown, refused and deleted."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, refused

ODD = [
    {"type": "text", "text": "Let me look. \u202e"},
    {"type": "tool_call", "id": "c1", "name": "look", "arguments": '{"q": "Ghent'},
    {"type": "made_up", "z": 1, "a": {"y": None, "b": [True, 1.5]}},
]


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def said(role: str, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


def written(folder: Path, value: object) -> str:
    path = folder / "list.json"
    path.write_text(json.dumps(value), "utf-8")
    return str(path)


def long(cli: Cli, folder: Path) -> str:
    """The id of a conversation that has something to compact."""
    talk = str(cli.json("conversations", "create", "--workflow", "support")["id"])
    turns = [said("user", "Where is Ghent? " * 300), said("assistant", "In Flanders. " * 300)]
    file = written(folder, [*turns, said("user", "And Bruges?"), said("assistant", "There too.")])
    cli.json("conversations", "append", talk, "--file", file)
    return talk


def test_a_list_is_loaded_saved_and_shown_to_the_last_key(cli: Cli, tmp_path: Path) -> None:
    key = ("--workflow", "support")
    assert cli("conversations", "load", *key).code in {0, 3}  # there may be no database yet
    cli.json("users", "create", "Ada", "--external-id", "ada")
    loaded = cli.json("conversations", "load", *key)
    assert (loaded["messages"], loaded["conversation"]) == ([], None)
    loaded["messages"] = [said("user", "Hello"), said("assistant", ODD)]
    saved = cli.json("conversations", "save", written(tmp_path, loaded), *key, "--user", "ada")
    assert (saved["length"], saved["workflow_id"]) == (2, "support")
    raw = cli("conversations", "show", saved["id"], "--raw").out
    lines = [json.loads(line) for line in raw.splitlines()]
    assert [line["content"] for line in lines] == ["Hello", ODD]
    assert json.dumps(lines[1]["content"]) == json.dumps(ODD)
    assert "\u202e" not in raw
    shown = cli("conversations", "show", saved["id"]).out
    assert "Hello" in shown
    again = cli.json("conversations", "load", saved["id"])
    assert [each["role"] for each in again["messages"][:2]] == ["user", "assistant"]


def test_what_somebody_else_appended_meanwhile_is_not_written_over(
    cli: Cli, tmp_path: Path
) -> None:
    talk = str(cli.json("conversations", "create", "--workflow", "support")["id"])
    loaded = cli.json("conversations", "load", talk)
    cli.json("conversations", "append", talk, "Theirs.")
    loaded["messages"] = [said("user", "Mine.")]
    refused_save = cli("conversations", "save", written(tmp_path, loaded), "--conversation", talk)
    assert refused_save.code != 0
    shown = cli.json("conversations", "show", talk)["messages"]
    assert [each["content"] for each in shown] == ["Theirs."]
    again = cli.json("conversations", "load", talk)
    again["messages"].append(said("user", "Mine."))
    saved = cli.json("conversations", "save", written(tmp_path, again), "--conversation", talk)
    assert saved["length"] == 2


def test_what_was_loaded_before_a_clearing_is_not_saved_after_it(cli: Cli, tmp_path: Path) -> None:
    talk = str(cli.json("conversations", "create", "--workflow", "support")["id"])
    cli.json("conversations", "append", talk, "Hello")
    loaded = cli.json("conversations", "load", talk)
    cleared = cli.json("conversations", "clear", talk)
    assert (cleared["length"], cleared["fence"]) == (0, loaded["fence"] + 1)
    file = written(tmp_path, loaded)
    words = ("conversations", "save", file, "--conversation", talk)
    assert refused(cli, *words) == (4, "late_save")
    assert cli.json("conversations", "show", talk)["messages"] == []
    alone = written(tmp_path, loaded["messages"])
    assert refused(cli, "conversations", "save", alone, "--conversation", talk) == (
        *(5, "invalid_input"),
    )
    fence = str(cleared["fence"])
    saved = cli.json("conversations", "save", alone, "--conversation", talk, "--fence", fence)
    assert saved["length"] == 1


def test_a_workflow_goes_on_in_its_next_generation_and_is_listed_by_it(cli: Cli) -> None:
    key = ("--workflow", "support")
    talk = cli.json("conversations", "create", *key)["id"]
    cli.json("conversations", "append", talk, "Hello")
    other = cli.json("conversations", "create", "--workflow", "sales")["id"]
    early = ("conversations", "create", *key, "--generation", "2")
    assert refused(cli, *early) == (4, "later_generation")
    assert cli.json("conversations", "generation", "support")["generation"] == 1
    done = cli.json("conversations", "reset", "support")
    assert (done["generation"], done["conversations"]) == (2, 1)
    assert cli.json("conversations", "generation", "support")["generation"] == 2
    assert card(cli("conversations", "generation", "support"))["generation"] == "2"
    assert refused(cli, "conversations", "append", talk, "Late") == (4, "older_generation")
    newer = cli.json("conversations", "create", *key, "--generation", "2")["id"]
    listed = cli.json("conversations", "list", *key)["items"]
    assert [each["id"] for each in listed] == [newer, talk]
    assert other in {each["id"] for each in cli.json("conversations", "list")["items"]}
    assert cli.json("conversations", "purge", *key)["conversations"] == 2
    assert cli.json("conversations", "list", *key)["items"] == []
    assert cli.json("conversations", "purge", other)["conversations"] == 1
    assert refused(cli, "conversations", "show", other) == (3, "not_found")


def test_earlier_turns_are_compacted_and_read_in_the_history(cli: Cli, tmp_path: Path) -> None:
    talk = long(cli, tmp_path)
    full = cli.json("conversations", "pressure", talk, "--window", "1000", "--room", "100")
    assert full["share"] > 1
    fits = ("conversations", "compact", talk, "--window", "900000")
    assert "Nothing is due" in cli(*fits).out
    assert cli.json(*fits) == {"due": None, "compaction": None, "reason": None}
    over = ("conversations", "compact", talk, "--window", "1000", "--keep-turns", "2")
    ended = cli(*over)
    assert ended.code == 10
    assert "nothing can be compacted" in ended.out
    assert "of the latest turns" in ended.out
    told = cli(*over, "--json")
    assert (told.code, told.json["due"], told.json["compaction"]) == (10, "window", None)
    assert "of the latest turns" in told.json["reason"]
    cli.json("conversations", "pin", talk, "2")
    assert cli.json("conversations", "show", talk)["messages"][1]["pinned"]
    cli.json("conversations", "unpin", talk, "2")
    found = cli.json("conversations", "compact", talk, "--window", "1000")
    made = found["compaction"]
    assert (found["due"], found["reason"]) == ("window", None)
    assert (made["status"], made["cause"]) == ("activated", "window")
    assert made["tokens_after"] < made["tokens_before"]
    assert [each["id"] for each in cli.json("conversations", "attempts", talk)["items"]] == [
        made["id"]
    ]
    history = cli.json("conversations", "history", talk)["items"]
    assert [each["position"] for each in history] == [1, 2]
    assert "Where is Ghent?" in cli("conversations", "history", talk).out
    assert refused(cli, "conversations", "compact", talk, "--keep-turns", "9") == (
        *(4, "nothing_to_compact"),
    )


def test_a_list_that_ends_early_says_how_to_go_on(cli: Cli, tmp_path: Path) -> None:
    talk = str(cli.json("conversations", "create")["id"])
    turns = [said("user", f"line {number}.") for number in range(1, 103)]
    cli.json("conversations", "append", talk, "--file", written(tmp_path, turns))
    ended = cli("conversations", "show", talk)
    assert "line 100." in ended.out
    assert "line 101." not in ended.out
    assert "There are more: add --after 100" in ended.out
    assert cli.json("conversations", "show", talk)["next_after"] == 100
    raw = cli("conversations", "show", talk, "--raw")
    assert len([json.loads(line) for line in raw.out.splitlines()]) == 100
    assert "There are more: add --after 100" in raw.err
    for more in (("--after", "100"), ("--limit", "102")):
        for how in ((), ("--raw",)):
            last = cli("conversations", "show", talk, *more, *how)
            assert "line 102." in last.out
            assert "There are more" not in last.out + last.err
        assert cli.json("conversations", "show", talk, *more)["next_after"] is None


def test_a_talk_that_is_too_short_is_refused_and_no_failure(cli: Cli) -> None:
    talk = str(cli.json("conversations", "create")["id"])
    for words in ("Hello.", "Again."):
        cli.json("conversations", "append", talk, words)
    assert refused(cli, "conversations", "compact", talk) == (4, "nothing_to_compact")
    assert cli.json("conversations", "attempts", talk)["items"] == []


def test_usage_is_recorded_once_a_call_and_added_up(cli: Cli, tmp_path: Path) -> None:
    talk = long(cli, tmp_path)
    used = ("--provider", "anthropic", "--model", "m", "--input", "10", "--output", "2")
    for _ in range(2):
        cli.json("conversations", "record-usage", talk, *used, "--call", "a")
    cli.json("conversations", "record-usage", talk, *used, "--cost-micros", "1500000")
    for words in ((talk,), ("--workflow", "support"), ()):
        found = cli.json("conversations", "usage", *words)
        assert (found["calls"], found["input_tokens"], found["cost_micros"]) == (2, 20, 1_500_000)
    assert "1.500000" in cli("conversations", "usage", talk).out
    wrong = ("conversations", "record-usage", talk, *used[:4], "--input", "-1")
    assert refused(cli, *wrong) == (5, "invalid_input")


def test_a_conversation_is_named_in_one_way(cli: Cli, tmp_path: Path) -> None:
    talk = str(cli.json("conversations", "create", "--workflow", "support")["id"])
    file = written(tmp_path, {"messages": [], "fence": 0})
    for words in (
        ("load",),
        ("load", talk, "--workflow", "support"),
        ("load", talk, "--agent", "clerk"),
        ("clear",),
        ("save", file),
        ("save", written(tmp_path, {"messages": []}), "--workflow", "support"),
        ("purge",),
        ("purge", talk, "--workflow", "support"),
        ("usage", talk, "--workflow", "support"),
        ("list", "--workflow", "support", "--user", "ada"),
    ):
        assert refused(cli, "conversations", *words) == (5, "invalid_input"), words
    for words in (("load", NOBODY), ("clear", NOBODY), ("purge", NOBODY), ("compact", NOBODY)):
        assert refused(cli, "conversations", *words) == (3, "not_found"), words
    assert card(cli("conversations", "clear", "--workflow", "support"))["cleared"] == talk


def test_what_is_kept_of_each_runtime_is_told(local: Cli) -> None:
    rows = local.json("conversations", "fidelity")["items"]
    shown = local("conversations", "fidelity").out
    assert len(rows) == 8
    assert all(each["name"].split()[0] in shown for each in rows)
