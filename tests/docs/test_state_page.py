"""The lines of the page on application state do what it says, as they stand there."""

import re
import sqlite3
from pathlib import Path

import pytest

from memoranda.state.file import read_state
from memoranda.sync import Memoranda

PAGE = Path(__file__).parents[2] / "docs" / "state.md"


def shown(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the host's database of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    with sqlite3.connect("shop.db") as host:
        host.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, account INTEGER, status TEXT, "
            "total REAL, placed_at TIMESTAMP)"
        )
        row = (42, "sent", 120.5, "2026-05-04 09:30:00")
        host.execute("INSERT INTO orders VALUES (7, ?, ?, ?, ?)", row)
    host.close()
    return tmp_path


def test_the_ten_lines_print_what_the_page_says(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shop.is_dir()
    [lines] = shown("python")
    statements = [line for line in lines.splitlines() if line.strip()]
    assert len(statements) <= 10
    exec(compile(lines, str(PAGE), "exec"), {})  # noqa: S102 - the page's own lines
    assert shown("text")[0].strip() in capsys.readouterr().out


def test_the_file_declares_the_same(shop: Path) -> None:
    declared = shop / "state.toml"
    declared.write_text(shown("toml")[0], "utf-8")
    state = read_state(declared)
    with Memoranda(str(shop / "notes.db"), state=state) as memoranda:
        brief = memoranda.brief("Where is it?", entities=[{"kind": "shop.order", "id": "7"}])
    assert shown("text")[0].strip() in brief.text


def test_the_bridge_of_the_page_may_be_declared(tmp_path: Path) -> None:
    declared = tmp_path / "state.toml"
    declared.write_text('[database]\nurl = "x.db"\n' + shown("toml")[1], "utf-8")
    [projection] = read_state(declared).projections
    assert projection.bridge is not None
