"""Tables for people: stored text on one line and harmless, times in UTC, ids whole."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from memoranda.surfaces.cli.output import Answer
from memoranda.words.text import neutral_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from memoranda.words.page import Page

Cell = object
LEAST_WIDTH: Final = 12


def table(
    columns: Sequence[str], rows: Iterable[Iterable[Cell]], *, title: str | None = None
) -> "Table":
    """A table with a header, less the columns that hold nothing.

    `#` before a column's name sets its numbers to the right; `~` lets its text wrap.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    drawn = Table(
        box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold"
    )
    cells = [[cell(value) for value in row] for row in rows]
    filled = [any(row[place] for row in cells) for place, _ in enumerate(columns)]
    for place, column in compress(list(enumerate(columns)), filled):
        longest = max(row[place].cell_len for row in cells)
        wraps = column.startswith("~")
        drawn.add_column(
            column.lstrip("#~"),
            justify="right" if column.startswith("#") else "left",
            no_wrap=not wraps,
            overflow="fold",
            min_width=min(longest, LEAST_WIDTH) if wraps else longest,
        )
    for row in cells:
        drawn.add_row(*compress(row, filled))
    return drawn


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
    """Any value as text that can't move the cursor, color the screen or break the line; a time as its day."""
    if value is None:
        return Text("")
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        return Text(value.astimezone(UTC).strftime("%Y-%m-%d"))
    return Text(neutral_line(str(value)))


def when(moment: datetime) -> str:
    """A time in UTC, to the second, where the day alone does not tell enough."""
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
