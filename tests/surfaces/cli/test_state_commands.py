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
    assert cli("state", "show", "no.kind", "1").code == 3
    assert cli("state", "show", "crm.company", " ").code == 5


def test_without_projections_there_is_nothing_and_the_setting_is_named(cli: Cli) -> None:
    assert cli.json("state", "kinds") == {"items": []}
    assert "MEMORANDA_STATE" in cli("state", "kinds").out


def test_a_file_that_declares_what_is_not_there_is_told(cli: Cli, sample: Path) -> None:
    text = sample.read_text("utf-8")
    more = '\n[[projection]]\nkind = "a.b"\ntable = "nowhere"\ntenant = "o"\ncolumns = ["n"]\n'
    sample.write_text(text + more, "utf-8")
    ended = cli("state", "kinds")
    assert ended.code == 5
    assert "nowhere" in ended.err
