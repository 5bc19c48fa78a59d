"""How wide each column of a table is on a screen: what it needs first, then what it would like."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

EDGES: Final = 2
BETWEEN: Final = 3
"""Columns of a screen that a table takes at its two ends, and between two of its own."""


@dataclass(frozen=True)
class Fitted:
    """A table that fits its columns to the screen; `least` and `wanted` are their widths."""

    table: "Table"
    least: Sequence[int]
    wanted: Sequence[int]

    @property
    def least_width(self) -> int:
        """How wide the table is at the least: what is narrower cuts something off."""
        return sum(self.least) + self._frame

    @property
    def _frame(self) -> int:
        return EDGES + BETWEEN * (len(self.least) - 1)

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterable[RenderableType]":
        widths = fit(self.least, self.wanted, options.max_width - self._frame)
        for column, width in zip(self.table.columns, widths, strict=True):
            column.width = width
        yield self.table


def fit(least: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """Share `room` among columns: each gets its least, and the rest goes evenly to who wants more."""
    widths = list(least)
    left = room - sum(widths)
    while left > 0:
        wanting = [n for n, width in enumerate(widths) if width < wanted[n]]
        if not wanting:
            break
        share = max(1, left // len(wanting))
        for place in wanting[:left]:
            more = min(share, wanted[place] - widths[place])
            widths[place] += more
            left -= more
    return widths
