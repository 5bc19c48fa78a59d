"""Rows of a table as lines that say what each cell is."""

import re
from collections.abc import Sequence
from typing import Final

_NUMBER = re.compile(r"[\s\d.,:/%+€$£()-]+")
LONGEST_NAME: Final = 100


def names_of(row: Sequence[str]) -> tuple[str, ...] | None:
    """The names of the columns, where the first row reads like names: all there, different, no numbers."""
    names = [" ".join(cell.split()) for cell in row]
    while names and not names[-1]:
        names.pop()
    fits = all(name and len(name) <= LONGEST_NAME for name in names)
    if not names or not fits or any(_NUMBER.fullmatch(name) for name in names):
        return None
    return tuple(names) if len({name.casefold() for name in names}) == len(names) else None


def line_of(row: Sequence[str], names: Sequence[str] | None = None, *, number: bool = False) -> str:
    """One line for a row, such as "Name: Ada; City: London"; an empty cell is left out.

    A column that has no name is called by its number where `number` asks for it.
    """
    said = []
    for place, cell in enumerate(row):
        value = " ".join(cell.split())
        if not value:
            continue
        name = names[place] if names and place < len(names) else ""
        name = name or (f"column {place + 1}" if number else "")
        said.append(f"{name}: {value}" if name else value)
    return "; ".join(said)
