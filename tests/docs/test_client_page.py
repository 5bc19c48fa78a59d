"""What the page on the client shows runs against a real server, and its table names every verb that there is."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from memoranda.client import Client, Retries
from memoranda.client.blocking.verbs import Asked, Followed, Lined, Paged, Room
from tests.surfaces.http.live import live_server

PAGE = (Path(__file__).parents[2] / "docs" / "client.md").read_text("utf-8")
PRINTED = (
    "Shipping Orders ship from Leipzig.",
    "parcels.txt",
    "Orders ship from Leipzig.",
    "not_found There is no run",
)


def test_the_examples_run(
    sqlite_database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    first, of_chats = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    with live_server(sqlite_database) as live:
        monkeypatch.setenv("SERVER", live.url)
        monkeypatch.setenv("KEY", live.key)
        exec(first, {})  # noqa: S102 - the page's own lines
        printed = capsys.readouterr().out
        assert [line for line in PRINTED if line not in printed] == []
        exec(of_chats, {})  # noqa: S102 - the page's own lines
    assert capsys.readouterr().out.splitlines() == ["completed It is in Ghent.", "queued 1"]


def test_the_table_names_every_verb() -> None:
    rooms: dict[str, Any] = {
        name: type(room)
        for name, room in vars(Client("http://never.test")).items()
        if isinstance(room, Room)
    }
    kinds = (Asked, Followed, Lined, Paged)
    verbs = {
        f"{name}.{verb}"
        for name, room in rooms.items()
        for verb, made in vars(room).items()
        if isinstance(made, kinds)
    }
    assert _named() == verbs


def _named() -> set[str]:
    """The verbs of the table: a name that begins with a dot is of the room before it."""
    named, room = set(), ""
    for row in re.findall(r"^\| [^|]+ \| (`\w+\..*) \|$", PAGE, re.MULTILINE):
        for name in re.findall(r"`([\w.]+)`", row):
            room = name.partition(".")[0] or room
            named.add(name if not name.startswith(".") else room + name)
    return named


def test_the_defaults_that_it_tells_are_the_defaults() -> None:
    told = re.search(r"`Retries\((.*?)\)` are the defaults", PAGE)
    assert told is not None
    parameters = inspect.signature(Retries).parameters.values()
    assert told[1] == ", ".join(f"{each.name}={each.default:g}" for each in parameters)
