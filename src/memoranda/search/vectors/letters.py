"""Which texts can hold given letters, told by a few bits of each: never missing one that does. Pure."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

SIZE: Final = 64
"""So many bytes are kept of each text. A hundred characters set a sixth to a third of their bits."""

Letters: TypeAlias = NDArray[np.uint64]
"""The bits of one text in each row, as eight numbers."""

_WORD: Final = np.dtype("<u8")
WORDS: Final = SIZE // _WORD.itemsize

# Odd numbers that spread what is multiplied by them over the upper bits.
_FIRST: Final = np.uint32(0x9E3779B1)
_SECOND: Final = np.uint32(0x85EBCA6B)
_UPPER: Final = np.uint32(32 - 9)  # the upper 9 of 32 bits name one of 512
_A, _LETTERS, _SPACE = np.uint32(ord("a")), np.uint32(26), np.uint32(ord(" "))


def signature(folded: str) -> bytes:
    """The bits of a folded text: one for each two characters in a row, and for each that is no Latin letter.

    Where a text holds another, letter for letter, it has every bit of the other's. A single
    letter has none, so that every text may hold it.
    """
    bits = np.zeros(SIZE * 8, np.bool_)
    characters = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), "<u4")
    # Nearly every text has nearly all Latin letters, so that by themselves they tell nothing.
    rare = characters[(characters - _A >= _LETTERS) & (characters != _SPACE)] * _SECOND
    pairs = characters[:-1] * _FIRST ^ characters[1:] * _SECOND
    for found in (rare, pairs):
        bits[(found * _FIRST) >> _UPPER] = True
    return np.packbits(bits).tobytes()


def unpacked(signatures: list[bytes | None]) -> Letters:
    """One row for each; a text whose bits nobody knows may hold anything."""
    unknown = b"\xff" * SIZE
    packed = b"".join([each if each and len(each) == SIZE else unknown for each in signatures])
    return np.frombuffer(packed, _WORD).reshape(-1, WORDS)


def may_hold(letters: Letters, folded: str) -> NDArray[np.bool_]:
    """Whether each text may hold these folded letters: it does not where this is false."""
    wanted = np.frombuffer(signature(folded), _WORD)
    # The numbers with the most bits first: few rows are left for the others.
    words = sorted(np.flatnonzero(wanted).tolist(), key=lambda word: -int(wanted[word]).bit_count())
    if not words:
        return np.ones(len(letters), np.bool_)
    first, *others = words
    found: NDArray[np.bool_] = (letters[:, first] & wanted[first]) == wanted[first]
    for word in others:
        left = np.flatnonzero(found)
        found[left] = (letters[left, word] & wanted[word]) == wanted[word]
    return found
