"""Tables for people: stored text on one line and harmless, times in UTC, ids whole."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from memoranda.words.text import neutral_line

Cell = object


def table(
    columns: Iterable[str], rows: Iterable[Iterable[Cell]], *, title: str | None = None
) -> Table:
    """A table with a header; `#` before a column's name sets its numbers to the right."""
    drawn = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for column in columns:
        number = column.startswith("#")
        name = column.removeprefix("#")
        drawn.add_column(
            name,
            justify="right" if number else "left",
            no_wrap=name in {"id", "when"},
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*(cell(value) for value in row))
    return drawn


def card(pairs: Mapping[str, Cell]) -> Table:
    """One thing, a line for each of its fields; empty fields are left out."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs.items():
        if value is not None and value != "":
            grid.add_row(name, cell(value))
    return grid


def cell(value: Cell) -> Text:
    """Any value as text that can't move the cursor, color the screen or break the line."""
    if value is None:
        return Text("")
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        return Text(when(value))
    return Text(neutral_line(str(value)))


def when(moment: datetime) -> str:
    """A time as people read it, in UTC to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def listed(
    columns: Iterable[str], rows: Iterable[Iterable[Cell]], *, empty: str
) -> Iterable[RenderableType]:
    """A table of `rows`, or the sentence `empty` when there is none."""
    kept = [list(row) for row in rows]
    yield table(columns, kept) if kept else Text(empty)
