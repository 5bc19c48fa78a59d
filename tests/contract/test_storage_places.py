"""Where no database can be is told before one is made, with what to change."""

import os
from pathlib import Path

import pytest

from memoranda.settings import default_db
from memoranda.storage.health import UnwritableDatabase, check_place, missing_file, obstacle
from memoranda.sync import Memoranda
from memoranda.words.errors import Invalid


def told(path: Path, *, forbidden: Path | None = None) -> str | None:
    """What stands in the way for somebody who may not write `forbidden`."""
    return obstacle(path, lambda each, mode: each != forbidden or not mode & os.W_OK)


def test_a_new_file_in_a_folder_of_ones_own_has_nothing_in_its_way(tmp_path: Path) -> None:
    assert told(tmp_path / "notes.db") is None
    check_place(str(tmp_path / "notes.db"))


def test_of_a_path_that_was_mistyped_no_folder_is_made_and_the_missing_one_is_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "to" / "be" / "notes.db"
    assert f"There is no folder {path.parent} for a database" in str(told(path))
    for named in (str(path), f"sqlite:///{path}"):
        with pytest.raises(UnwritableDatabase, match="Make the folder"), Memoranda(named):
            pass
    assert not list(tmp_path.iterdir())


def test_the_folder_of_the_database_that_nobody_named_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data" / "of" / "mine"))
    monkeypatch.delenv("MEMORANDA_DB", raising=False)
    with Memoranda():
        pass
    assert Path(default_db()).is_file()
    assert Path(default_db()).is_relative_to(tmp_path)


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    sentence = told(tmp_path / "deeper" / "notes.db", forbidden=tmp_path)
    assert sentence
    assert f"The folder {tmp_path} " in sentence
    assert "permissions" in sentence


def test_a_file_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.touch()
    sentence = told(path, forbidden=path)
    assert sentence
    assert str(path) in sentence
    assert "permissions" in sentence


def test_a_folder_and_what_lies_in_a_file_are_no_database(tmp_path: Path) -> None:
    (tmp_path / "letter").touch()
    assert "is a folder" in str(told(tmp_path))
    assert "is no folder" in str(told(tmp_path / "letter" / "notes.db"))
    with pytest.raises(UnwritableDatabase, match="is a folder") as caught:
        check_place(f"sqlite:///{tmp_path}")
    assert caught.value.details == {"database": str(tmp_path)}


def test_a_link_that_leads_nowhere_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert "is no folder" in str(told(tmp_path / "link" / "notes.db"))


def test_only_a_sqlite_file_can_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    assert missing_file(str(path)) == missing_file(f"sqlite:///{path}") == path
    path.touch()
    assert missing_file(str(path)) is None
    assert missing_file("postgresql://nobody@127.0.0.1:9/x") is None
    for ask in (missing_file, check_place):
        with pytest.raises(Invalid):
            ask("mysql://localhost/x")
