"""Tables for people: stored text on one line and harmless, times in UTC, ids whole."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from memoranda.surfaces.cli.fitting import Fitted
from memoranda.surfaces.cli.output import Answer
from memoranda.words.text import neutral_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.words.page import Page

Cell = object
LEAST: Final = {"~": 12, "@": 36}
"""How narrow a column that wraps may become: some words, or an id."""


def table(
    columns: Sequence[str], rows: Iterable[Iterable[Cell]], *, title: str | None = None
) -> Fitted:
    """A table with a header, less the columns that hold nothing.

    `#` before a column's name sets its numbers to the right; `~` lets its text wrap, and `@`
    lets it wrap above an id, which stays whole (see `entry`).
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    drawn = Table(
        box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold"
    )
    cells = [[cell(value) for value in row] for row in rows]
    filled = [any(row[place] for row in cells) for place, _ in enumerate(columns)]
    least, wanted = [], []
    for place, column in compress(list(enumerate(columns)), filled):
        name = column.lstrip("#~@")
        drawn.add_column(
            name, justify="right" if column.startswith("#") else "left", overflow="fold"
        )
        wanted.append(max(len(name), *(_widest(row[place]) for row in cells)))
        least.append(min(wanted[-1], LEAST.get(column[:1], wanted[-1])))
    for row in cells:
        drawn.add_row(*compress(row, filled))
    return Fitted(drawn, least, wanted)


def _widest(drawn: Text) -> int:
    return max((line.cell_len for line in drawn.split("\n")), default=0)


def card(pairs: Mapping[str, Cell]) -> Text:
    """One thing, a line for each of its fields, never broken; empty fields are left out."""
    shown = {name: value for name, value in pairs.items() if value is not None and value != ""}
    width = max(map(len, shown), default=0)
    drawn = Text()
    for name, value in shown.items():
        drawn.append("\n" if drawn else "").append(f"{name:{width}}  ", style="dim")
        drawn.append_text(cell(value))
    return drawn


def cell(value: Cell) -> Text:
    """Any value as text that can't move the cursor, color the screen or break the line; a time to its minute."""
    if value is None:
        return Text("")
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        return Text(value.astimezone(UTC).strftime("%Y-%m-%d %H:%M"))
    return Text(neutral_line(_plain(value)))


def _plain(value: Cell) -> str:
    """What a program holds as a person reads it: fields as name=value, and whatever is within them as JSON."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_within(each)}" for name, each in value.items())
    return _within(value) if isinstance(value, list | tuple) else str(value)


def _within(value: object) -> str:
    plain = isinstance(value, Mapping | list | tuple | bool) or value is None
    return json.dumps(value, ensure_ascii=False, default=str) if plain else str(value)


def entry(said: Cell, id_: Cell, *more: Cell) -> Text:
    """The first cell of a row: what it says, whatever `more` there is to say, and its id below, whole."""
    drawn = cell(said)
    lines = [drawn] if drawn.plain else []
    lines += [cell(each) for each in more if each]
    return Text("\n").join([*lines, Text(str(id_), style="dim")])


def counted(count: int, one: str, many: str) -> str:
    """So many of them, in words that agree."""
    return f"{count} {one if count == 1 else many}"


def when(moment: datetime) -> str:
    """A time in UTC, to the second, where the minute does not tell enough."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def listed(
    columns: Sequence[str], rows: Iterable[Iterable[Cell]], *, empty: str
) -> "Iterable[RenderableType]":
    """A table of `rows`, or the sentence `empty` when there is none."""
    kept = [list(row) for row in rows]
    yield table(columns, kept) if kept else Text(empty)


def page_answer(
    page: "Page[Any]", columns: Sequence[str], rows: Iterable[Iterable[Cell]], empty: str
) -> Answer:
    """A page, drawn as a table of `rows`, with how to see the next one where there is one."""
    cursor = page.next_cursor
    more = [] if cursor is None else [Text(f"There are more: add --cursor {cursor}")]
    return Answer(page, lambda: [*listed(columns, rows, empty=empty), *more])
