"""A name with a slip in it is told as one: nothing reads from a database that it just made."""

from pathlib import Path

import pytest

from memoranda.settings import default_db
from tests.surfaces.cli.terminal import Cli, finished

NOBODY = "01890000-0000-7000-8000-000000000000"
READING = [
    ("memories",),
    ("memories", "history", NOBODY),
    ("brief", "tea"),
    ("knowledge", "list"),
    ("knowledge", "search", "tea"),
    ("knowledge", "show", NOBODY),
    ("policies", "list"),
    ("policies", "show", "default"),
    ("conversations", "list"),
    ("conversations", "show", NOBODY),
    ("organizations", "list"),
    ("users", "list"),
    ("agents", "list"),
    ("keys", "list"),
    ("keys", "list", "--operator"),
    ("runs", "show", NOBODY),
    ("runs", "logs", NOBODY),
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_that_reads_makes_no_database(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "nots.db"
    ended = Cli(str(path))(*words, "--json")
    assert ended.code == 3
    assert f"There is no database at {path}" in ended.problem["detail"]
    assert not list(tmp_path.iterdir())


def test_the_file_that_nobody_has_to_name_is_made_by_any_command(tmp_path: Path) -> None:
    ended = finished("memories", XDG_DATA_HOME=str(tmp_path))
    assert ended.code == 0, ended.err
    assert "Nothing is remembered yet" in ended.out
    assert Path(default_db()).name in {each.name for each in tmp_path.rglob("*.db")}


@pytest.mark.parametrize("half", ["sqlite:notes.db", "postgresql:me@db/x", "mysql:x"])
def test_half_an_address_makes_no_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("remember", "x"), ("memories",), ("doctor",), ("migrate",)):
        ended = Cli(half)(*words)
        assert ended.code == 5
        assert "half an address" in ended.err
    assert not list(tmp_path.iterdir())


def test_the_short_name_of_postgresql_opens_the_same_database(postgres_database: str) -> None:
    Cli(postgres_database).json("remember", "Tea is at four.")
    short = postgres_database.replace("postgresql://", "postgres://")
    assert len(Cli(short).json("memories")["items"]) == 1


def test_a_place_that_can_hold_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear database", "utf-8")
    ended = Cli(str(tmp_path / "letter" / "notes.db"))("remember", "x", "--json")
    assert ended.code == 6
    assert ended.problem["code"] == "unwritable_database"
    assert str(tmp_path / "letter") in ended.problem["detail"]
    assert "space" not in ended.problem["detail"]
