"""What the page on scripts shows runs, and its table names every verb that there is."""

import inspect
import re
from pathlib import Path

import pytest

from memoranda.sync import Memoranda
from memoranda.sync.opened import Room

PAGE = (Path(__file__).parents[2] / "docs" / "scripts.md").read_text("utf-8")


def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    [lines] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(lines, {})  # noqa: S102 - the page's own lines
    printed = capsys.readouterr().out
    assert "Acme" in printed
    assert "dossier Company kept" in printed


def test_the_table_names_every_verb() -> None:
    face = Memoranda("never-opened.db")
    rooms = {name: room for name, room in vars(face).items() if isinstance(room, Room)}
    assert rooms
    verbs = {f"{name}.{verb}" for name, room in rooms.items() for verb in _verbs(room)}
    verbs |= set(_verbs(face))
    assert _named() == verbs


def _verbs(of: object) -> list[str]:
    return [
        name
        for name, member in inspect.getmembers(type(of), inspect.isfunction)
        if not name.startswith("_")
    ]


def _named() -> set[str]:
    """The verbs of the table; one that begins with a dot is of the room before it."""
    named: set[str] = set()
    for row in re.findall(r"^\| (?:\[|[a-z]).*$", PAGE, re.MULTILINE):
        room = ""
        for name in re.findall(r"`(\.?[a-z_.]+)`", row.split("|")[2]):
            if name.startswith("."):
                named.add(room + name)
            else:
                named.add(name)
                room = name.partition(".")[0] if "." in name else room
    return named
