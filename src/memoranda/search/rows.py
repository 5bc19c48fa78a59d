"""The rows of one term as they come out of the database: all in one piece, so that thousands cost little."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memoranda.search.postings import Numbers, Unpacked, join_postings, unpack_rows

ID_BYTES: Final = 16

Ids: TypeAlias = NDArray[np.bytes_]
"""The 16 bytes of each id. They are in the order of ids; one that is taken out loses the zeros at its end."""


@dataclass(frozen=True, slots=True)
class TermRows:
    """The rows of one term, one after the other: the document of each, its size in bytes, and what it holds.

    A document whose row was long has several, and no two rows hold the same passage.
    """

    documents: Ids
    sizes: Numbers
    packed: bytes

    @classmethod
    def read(cls, ids: bytes, sizes: bytes, packed: bytes) -> "TermRows":
        """Read them as `joined` selects ids, lengths and rows."""
        return cls(ids_of(ids), numbers_of(sizes), packed)

    def each(self) -> Iterator[tuple[bytes, bytes]]:
        """The document of each row, and the row."""
        ends = np.cumsum(self.sizes).tolist()
        begin = 0
        for document, end in zip(each_id(self.documents), ends, strict=True):
            yield document, self.packed[begin:end]
            begin = end

    def of(self, documents: Ids) -> "TermRows":
        """The rows of these documents alone, which are in order."""
        return self._where(found_in(documents, self.documents) >= 0)

    def without(self, hidden: Ids, most: int) -> "TermRows":
        """The first `most` of the rows that are of none of these documents, which are in order."""
        kept = found_in(hidden, self.documents) < 0
        return self._where(kept & (np.cumsum(kept) <= most))

    def _where(self, kept: NDArray[np.bool_]) -> "TermRows":
        if kept.all():
            return self
        every = np.frombuffer(self.packed, np.uint8)[np.repeat(kept, self.sizes)]
        return TermRows(self.documents[kept], self.sizes[kept], every.tobytes())


def unpack_all(rows: Sequence[TermRows]) -> tuple[Unpacked, list[slice]]:
    """What all of these rows hold, and where in it each of them is."""
    packed = b"".join([each.packed for each in rows])
    found = unpack_rows(packed, np.concatenate([each.sizes for each in rows]))
    counts = [0, *(len(each.sizes) for each in rows)]
    ends = np.concatenate([[0], np.cumsum(found.entries)])[np.cumsum(counts)].tolist()
    return found, [slice(*each) for each in pairwise(ends)]


def numbers_of(joined: bytes) -> Numbers:
    """The whole numbers that `joined` selected."""
    return np.frombuffer(joined, ">i4").astype(np.int64)


def ids_of(joined: bytes) -> Ids:
    """The ids whose bytes follow each other."""
    return np.frombuffer(joined, f"S{ID_BYTES}")


def each_id(ids: Ids) -> list[bytes]:
    """The bytes of each id."""
    joined = ids.tobytes()
    return [joined[place : place + ID_BYTES] for place in range(0, len(joined), ID_BYTES)]


def numbered(ids: Ids) -> tuple[Ids, Numbers]:
    """The different ones of these in their order, and the place of each among them."""
    # By the half of an id that hardly two share: to compare numbers takes a fraction of the time.
    halves = ids.view(">u8").reshape(-1, 2)[:, 1].astype(np.uint64)
    _, first, places = np.unique(halves, return_index=True, return_inverse=True)
    found = ids[first]
    if (found[places] != ids).any():
        return np.unique(ids, return_inverse=True)
    order = np.argsort(found)
    moved = np.empty_like(order)
    moved[order] = np.arange(len(order))
    return found[order], moved[places]


def found_in(ordered: Ids, wanted: Ids) -> Numbers:
    """The place of each wanted id among those that are in order, and -1 where it is not one of them."""
    if not len(ordered):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[places] == wanted, places, -1)


def add_rows(
    held: Iterable[tuple[str, TermRows]], postings: Mapping[bytes, dict[str, bytes]]
) -> None:
    """Give each document of `postings` its rows, by term; the parts of a long one become one again."""
    for term, rows in held:
        for document, packed in rows.each():
            of_document = postings.get(document)
            if of_document is not None:
                known = of_document.get(term)
                of_document[term] = packed if known is None else join_postings(known, packed)
