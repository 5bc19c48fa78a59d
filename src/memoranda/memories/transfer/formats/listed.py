"""Lists that people copy from a screen or a model writes: a line, a bullet or a paragraph each. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.entry import Entry, Read

_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_BULLET: Final = re.compile(r"\s*(?:[-*+•‣◦–—]|\d{1,4}[.)])\s+(?=\S)")
_DATE: Final = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_UNDATED: Final = r"(?:date )?(?:unknown|unavailable|not available|n/?a|no date)(?: date)?"
_DATED: Final = re.compile(
    rf"\s*(?:\[\s*(?:({_DATE})|{_UNDATED})\s*\]|({_DATE})(?=\s*[-–—:]\s))\s*(?:[-–—:.]\s*)?(?=\S)",
    re.IGNORECASE,
)
_CLAUDES: Final = re.compile(rf"\s*\[\s*(?:{_DATE}|{_UNDATED})\s*\]\s*[-–—]\s", re.IGNORECASE)
_SENTENCE_ENDS: Final = ".!?…。！？)\"'”’」"
_BLANK: Final = re.compile(r"\s*(?:(?:[-*_]\s*){3,})?")
_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+?):?\*\*:?|__([^_]+?):?__:?)\s*")


class Piece(NamedTuple):
    """One entry of a list, with the heading that it stands under."""

    line: int
    text: str
    heading: str | None
    written_at: datetime | None


def looks_dated(text: str) -> bool:
    """Whether it has lines such as `[2026-01-02] - text`."""
    return any(_dated(line)[1] is not None for _, line in _lines(text[:20_000]))


def looks_as_claude_writes(text: str) -> bool:
    """Whether most lines that have a date have it as Claude is asked to write it: `[2026-01-02] - text`.

    In other lists the date stands behind a bullet or a number, or without the dash.
    """
    lines = [_unmarked(line) for _, line in _lines(text[:20_000])]
    dated = [line for line in lines if _dated(line)[1] is not None]
    return sum(map(bool, map(_CLAUDES.match, dated))) * 2 > len(dated)


def read(text: str) -> Read:
    """Every entry of a list."""
    for piece in pieces(text):
        yield entry_of(piece)


def entry_of(piece: Piece, *, line: int | None = None, category: str | None = None) -> Entry:
    """A piece as an entry; the heading above it is its title."""
    return Entry(
        line=piece.line if line is None else line,
        text=piece.text,
        title=piece.heading,
        category=category,
        created_at=piece.written_at,
        how=("title_made",) if piece.heading else (),
    )


def pieces(text: str) -> Iterator[Piece]:
    """The list's entries in their order.

    Where there are bullets or dates, each begins one, and what follows it belongs to it. Otherwise
    each paragraph is one if lines break off within a sentence, and else each line.
    """
    lines = list(_lines(text))
    marked = any(_opens(line) for _, line in lines)
    joined = marked or _is_wrapped(lines)
    heading: str | None = None
    begun: Piece | None = None
    for number, line in lines:
        title, blank = _HEADING.fullmatch(line), _BLANK.fullmatch(line)
        opens = not blank and _opens(line)
        if begun is not None and (title or blank or opens or not joined):
            yield begun
            begun = None
        if title:
            heading = next(filter(None, title.groups())).strip()
        elif not blank and begun is not None:
            begun = begun._replace(text=f"{begun.text}\n{line.strip()}")
        elif not blank:
            rest, written = _dated(_unmarked(line))
            begun = Piece(number, rest.strip(), heading, fields.time(written))
    if begun is not None:
        yield begun


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; where there is a fenced block, those within it alone."""
    lines = list(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1))
    fences = [place for place, (_, line) in enumerate(lines) if _FENCE.match(line)]
    if not fences:
        yield from lines
        return
    for start, end in zip(fences[::2], [*fences[1::2], len(lines)], strict=False):
        yield from lines[start + 1 : end]


def _opens(line: str) -> bool:
    return bool(_BULLET.match(line)) or _dated(line)[1] is not None


def _unmarked(line: str) -> str:
    """The line without the bullet or number that it begins with; what looks like one further on is text."""
    found = _BULLET.match(line)
    return line if found is None else line[found.end() :]


def _dated(line: str) -> tuple[str, str | None]:
    """The line without the date that it begins with, and that date; an unknown one is empty."""
    found = _DATED.match(line)
    return (line, None) if found is None else (line[found.end() :], found[1] or found[2] or "")


def _is_wrapped(lines: list[tuple[int, str]]) -> bool:
    """Whether lines go on in the next one: within a paragraph, one ends without the end of a sentence."""
    kinds = [
        "#" if _HEADING.fullmatch(line) else "-" if _BLANK.fullmatch(line) else line.rstrip()[-1]
        for _, line in lines
    ]
    parted = "-" in "".join(kinds).strip("-#")
    return parted and any(
        one not in f"#-{_SENTENCE_ENDS}" and two not in "#-" for one, two in pairwise(kinds)
    )
