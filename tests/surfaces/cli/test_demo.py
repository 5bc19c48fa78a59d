"""The demo shows the product whole, offline, and leaves nothing behind."""

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.surfaces.cli import demo
from tests.surfaces.cli.terminal import Ended, finished


@pytest.fixture(scope="module")
def shown() -> Ended:
    """The demo as a script sees it; offline, because no test can reach another machine."""
    return finished("demo", "--json")


@pytest.fixture
def value(shown: Ended) -> Any:
    assert shown.code == 0, shown.err
    return shown.json


def test_the_demo_takes_in_the_projects_own_documentation(value: Any) -> None:
    titles = {each["title"] for each in value["documents"]}
    assert titles == {"README.md", *demo.GUIDES}
    assert {each["status"] for each in value["documents"]} == {"ready"}


def test_the_demo_keeps_within_its_budget_and_drops_something(value: Any) -> None:
    brief = value["brief"]
    assert 0 < brief["tokens"] <= demo.BUDGET
    outcomes = {each["outcome"] for each in brief["explain"]}
    assert "kept" in outcomes
    assert outcomes & {"over_source_budget", "over_total_budget"}
    assert any(
        each["source"] == "knowledge" and each["outcome"] == "kept" for each in brief["explain"]
    )


def test_the_demo_tells_what_is_current_and_nothing_forgotten(value: Any) -> None:
    text = value["brief"]["text"]
    assert "three sentences" in text
    assert "of one page" not in text
    assert "kestrel" not in text


def test_the_demo_finds_by_meaning_and_recalls_nothing_that_waits(value: Any) -> None:
    [found] = value["search"]["results"]
    assert found["memory"]["text"] == "Releases are made on Thursdays."
    assert found["match"]["meaning"] > 0.55
    assert "Thursdays" in value["recall"]["block"]
    assert "holiday" not in value["recall"]["block"] + value["brief"]["text"]


def test_the_demo_tells_of_a_deal_what_its_application_says(value: Any) -> None:
    text = value["brief_of_a_deal"]["text"]
    assert "[crm.deal:deal-fleet] stage: negotiation" in text
    assert "[crm.company:co-harbor] name: Harbor Couriers" in text
    assert "works council" in text


def test_a_person_sees_why_something_was_dropped() -> None:
    ended = finished("demo")
    assert ended.code == 0, ended.err
    assert "Dropped, and why" in ended.out
    assert "Budget" in ended.out


def test_the_demo_leaves_no_file_behind(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    ended = finished("demo", TMPDIR=str(tmp_path), HOME=str(data), XDG_DATA_HOME=str(data))
    assert ended.code == 0, ended.err
    assert list(tmp_path.rglob("*.db")) == []


def test_packed_documentation_is_found_when_there_is_no_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib" / "memoranda"
    (package / demo.PACKAGED / "docs").mkdir(parents=True)
    (package / demo.PACKAGED / "README.md").write_text("# Packed", "utf-8")
    monkeypatch.setattr(memoranda, "__file__", str(package / "__init__.py"))
    assert demo.pages() == [("README.md", b"# Packed")]


def test_the_last_lines_work_from_where_the_demo_was_started() -> None:
    last = finished("demo").out.strip().splitlines()[-4:]
    assert last == [
        "memoranda knowledge add FILE",
        "memoranda remember TEXT",
        "memoranda memories search WORDS",
        "memoranda brief QUESTION",
    ]
    from_a_checkout = finished("demo", DEV_SCRIPT="./dev").out.strip().splitlines()[-4:]
    assert from_a_checkout == [f"./dev run {line}" for line in last]


def test_the_script_of_a_checkout_says_how_it_was_called() -> None:
    script = (Path(memoranda.__file__).parents[2] / "dev").read_text("utf-8")
    assert f"{demo.STARTED_BY}=$self exec .venv/bin/memoranda demo" in script
