"""Every command about what agents are told: what is shown, in words and not in color alone, and how it ends."""

from pathlib import Path

import pytest

from memoranda.files.body import hash_of
from tests.surfaces.cli.serving import serving
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, refused

LONG = "".join(f"Rule {at}: keep it short.\n" for at in range(1_500))


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


@pytest.fixture
def draft(tmp_path: Path) -> str:
    path = tmp_path / "draft.md"
    path.write_text(LONG, "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("body", "said"),
    [("x" * 5_396, "under"), ("x" * 5_400, "near the cap"), ("x" * 6_001, "over the cap")],
)
def test_each_state_is_said_in_words(cli: Cli, tmp_path: Path, body: str, said: str) -> None:
    path = tmp_path / "voice.md"
    path.write_text(body)
    shown = card(cli("load", "file", "voice", "--body", str(path)))
    assert shown["state"].endswith(f" {said}")
    assert shown["text"] == "not saved"


def test_what_is_skipped_is_said_in_characters_and_lines_and_marked_in_the_preview(
    cli: Cli, draft: str
) -> None:
    words = ("load", "file", "voice", "--body", draft)
    report = cli.json(*words)
    skipped = report["skipped"]
    shown = cli(*words, "--preview").out
    lines = f"lines {skipped['first_line']} to {skipped['last_line']}"
    assert f"{report['skipped_chars']} characters, {lines}" in shown
    assert f"──── skipped: {lines}, {report['skipped_chars']} characters ────" in shown
    assert "──── end of what is skipped ────" in shown
    assert "Rule 1: keep it short." in shown
    assert "Rule 1499: keep it short." in shown
    assert report["preview"] is None
    assert len(cli.json(*words, "--preview")["preview"]) == 3


def test_standard_input_is_measured_too(cli: Cli) -> None:
    shown = cli("load", "file", "voice", "--body", "-", typed="Пишите коротко.".encode())
    assert card(shown)["used"] == "7 of 1500 tokens"
    assert cli("load", "file", "voice", "--body", "-", typed=b"\xff").code == 5


def test_a_whole_agent_is_shown_with_all_fourteen_segments_and_whether_its_last_run_agrees(
    cli: Cli,
) -> None:
    agent = cli.json("agents", "create", "scout")
    shown = cli("load", "agent", "scout").out
    labels = ("Identity", "Role", "Notes", "Capabilities", "Operating loop", "Workspace context")
    labels += ("Memory facts", "Tools", "Skills", "Scope prompts", "Scope context")
    labels += ("Recent activity", "Recent runs", "Output contract")
    assert all(label in shown for label in labels)
    assert "of 17000 tokens" in shown
    assert "No run of this agent was told anything yet." in shown
    run = cli.json("runs", "create", "--agent", agent["id"])
    told = cli.json("load", "assemble", run["id"])
    assert told["built"]
    assert f"The last run, {run['id']}, agrees" in cli("load", "agent", "scout").out
    cli.json("load", "capabilities", "scout", "--text", "x", "--skills-cap", "0")
    skill = cli.json("definitions", "create", "skill", "letters", "--name", "Letters")
    cli.json("load", "bind", "scout", skill["id"])
    cli.json("definitions", "publish", skill["id"])
    assert "differs in: skills" in cli("load", "agent", "scout").out
    assert len(cli.json("load", "agent", "scout")["load"]["segments"]) == 14


def test_what_a_run_was_told_is_shown_with_its_files_and_on_wish_its_text(cli: Cli) -> None:
    cli.json("agents", "create", "scout")
    run = cli.json("runs", "create", "--agent", "scout")["id"]
    assert refused(cli, "load", "run", run) == (3, "not_found")
    assert "<memoranda-tools>" in cli("load", "assemble", run).out
    assert not cli.json("load", "assemble", run)["built"]
    assert cli.json("load", "assemble", run, "--refresh")["built"]
    shown = cli("load", "run", run)
    assert "about-you at 1" in shown.out
    assert "<memoranda-tools>" not in shown.out
    assert "<memoranda-tools>" in cli("load", "run", run, "--text").out
    assert refused(cli, "load", "assemble", NOBODY) == (3, "not_found")


