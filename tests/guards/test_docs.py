"""The documentation and the code say the same."""

import re
from collections import Counter
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from docs import reference
from memoranda.settings import Settings
from memoranda.surfaces.http.app import ROOMS
from tests.guards.source import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_made_page_is_what_the_code_would_write(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == reference.PAGES[name](), "run ./dev docs"


def test_every_setting_is_documented_and_every_documented_setting_exists() -> None:
    documented = set(re.findall(r"^\| `(MEMORANDA_\w+)`", page("settings.md"), re.MULTILINE))
    assert documented == {f"MEMORANDA_{name.upper()}" for name in Settings.model_fields}


def test_every_error_code_is_documented_and_every_documented_code_exists() -> None:
    documented = set(re.findall(r"^\| `(\w+)`", page("errors.md"), re.MULTILINE))
    assert documented == {error.code for error in reference.errors()}


def test_every_route_is_documented_and_every_documented_route_exists() -> None:
    documented = set(re.findall(r"^### `(\w+ /\S*)`", page("http.md"), re.MULTILINE))
    served = {
        f"{method} {route.path}"
        for room in ROOMS
        for route in room.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    assert documented == served


def test_every_error_has_a_code_of_its_own() -> None:
    codes = Counter(error.code for error in reference.errors())
    assert not [code for code, count in codes.items() if count > 1]
    assert not [
        error for error in reference.errors() if not re.fullmatch("[a-z][a-z_]+", error.code)
    ]


def test_no_page_names_a_setting_that_does_not_exist() -> None:
    known = {f"MEMORANDA_{name.upper()}" for name in Settings.model_fields}
    assert not {
        path.relative_to(ROOT).as_posix(): unknown
        for path in pages()
        if (
            unknown := set(re.findall(r"\bMEMORANDA_[A-Z][A-Z_]*\b", path.read_text("utf-8")))
            - known
        )
    }


def test_every_link_between_pages_leads_somewhere() -> None:
    assert not [
        f"{path.relative_to(ROOT)}: {target}"
        for path in pages()
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text("utf-8"))
        if "://" not in target and not (path.parent / target).exists()
    ]


def test_every_word_has_one_meaning_in_one_place() -> None:
    words = Counter(re.findall(r"^\| ([^|]+) \|", page("words.md"), re.MULTILINE))
    assert len(words) > 50
    assert not [word for word, count in words.items() if count > 1]


def test_every_decision_is_in_the_index() -> None:
    index = page("decisions/README.md")
    assert not [
        record.name
        for record in (DOCS / "decisions").glob("0*.md")
        if f"({record.name})" not in index
    ]


def test_every_command_of_dev_is_in_the_contributing_guide() -> None:
    script = (ROOT / "dev").read_text("utf-8")
    commands = set(re.findall(r"^\./dev (\w+)", script, re.MULTILINE))
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert commands
    assert not [command for command in commands if f"./dev {command}" not in guide]


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def pages() -> list[Path]:
    return [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
