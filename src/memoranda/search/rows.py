"""The rows of one term as they come out of the database: all in one piece, so that thousands cost little."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from memoranda.search.postings import Numbers, join_postings, unpack_rows

ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class TermRows:
    """The rows of one term, one after the other: the document of each, its size in bytes, and what it holds.

    A document whose row was long has several, and no two rows hold the same passage.
    """

    documents: list[bytes]
    sizes: Numbers
    packed: bytes

    @classmethod
    def read(cls, ids: bytes, sizes: bytes, packed: bytes) -> "TermRows":
        """Read them as `joined` selects ids, lengths and rows."""
        places = range(0, len(ids), ID_BYTES)
        documents = [ids[place : place + ID_BYTES] for place in places]
        return cls(documents, np.array(numbers_of(sizes), np.int64), packed)

    def each(self) -> Iterator[tuple[bytes, bytes]]:
        """The document of each row, and the row."""
        ends = np.cumsum(self.sizes).tolist()
        begin = 0
        for document, end in zip(self.documents, ends, strict=True):
            yield document, self.packed[begin:end]
            begin = end

    def without(self, hidden: Collection[bytes], most: int) -> "TermRows":
        """The first `most` of the rows that are of none of these documents."""
        kept = [row for row in self.each() if row[0] not in hidden][:most]
        sizes = np.array([len(packed) for _, packed in kept], np.int64)
        return TermRows([document for document, _ in kept], sizes, b"".join(row[1] for row in kept))

    def unpacked(self, start: Mapping[bytes, int]) -> tuple[Numbers, Numbers]:
        """The passages of all rows, each moved by its document's start, and how often each says the term."""
        rows = len(self.documents)
        starts = np.fromiter(map(start.__getitem__, self.documents), np.int64, rows)
        return unpack_rows(self.packed, self.sizes, starts)


def numbers_of(joined: bytes) -> list[int]:
    """The whole numbers that `joined` selected."""
    numbers: list[int] = np.frombuffer(joined, ">i4").tolist()
    return numbers


def add_rows(
    held: Iterable[tuple[str, TermRows]], postings: Mapping[bytes, dict[str, bytes]]
) -> None:
    """Give each document of `postings` its rows, by term; the parts of a long one become one again."""
    for term, rows in held:
        begin = 0
        for document, end in zip(rows.documents, np.cumsum(rows.sizes).tolist(), strict=True):
            of_document = postings.get(document)
            if of_document is not None:  # few of thousands are
                packed, known = rows.packed[begin:end], of_document.get(term)
                of_document[term] = packed if known is None else join_postings(known, packed)
            begin = end
