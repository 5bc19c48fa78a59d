"""What one document becomes in the index: its packed rows, and what it adds to the term counts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from memoranda.search.postings import pack_lengths, pack_postings, unpack_postings
from memoranda.search.terms import read_passage
from memoranda.search.weights import REACH

_FEW: Final = 8
"""So few ordinals are counted one by one sooner than at once."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document as the index reads it."""

    text: str
    speaker: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class TermCount:
    """In how many passages, windows and documents a term occurs."""

    passages: int
    windows: int
    documents: int

    def __add__(self, other: "TermCount") -> "TermCount":
        return TermCount(
            self.passages + other.passages,
            self.windows + other.windows,
            self.documents + other.documents,
        )

    def __sub__(self, other: "TermCount") -> "TermCount":
        return TermCount(
            self.passages - other.passages,
            self.windows - other.windows,
            self.documents - other.documents,
        )


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """The rows of one document. `tokens` is the sum of its passages' lengths."""

    passages: int
    tokens: int
    lengths: bytes
    postings: Mapping[str, bytes]
    counts: Mapping[str, TermCount]


def index_document(
    passages: Iterable[Passage], keep_on: Callable[[], None] = lambda: None
) -> IndexedDocument:
    """Read the passages of one document, in order, into the rows of the index.

    `keep_on` is called before each passage and each row; what it raises ends the reading.
    """
    lengths: list[int] = []
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for ordinal, passage in enumerate(passages):
        keep_on()
        read = read_passage(passage.text, speaker=passage.speaker, at=passage.at)
        lengths.append(read.length)
        for term, times in read.counts.items():
            found[term][ordinal] = times
    postings: dict[str, bytes] = {}
    counts: dict[str, TermCount] = {}
    for term, by_ordinal in found.items():
        keep_on()
        postings[term] = pack_postings(by_ordinal)
        counts[term] = _count(by_ordinal, len(lengths))
    return IndexedDocument(
        passages=len(lengths),
        tokens=sum(lengths),
        lengths=pack_lengths(lengths),
        postings=postings,
        counts=counts,
    )


def count_of(postings: bytes, passages: int) -> TermCount:
    """Return what one row adds to its term's count: what a deletion takes away again."""
    ordinals, _ = unpack_postings(postings)
    if len(ordinals) <= _FEW:
        return _count(ordinals.tolist(), passages)
    # What `_count` counts, all at once: each window from its own start, or from where the last one ends.
    ends = np.minimum(ordinals + REACH + 1, passages)
    begins = np.maximum(ordinals - REACH, np.concatenate([[0], ends[:-1]]))
    return TermCount(len(ordinals), int((ends - begins).sum()), 1)


def _count(ordinals: Iterable[int], passages: int) -> TermCount:
    """Count the passages, and the windows whose reach holds at least one of them."""
    occurrences = windows = 0
    next_free = 0
    for ordinal in ordinals:
        first = max(ordinal - REACH, next_free)
        next_free = min(ordinal + REACH + 1, passages)
        windows += next_free - first
        occurrences += 1
    return TermCount(occurrences, windows, 1)
