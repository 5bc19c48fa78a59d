"""Markdown to its sections: what stands under which headings, at exact offsets."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoranda.knowledge.text import check_chunks

_LONGEST_HEADING: Final = 80
# Markup is looked for in so much of a heading: on an endless line of brackets the search is quadratic.
_MOST_READ: Final = 1_000

_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(?:(?P<first>=+)|-+)[ \t]*")
_NOT_A_PARAGRAPH = re.compile(r" {4}|\t|\s*(?:[-*+>|#<]|\d+[.)]|```|~~~|$)")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TICKS_OR_COMMENT = re.compile(r"`+|(?<!\\)<!--")
_NO_NEWLINE = re.compile(r"[^\n]")
_MARKUP = re.compile(r"[*`]+|\{#[^}]*\}|</?[a-zA-Z][^>]*>")

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Section:
    """The text from `start` to `end`, below the headings that lead to it, outermost first.

    `place` is where it stands for a person, where that is no heading: "page 3".
    """

    start: int
    end: int
    headings: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    end: int
    level: int
    text: str


def sections(text: str) -> list[Section]:
    """Split Markdown at its headings and around its comments; a section holds neither.

    A heading that nothing stands under is itself the text of a section, so that it is found too.
    A `#` within a code fence is no heading, and `<!--` in code is no comment.
    """
    hidden = list(_comments(text))
    shown = _blanked(text, hidden)
    return [part for whole in _whole(shown) for part in _around(whole, hidden, text)]


def _whole(text: str) -> list[Section]:
    found: list[Section] = []
    path: list[_Heading] = []
    start = 0
    for heading in [*_headings(text), None]:
        end = heading.start if heading else len(text)
        if text[start:end].strip():
            found.append(Section(start, end, tuple(above.text for above in path)))
        elif path and (heading is None or heading.level <= path[-1].level):
            bare = path[-1]
            found.append(Section(bare.start, bare.end, tuple(above.text for above in path[:-1])))
        check_chunks(len(found))
        if heading:
            path = [above for above in path if above.level < heading.level] + [heading]
            start = heading.end
    return found


def _comments(text: str) -> Iterator[_Span]:
    """Where the comments are, which no reader of the page sees; one that never ends is none."""
    last = text.rfind("-->")
    fence, offset, done = "", 0, 0
    for line in text.splitlines(keepends=True) if "<!--" in text else ():
        start, offset = offset, offset + len(line)
        bare = line.rstrip("\n")
        if start >= done and (fence or _FENCE.fullmatch(bare)):
            fence = _next_fence(fence, bare)
            continue
        for opening in _openings(line):
            at = start + opening
            if done <= at <= last - 2:
                done = text.find("-->", at + 2) + 3  # from its dashes on: `<!-->` is a whole one
                yield at, done


def _openings(line: str) -> Iterator[int]:
    """Where `<!--` stands in a line, but for its code."""
    tokens = list(_TICKS_OR_COMMENT.finditer(line))
    latest = {token[0]: place for place, token in enumerate(tokens)}
    place = 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if token[0] == "<!--":
            yield token.start()
        elif latest[token[0]] >= place:  # a run of ticks opens code where another like it closes it
            while tokens[place][0] != token[0]:
                place += 1
            place += 1


def _blanked(text: str, hidden: list[_Span]) -> str:
    """The text with white space, at the same offsets, for what is hidden."""
    parts, at = [], 0
    for start, end in hidden:
        parts += [text[at:start], _NO_NEWLINE.sub(" ", text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _around(whole: Section, hidden: list[_Span], text: str) -> Iterator[Section]:
    """The parts of a section that say something, without the comments between them."""
    place = bisect_left(hidden, (whole.start, whole.start))
    start = max(whole.start, hidden[place - 1][1] if place else 0)
    while start < whole.end:
        opened, closed = hidden[place] if place < len(hidden) else (whole.end, whole.end)
        end = min(opened, whole.end)
        if text[start:end].strip():
            yield Section(start, end, whole.headings)
        start, place = closed, place + 1


def _headings(text: str) -> Iterator[_Heading]:
    fence = ""
    above: tuple[int, str] | None = None  # where a one-line paragraph begins, and its text
    blank = True
    offset = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\n")
        start, offset = offset, offset + len(line)
        was_above, was_blank = above, blank
        above, blank = None, not bare.strip()
        if fence or _FENCE.fullmatch(bare):
            fence = _next_fence(fence, bare)
            continue
        atx = _ATX.match(bare)
        setext = _SETEXT.fullmatch(bare) if was_above else None
        if atx:
            yield _Heading(start, offset, len(atx[1]), _plain(_unclosed(bare[atx.end() :])))
            blank = True
        elif setext and was_above:
            level = 1 if setext["first"] else 2
            yield _Heading(was_above[0], offset, level, _plain(was_above[1]))
            blank = True
        elif was_blank and not _NOT_A_PARAGRAPH.match(bare):
            above = start, bare


def _unclosed(heading: str) -> str:
    """The heading without the `#` that may close it."""
    words = heading.strip(" \t")
    bare = words.rstrip("#")
    return words if bare and not bare.endswith((" ", "\t")) else bare


def _next_fence(fence: str, line: str) -> str:
    """The fence that is open after this line; "" when none is."""
    match = _FENCE.fullmatch(line)
    if not match:
        return fence
    if not fence:
        return match["fence"]
    closes = match["fence"].startswith(fence) and not match["info"].strip()
    return "" if closes else fence


def _plain(heading: str) -> str:
    words = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", heading[:_MOST_READ])).split())
    if len(words) <= _LONGEST_HEADING and len(heading) <= _MOST_READ:
        return words
    return words[: _LONGEST_HEADING - 1].rstrip() + "…"
