"""What one short text becomes in the index: a row for each of its terms, with what ranking needs."""

import struct
from typing import Final

from memoranda.search.terms import PassageTerms, telling_terms

WORDS_VERSION: Final = 1
"""How texts are read into rows. What was written under another version has to be put again."""

_LAYOUT: Final = struct.Struct("<BBH")
_MOST_TIMES: Final = (1 << 8) - 1
_LONGEST: Final = (1 << 16) - 1


def pack(terms: PassageTerms) -> dict[str, bytes]:
    """Return the row of each term: version, how often it occurs (up to 255), length of the text.

    The length is the number of the text's different telling terms.
    """
    length = min(len(telling_terms(terms.counts)), _LONGEST)
    return {
        term: _LAYOUT.pack(WORDS_VERSION, min(times, _MOST_TIMES), length)
        for term, times in terms.counts.items()
    }


def length_of(row: bytes) -> int | None:
    """Return the length of the text that a row belongs to; None where another version wrote it.

    Until such a text is put again, it is found by how much of a query it holds, and by nothing else.
    """
    if len(row) != _LAYOUT.size or row[0] != WORDS_VERSION:
        return None
    length: int = _LAYOUT.unpack(row)[2]
    return length