def test_a_query_that_is_not_used_is_said_to_be(cli: Cli) -> None:
    cli.json("agents", "create", "scout")
    run = cli.json("runs", "create", "--agent", "scout")["id"]
    words = ("load", "assemble", run, "--query")
    assert "--query was not used" not in cli(*words, "milk").out
    again = cli(*words, "tea").out
    assert "--query was not used" in again
    assert "--refresh" in again
    plain = cli("load", "assemble", run).out
    assert "told this before" in plain
    assert "--query" not in plain
    assert "told this before" not in cli(*words, "tea", "--refresh").out


def test_the_hash_of_a_text_that_is_not_saved_is_told_apart(cli: Cli, draft: str) -> None:
    shown = card(cli("load", "file", "voice", "--body", draft))
    assert shown["hash"] == cli.json("files", "show", "voice")["hash"] == hash_of("")
    assert shown["hash of this text"] == hash_of(LONG)
    saved = card(cli("load", "file", "voice"))
    assert saved["hash"] == hash_of("")
    assert "hash of this text" not in saved


def test_what_is_kept_of_an_agent_is_changed_field_by_field(cli: Cli) -> None:
    cli.json("agents", "create", "scout")
    said = ("load", "capabilities", "scout")
    assert cli.json(*said)["skills_cap"] is None
    assert cli.json(*said, "--text", "Reads mail.")["capabilities"] == "Reads mail."
    kept = cli.json(*said, "--skills-cap", "6000")
    assert (kept["capabilities"], kept["skills_cap"]) == ("Reads mail.", 6_000)
    assert cli.json(*said, "--skills-cap", "default")["skills_cap"] is None
    assert refused(cli, *said, "--skills-cap", "many") == (5, "invalid_input")
    assert refused(cli, *said, "--skills-cap", "9000") == (5, "invalid_input")
    assert "Reads mail." in cli(*said).out


def test_a_skill_is_made_with_its_own_text(cli: Cli, draft: str) -> None:
    made = cli.json("definitions", "create", "skill", "letters", "--body", draft)
    assert made["body"] == LONG
    shown = card(cli("definitions", "show", made["id"]))
    assert shown["body"] == f"{len(LONG)} characters"


def test_skills_are_bound_listed_and_taken_away(cli: Cli) -> None:
    cli.json("agents", "create", "scout")
    skill = cli.json("definitions", "create", "skill", "letters", "--name", "Letters")["id"]
    assert "bound to no skill" in cli("load", "skills", "scout").out
    bound = cli.json("load", "bind", "scout", skill, "--priority", "5")["items"]
    assert [(each["slug"], each["priority"], each["published"]) for each in bound] == [
        ("letters", 5, False)
    ]
    assert "Letters" in cli("load", "skills", "scout").out
    assert cli.json("load", "unbind", "scout", skill)["items"] == []
    assert refused(cli, "load", "unbind", "scout", skill) == (3, "not_found")


def test_a_message_for_an_agent_is_printed_with_what_rides_along(cli: Cli) -> None:
    cli.json("agents", "create", "scout")
    shown = cli("load", "ask", "NOTES.md", "--agent", "scout").out
    assert "Please update your file “Notes” (NOTES.md)." in shown
    assert "update_notes" in shown
    assert refused(cli, "load", "ask", "nothing") == (3, "unknown_file")


def test_what_the_command_prints_is_what_the_api_answers(local: Cli) -> None:
    local.json("agents", "create", "scout")
    key = local.json("keys", "create", "--role", "owner")["key"]
    run = local.json("runs", "create", "--agent", "scout")["id"]
    local.json("load", "assemble", run)
    printed = {
        f"/v1/runs/{run}/instructions": local.json("load", "run", run),
        "/v1/agents/scout/instructions": local.json("load", "capabilities", "scout"),
        "/v1/agents/scout/context-load": local.json("load", "agent", "scout"),
        "/v1/context-files/voice/load-report": local.json("load", "file", "voice"),
        "/v1/context-files/voice/ask": local.json("load", "ask", "voice"),
    }
    with serving(local.db, key) as server:
        for route, document in printed.items():
            answered = server.get(route)
            for each in (answered, document):
                each.pop("measured_at", None)
            assert answered == document, route
