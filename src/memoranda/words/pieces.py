"""A second estimate of what a text costs: by the pieces that tokenizers cut texts into. Pure.

A tokenizer has short words and common marks whole, digits by one to three, and takes the rest apart
into bytes. So a word has a rate, and a smaller one for each letter beyond its fourth; single capitals, digits, marks,
blanks, line ends and what is not ASCII have their own. They are so that a whole never costs more than
its parts, and no beginning of a text more than all of it. They were fitted to the highest count of several vocabularies, so that the estimate is rather too high than too
low; `docs/estimators.md` says how far it is off, and on what.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

SHORT: Final = 4
"""Letters that a word has without further cost."""

RATES: Final[Mapping[str, int]] = {
    "word": 740,
    "letter": 80,
    "capital": 300,
    "digit": 1_140,
    "mark": 480,
    "blank": 390,
    "indent": 270,
    "line": 960,
    "two": 530,
    "three": 1_050,
    "four": 2_950,
}
"""Thousandths of a token for each of what `count_pieces` counts."""

_LOWER, _UPPER, _DIGIT, _MARK, _BLANK, _LINE, _TWO, _THREE, _FOUR, _INSIDE = range(10)


def _class_of(byte: int) -> int:
    """What a byte of UTF-8 is: one of ASCII's kinds, or how a longer character begins or goes on."""
    if byte >= 0x80:
        return (_INSIDE, _TWO, _THREE, _FOUR)[(byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)]
    char = chr(byte)
    if char.isalpha():
        return _LOWER if char.islower() else _UPPER
    if char.isdigit():
        return _DIGIT
    if char in "\r\n":
        return _LINE
    return _MARK if char.isprintable() and char != " " else _BLANK


_CLASSES: Final = bytes(map(_class_of, range(256)))
_EDGE: Final = bytes([_MARK])


def estimate_pieces(text: str) -> int:
    """Return the estimate, rounded up; 0 for the empty text only."""
    if not text:
        return 0
    counts = count_pieces(text)
    cost = sum(RATES[name] * count for name, count in counts.items())
    return max(1, -(-cost // 1000))


def count_pieces(text: str) -> Mapping[str, int]:
    """How many words, further letters, digits, marks, blanks, line ends, and characters of 2 to 4 bytes there are."""
    written = text.encode("utf-8", "surrogatepass").translate(_CLASSES)
    # A mark at each end, so that everything has something before and after it.
    kinds = np.frombuffer(b"".join((_EDGE, written, _EDGE)), np.uint8)
    of = np.bincount(kinds, minlength=10).tolist()
    lower, lines, blanks = kinds == _LOWER, kinds == _LINE, kinds == _BLANK
    starts, ends = _runs(lower)
    capital_first = kinds[starts - 1] == _UPPER
    beyond = ends - starts + capital_first - SHORT
    return {
        "word": len(starts),
        "letter": int(beyond[beyond > 0].sum()),
        "capital": of[_UPPER] - int(np.count_nonzero(capital_first)),
        "digit": of[_DIGIT],
        "mark": of[_MARK] - 2,
        "blank": (begun := _begun(blanks)),
        "indent": of[_BLANK] - begun,
        "line": _begun(lines),
        "two": of[_TWO],
        "three": of[_THREE],
        "four": of[_FOUR],
    }


def _runs(where: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each run of what is true begins, and where it has ended."""
    changes = np.flatnonzero(where[1:] != where[:-1]) + 1
    return changes[::2], changes[1::2]


def _begun(where: NDArray[np.bool_]) -> int:
    """How many runs there are."""
    return int(np.count_nonzero(where[1:] & ~where[:-1]))
