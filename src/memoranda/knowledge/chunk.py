"""Documents cut into chunks at exact offsets, never across a heading."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from semchunk.semchunk import chunk as split

from memoranda.knowledge.formats.written import Written
from memoranda.knowledge.markdown import Section, sections
from memoranda.knowledge.text import check_chunks
from memoranda.search.document import Passage
from memoranda.words.tokens import Estimator, estimate_tokens

CHUNK_TOKENS: Final = 160
"""The most tokens of a chunk: about a paragraph, so that a brief holds several."""

# semchunk nests once for each different length of whitespace it meets; a bounded piece bounds that.
_LONGEST_PIECE: Final = 1 << 15
_Split = tuple[list[str], list[tuple[int, int]]]
_NEWLINE = re.compile("\n")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a source that is found and cited as one.

    `place` says where in the source it stands, for a person; `heading` is the part of it that
    search reads. The last three come from a transcript, where one turn is one chunk.
    """

    ordinal: int
    text: str
    tokens: int
    place: str = ""
    heading: str = ""
    speaker: str | None = None
    at: str | None = None
    external_id: str | None = None

    def passage(self, title: str) -> Passage:
        """What search reads: a turn as it was said, and a document's words under its headings."""
        if self.speaker is not None:
            return Passage(self.text, self.speaker, self.at)
        above = self.heading if self.heading.startswith(title) else f"{title}\n{self.heading}"
        return Passage(f"{above}\n{self.text}")


def cut_text(
    text: str, estimator: Estimator = estimate_tokens, *, size: int = CHUNK_TOKENS
) -> list[Chunk]:
    """Cut plain text; a chunk's place is its lines, such as "lines 3-9"."""
    return _cut(text, [Section(0, len(text), ())], estimator, size)


def cut_markdown(
    text: str, estimator: Estimator = estimate_tokens, *, size: int = CHUNK_TOKENS
) -> list[Chunk]:
    """Cut Markdown; a chunk's place is its headings, such as "Install > Linux", or its lines."""
    return _cut(text, sections(text), estimator, size)


def cut_written(
    written: Written, estimator: Estimator = estimate_tokens, *, size: int = CHUNK_TOKENS
) -> list[Chunk]:
    """Cut what was made of a document; a chunk's place is its page, headings or rows, or nothing."""
    lines = _Lines(written.text, written.unit, written.first)
    return _cut(written.text, written.sections, estimator, size, lines)


class _Lines:
    """Which lines a stretch stands on, counted as `unit` from `first`."""

    def __init__(self, text: str, unit: str = "line", first: int = 1) -> None:
        self._newlines = [match.start() for match in _NEWLINE.finditer(text)] if unit else []
        self._unit = unit
        self._first = first

    def place(self, start: int, end: int) -> str:
        """Such as "lines 3-9"; nothing where lines are not counted."""
        if not self._unit:
            return ""
        first = bisect_right(self._newlines, start) + self._first
        last = bisect_right(self._newlines, end - 1) + self._first
        return f"{self._unit} {first}" if first == last else f"{self._unit}s {first}-{last}"


def _cut(
    text: str,
    parts: Sequence[Section],
    estimator: Estimator,
    size: int,
    lines: _Lines | None = None,
) -> list[Chunk]:
    lines = lines or _Lines(text)
    chunks: list[Chunk] = []
    for part in parts:
        heading = " > ".join(filter(None, part.headings))
        for start, end in _spans(text, part, estimator, size):
            body = text[start:end]
            check_chunks(len(chunks) + 1)
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    text=body,
                    tokens=estimator(body),
                    place=part.place or heading or lines.place(start, end),
                    heading=heading,
                )
            )
    return chunks


def _spans(text: str, part: Section, estimator: Estimator, size: int) -> Iterator[tuple[int, int]]:
    for start, end in _pieces(text, part.start, part.end):
        # Its cache would keep every text that was ever counted.
        split_up = split(text[start:end], size, estimator, memoize=False, offsets=True)
        for low, high in cast("_Split", split_up)[1]:
            trimmed = _trim(text, start + low, start + high)
            if trimmed[0] < trimmed[1]:
                yield trimmed


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a long stretch where it does least harm: at a blank line, a line end, a space."""
    while end - start > _LONGEST_PIECE:
        latest = start + _LONGEST_PIECE
        breaks = (text.rfind(mark, start + 1, latest) for mark in ("\n\n", "\n", " "))
        cut = next((found for found in breaks if found > start), latest)
        yield start, cut
        start = cut
    yield start, end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    body = text[start:end]
    return end - len(body.lstrip()), start + len(body.rstrip())
