"""What a change would change, as lines that are taken out and put in. Pure."""

from difflib import unified_diff
from typing import Final

MOST_COMPARED: Final = 4_000_000
"""Pairs of lines that are compared; beyond that all that differs is shown as one change."""
_CONTEXT: Final = 3
_NO_END: Final = "\\ No newline at end of file\n"


def diff_of(name: str, before: str, after: str) -> str:
    """The change from one text to the other in the unified format; empty where there is none.

    Lines end with a line feed and with nothing else, so that a carriage return is a part of its line.
    """
    old, new = _lines(before), _lines(after)
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    changed = (len(old) - head - tail) * (len(new) - head - tail)
    if changed <= MOST_COMPARED:
        # Only around what differs: equal ends are found quicker than by comparing all pairs.
        first = max(0, head - _CONTEXT)
        kept = max(0, tail - _CONTEXT)
        shown = list(_hunks(name, old, new, first, kept))
    else:
        shown = [
            f"--- {name}\n",
            f"+++ {name}\n",
            f"@@ -{head + 1},{len(old) - head - tail} +{head + 1},{len(new) - head - tail} @@\n",
            *(f"-{line}" for line in old[head : len(old) - tail]),
            *(f"+{line}" for line in new[head : len(new) - tail]),
        ]
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in shown)


def _hunks(name: str, old: list[str], new: list[str], first: int, kept: int) -> list[str]:
    lines = unified_diff(
        old[first : len(old) - kept], new[first : len(new) - kept], name, name, n=_CONTEXT
    )
    return [_moved(line, first) if line.startswith("@@ ") else line for line in lines]


def _moved(header: str, by: int) -> str:
    """A hunk's header, `by` lines further down."""
    old, new = header.split(" ")[1:3]
    return f"@@ {_further(old, by)} {_further(new, by)} @@\n"


def _further(place: str, by: int) -> str:
    start, comma, count = place[1:].partition(",")
    return f"{place[0]}{int(start) + by}{comma}{count}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return ended + ([lines[-1]] if lines[-1] else [])


def _same(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
