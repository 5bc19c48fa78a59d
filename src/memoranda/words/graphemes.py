"""Where a text may be cut: between what its readers take for characters, never inside one.

A boundary is found without reading the text from its beginning: most characters of most texts begin
a new grapheme wherever they stand, and from the nearest of those the rules of Unicode are followed.
"""

from typing import Final

import regex

_GRAPHEME: Final = regex.compile(r"\X")
_WINDOW: Final = 32
"""Characters that nearly every grapheme is shorter than."""

# Letters, digits and signs that join nothing before them, but for what joins whatever follows it.
_BEGINS: Final = regex.compile(
    r"(?r)"
    r"(?<![\p{GCB=Prepend}\p{GCB=L}])"
    r"[\x20-\x7e\u00c0-\u02ff\u0370-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u063a\u0641-\u064a"
    r"\u3001-\u3003\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]"
    r"|(?<!\r)\n"
)


def boundary_before(text: str, at: int) -> int:
    """The last place up to `at` between two graphemes, or at an end of the text."""
    if at <= 0:
        return 0
    if at >= len(text):
        return len(text)
    begun = _BEGINS.search(text, 0, at + 1)
    place = begun.start() if begun else 0
    while place < at:
        end = _end(text, place)
        if end > at:
            break
        place = end
    return place


def boundary_after(text: str, at: int) -> int:
    """The first place from `at` on between two graphemes, or at an end of the text."""
    place = boundary_before(text, at)
    return place if place >= at else _end(text, place)


def _end(text: str, begins: int) -> int:
    """Where the grapheme that begins there ends.

    Seen through a window: a whole text of flags would be counted back to its beginning for each.
    """
    width = _WINDOW
    while True:
        part = text[begins : begins + width]
        found = _GRAPHEME.match(part)
        # Every place before the end begins a grapheme: there is always one.
        end = found.end() if found else len(part)
        if end < len(part) or begins + width >= len(text):
            return begins + end
        width *= 4
