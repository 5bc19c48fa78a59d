"""Markdown to its sections: what stands under which headings, at exact offsets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_LONGEST_HEADING: Final = 80

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(?P<text>.*?))?(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(?:(?P<first>=+)|-+)[ \t]*")
_NOT_A_PARAGRAPH = re.compile(r" {4}|\t|\s*(?:[-*+>|#<]|\d+[.)]|```|~~~|$)")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[*`]+|\{#[^}]*\}|</?[a-zA-Z][^>]*>")


@dataclass(frozen=True, slots=True)
class Section:
    """The text from `start` to `end`, below the headings that lead to it, outermost first."""

    start: int
    end: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    end: int
    level: int
    text: str


def sections(text: str) -> list[Section]:
    """Split Markdown at its headings; a section holds no heading of its own.

    A heading that nothing stands under is itself the text of a section, so that it is found too.
    A `#` within a code fence is no heading.
    """
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
        if heading:
            path = [above for above in path if above.level < heading.level] + [heading]
            start = heading.end
    return found


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
        atx = _ATX.fullmatch(bare)
        setext = _SETEXT.fullmatch(bare) if was_above else None
        if atx:
            yield _Heading(start, offset, len(atx[1]), _plain(atx["text"] or ""))
            blank = True
        elif setext and was_above:
            level = 1 if setext["first"] else 2
            yield _Heading(was_above[0], offset, level, _plain(was_above[1]))
            blank = True
        elif was_blank and not _NOT_A_PARAGRAPH.match(bare):
            above = start, bare


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
    words = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", heading)).split())
    if len(words) <= _LONGEST_HEADING:
        return words
    return words[: _LONGEST_HEADING - 1].rstrip() + "…"
