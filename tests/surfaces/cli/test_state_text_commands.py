"""The commands of the dossier and of definitions, on both backends: what is shown, and how they end."""

import json
from pathlib import Path

import pytest

from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, refused


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def written(path: Path, stated: object) -> str:
    path.write_text(json.dumps(stated), "utf-8")
    return str(path)


def test_a_dossier_is_written_from_a_file_and_shown_as_it_is_told(cli: Cli, tmp_path: Path) -> None:
    assert "Nothing is written yet." in cli("dossier", "show").out
    stated = {"company": {"name": "Acme"}, "offers": [{"name": "Tea", "description": "Green."}]}
    file = written(tmp_path / "dossier.json", stated)
    assert card(cli("dossier", "set", file)) == {"dossier": "written", "version": "1"}
    shown = cli("dossier", "show").out
    assert "Acme" in shown
    assert "Tea: Green." in shown
    page = cli.json("dossier", "show")
    assert [fact["body"] for fact in page["facts"]] == ["Acme", "Tea: Green."]
    # What was shown can be changed and written back, and only over what was read.
    page["offers"].append({"name": "Milk"})
    again = written(tmp_path / "again.json", page)
    assert cli.json("dossier", "set", again)["version"] == 2
    assert refused(cli, "dossier", "set", again) == (4, "conflict")
    assert "dossier" in cli.json("brief", "-q", "tea")["text"]


def test_a_users_section_is_written_and_shown_for_that_user(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    section = cli.json("dossier", "set-user", "ada", "Works in sales.")
    assert (section["text"], section["version"]) == ("Works in sales.", 1)
    assert "Works in sales." in cli("dossier", "show", "--user", "ada").out
    assert "Works in sales." not in cli("dossier", "show").out
    assert card(cli("dossier", "set-user", "ada", ""))["version"] == "2"
    assert "Works in sales." not in cli("dossier", "show", "--user", "ada").out
    assert refused(cli, "dossier", "set-user", "nobody", "x") == (3, "not_found")
    assert refused(cli, "dossier", "show", "--user", "nobody") == (3, "not_found")


@pytest.mark.parametrize(
    "stated",
    [
        [],
        {"company": {"nam": "x"}},
        {"offers": [{"description": "x"}]},
        {"services": [{"name": " "}]},
        {"version": "1"},
        {"version": True},
        {"version": -1},
        {"company": {"name": 5}},
    ],
)
def test_a_file_that_states_no_dossier_is_refused(
    local: Cli, tmp_path: Path, stated: object
) -> None:
    file = written(tmp_path / "dossier.json", stated)
    assert refused(local, "dossier", "set", file) == (5, "invalid_input")
    assert local.json("dossier", "show")["version"] == 0


def test_a_definition_is_made_published_and_removed(cli: Cli, tmp_path: Path) -> None:
    assert "There is no definition yet." in cli("definitions", "list").out
    cli.json("agents", "create", "clerk")
    nodes = written(tmp_path / "nodes.json", [{"id": "keep", "tools": ["remember"]}])
    made = cli.json("definitions", "create", "workflow", "intake", "--nodes", nodes)
    assert (made["name"], made["published_at"]) == ("intake", None)
    assert refused(cli, "definitions", "publish", made["id"]) == (5, "writer_needs_an_agent")
    made["nodes"][0]["agent"] = "clerk"
    made["summary"] = "Takes orders."
    file = written(tmp_path / "intake.json", made)
    assert cli.json("definitions", "update", made["id"], file)["version"] == 2
    assert refused(cli, "definitions", "update", made["id"], file) == (4, "conflict")
    assert cli.json("definitions", "unpublish", made["id"])["published_at"] is None
    assert cli.json("definitions", "publish", made["id"])["published_at"] is not None
    shown = cli("definitions", "show", made["id"]).out
    assert all(part in shown for part in ("everybody", "keep", "clerk", "remember"))
    assert "Takes orders." in cli("definitions", "list").out
    assert cli.json("definitions", "list", "--kind", "skill")["items"] == []
    assert "Workflow intake: Takes orders." in cli.json("brief", "-q", "orders")["text"]
    assert card(cli("definitions", "remove", made["id"])) == {"removed": made["id"]}
    assert refused(cli, "definitions", "show", made["id"]) == (3, "not_found")


def test_a_definition_for_some_names_them(cli: Cli) -> None:
    ada = cli.json("users", "create", "Ada", "--external-id", "ada")["id"]
    clerk = cli.json("agents", "create", "clerk")["id"]
    create = ("definitions", "create", "agent", "clerk", "--agent", "clerk")
    made = cli.json(*create, "--for-user", "ada", "--for-agent", "clerk")
    assert made["viewers"] == {"user_ids": [ada], "agent_ids": [clerk]}
    assert made["agent_id"] == clerk
    assert refused(cli, *create) == (4, "conflict")
    assert refused(cli, "definitions", "create", "agent", "x") == (5, "invalid_input")
    other = ("definitions", "create", "skill", "x", "--for-user")
    assert refused(cli, *other, "nobody") == (3, "not_found")
    assert refused(cli, "definitions", "publish", NOBODY) == (3, "not_found")
    assert cli("definitions", "show", "x").code == 2


def test_a_document_is_described_as_the_dossier_tells_it(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tea.md"
    path.write_text("# Tea\n\nOolong takes three minutes.\n", "utf-8")
    source = cli.json("knowledge", "add", str(path))["id"]
    described = card(cli("knowledge", "describe", source, "How tea is made."))
    assert described == {"described": source, "summary": "How tea is made."}
    assert "tea.md: How tea is made." in cli("dossier", "show").out
    assert cli.json("knowledge", "describe", source, "")["summary"] is None
    assert refused(cli, "knowledge", "describe", NOBODY, "x") == (3, "not_found")
