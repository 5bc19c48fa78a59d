"""The commands about an application's rows, on both of our backends."""

from pathlib import Path

import pytest

from memoranda.state.sample.store import COMPANY, make_company
from tests.surfaces.cli.terminal import Cli


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small company of the demonstration, declared by the setting."""
    declared = make_company(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    monkeypatch.setenv("MEMORANDA_STATE", str(declared))
    return declared


def test_kinds_are_listed_with_their_columns(cli: Cli, sample: Path) -> None:
    assert sample.is_file()
    kinds = {each["kind"]: each for each in cli.json("state", "kinds")["items"]}
    assert len(kinds) == 8
    assert kinds["prospect"]["columns"][0] == "review_state"
    assert "intelligence.person" in cli("state", "kinds").out


def test_a_row_is_shown_as_a_brief_would_be_told_of_it(cli: Cli, sample: Path) -> None:
    assert sample.is_file()
    row = cli.json("state", "show", "crm.company", COMPANY)
    assert row["ref"] == {"kind": "crm.company", "id": COMPANY, "label": "Harbor Couriers"}
    assert {"column": "country", "value": "Portugal"} in row["fields"]
    assert "Harbor Couriers" in cli("state", "show", "crm.company", COMPANY).out


def test_a_row_that_is_not_there_is_not_found(cli: Cli, sample: Path) -> None:
    assert sample.is_file()
    ended = cli("state", "show", "crm.company", "nobody")
    assert ended.code == 3
    assert "external id" in ended.err
    undeclared = cli("state", "show", "no.kind", "1")
    assert undeclared.code == 3
    assert "'no.kind'" in undeclared.err
    assert "crm.company" in undeclared.err
    assert cli("state", "show", "crm.company", " ").code == 5


def test_without_projections_there_is_nothing_and_the_setting_is_named(cli: Cli) -> None:
    assert cli.json("state", "kinds") == {"items": []}
    assert "MEMORANDA_STATE" in cli("state", "kinds").out
    assert "MEMORANDA_STATE" in cli("state", "show", "crm.company", "1").err


def test_a_memory_is_about_a_row_and_shows_it(cli: Cli, sample: Path) -> None:
    assert sample.is_file()
    row = f"crm.company:{COMPANY}"
    made = cli.json("remember", "They pay late.", "--about", row)
    assert (made["subject_refs"][0]["id"], made["hint"]) == (COMPANY, None)
    for shown in (cli("memories"), cli("memories", "show", made["id"])):
        assert row in shown.out
    named = cli.json("remember", "Late.", "--about", row, "--attribute", "observation.paying")
    assert f"{row}, observation.paying" in cli("memories", "show", named["id"]).out
    assert cli("remember", "They pay late.", "--about", "crm.company").code == 5


def test_what_is_about_a_kind_that_nobody_declared_says_so(cli: Cli, sample: Path) -> None:
    assert sample.is_file()
    told = cli("remember", "Widget 7 is blue.", "--about", "crm.widget:7").out
    assert "Nobody declared the kind crm.widget" in told
    (memory,) = cli.json("memories")["items"]
    assert "crm.widget" in memory["hint"]
    shown = cli("memories", "show", memory["id"]).out
    assert "crm.widget:7" in shown
    assert "Nobody declared the kind crm.widget" in shown


def test_a_brief_about_a_kind_that_nobody_declared_says_so(cli: Cli, sample: Path) -> None:
    assert sample.is_file()
    odd = cli("brief", "Who pays?", "--entity", "crm.widget:7").out
    assert "No projection declares the kind 'crm.widget'" in odd
    assert "declares" not in cli("brief", "Who pays?", "--entity", f"crm.company:{COMPANY}").out


def test_a_file_that_declares_what_is_not_there_is_told(cli: Cli, sample: Path) -> None:
    text = sample.read_text("utf-8")
    more = '\n[[projection]]\nkind = "a.b"\ntable = "nowhere"\ntenant = "o"\ncolumns = ["n"]\n'
    sample.write_text(text + more, "utf-8")
    ended = cli("state", "kinds")
    assert ended.code == 5
    assert "nowhere" in ended.err


def test_the_doctor_says_whether_the_applications_database_answers(cli: Cli, sample: Path) -> None:
    def found() -> list[tuple[bool, str]]:
        checks = cli("doctor", "--json").json["checks"]
        return [(c["ok"], c["detail"]) for c in checks if c["name"] == "application_database"]

    assert [ok for ok, _ in found()] == [True]
    host = sample.parent / "crm.db"
    aside = host.rename(host.with_suffix(".aside"))
    [(ok, detail)] = found()
    assert (ok, "can't be read" in detail) == (False, True)
    assert cli("doctor").code == 10
    assert cli("state", "kinds").code == 0
    assert cli("state", "show", "crm.company", COMPANY).code == 9
    assert "Harbor" not in cli("brief", "Who pays?", "--entity", f"crm.company:{COMPANY}").out
    aside.rename(host)
    assert [ok for ok, _ in found()] == [True]
