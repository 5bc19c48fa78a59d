"""The documents that may answer, their passages in one row of cells, and which cells say what."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.document import TermCount
from memoranda.search.postings import BLOCK_BITS, HEADER, Numbers, headers, lengths_in, numbers_at
from memoranda.search.rows import Ids, TermRows, each_id, found_in, ids_of, unpack_all
from memoranda.search.weights import REACH

Place: TypeAlias = tuple[UUID, int]
"""A passage: its document, and its ordinal there."""

BLOCK: Final = 1 << BLOCK_BITS
"""Cells come in blocks, and an empty block keeps each document apart: no window reaches over it."""


class Said(NamedTuple):
    """The cells that say a term, in any order, and how often each says it."""

    cells: Numbers
    times: Numbers


class Candidates:
    """Documents in the order of their ids, each with the lengths of its passages, and the rows of terms in them.

    `lengths` has one row for each document, which holds the packed lengths. Rows of other documents
    than these are left out.
    """

    def __init__(self, lengths: TermRows, rows: Iterable[tuple[str, TermRows]]) -> None:
        order = np.argsort(lengths.documents, kind="stable")
        self.documents: Ids = lengths.documents[order]
        self._packed = np.frombuffer(lengths.packed, np.uint8)
        begins, widths = headers(self._packed, lengths.sizes)
        self._begins, self._widths = begins[order] + HEADER, widths[order]
        self.passages: Numbers = lengths_in(lengths.sizes, widths)[order]
        blocks = -(-self.passages // BLOCK) + 1
        self.starts: Numbers = (1 + np.cumsum(blocks) - blocks) * BLOCK
        self.cells = int(1 + blocks.sum()) * BLOCK
        """How many cells there are, empty ones included."""
        self.said: Mapping[str, Said] = self._placed(list(rows))

    def lengths_in(self, blocks: Numbers) -> tuple[NDArray[np.bool_], Numbers]:
        """Of each cell of these blocks, whether a passage is there, and its length."""
        firsts = blocks << BLOCK_BITS
        owners = np.maximum(np.searchsorted(self.starts, firsts, side="right") - 1, 0)
        ordinals = (firsts - self.starts[owners])[:, None] + np.arange(BLOCK)
        real = (ordinals >= 0) & (ordinals < self.passages[owners][:, None])
        widths = np.broadcast_to(self._widths[owners][:, None], real.shape)[real]
        at = (self._begins[owners][:, None] + ordinals * self._widths[owners][:, None])[real]
        lengths = np.zeros(real.shape, np.int64)
        lengths[real] = numbers_at(self._packed, at, widths)
        return real.ravel(), lengths.ravel()

    def lengths_of(self, cells: Numbers) -> Numbers:
        """The length of the passage in each of these cells, all of which hold one."""
        owners = np.searchsorted(self.starts, cells, side="right") - 1
        widths = self._widths[owners]
        at = self._begins[owners] + (cells - self.starts[owners]) * widths
        return numbers_at(self._packed, at, widths)

    def speaker(self, names: Sequence[str]) -> Numbers | None:
        """The cells of the one speaker that is named; None where it is none or more than one.

        "John Smith" is two names of one speaker: the cells of one name lie within the other's.
        """
        named = [self.said[name].cells for name in names if name in self.said]
        if not named:
            return None
        fewest = min(named, key=len)
        within_all = all(np.isin(fewest, cells, assume_unique=True).all() for cells in named)
        return fewest if within_all else None

    def cells_of(self, places: Sequence[Place]) -> Numbers:
        """The cell of each of these passages, and -1 of one that no document here has."""
        documents = ids_of(b"".join([document.bytes for document, _ in places]))
        ordinals = np.array([ordinal for _, ordinal in places], np.int64)
        owners = found_in(self.documents, documents)
        cells = np.full(len(places), -1)
        known = np.flatnonzero((owners >= 0) & (ordinals >= 0))
        owners, ordinals = owners[known], ordinals[known]
        inside = ordinals < self.passages[owners]
        cells[known[inside]] = (self.starts[owners] + ordinals)[inside]
        return cells

    def places_of(self, cells: Numbers) -> list[Place]:
        """The passage of each of these cells."""
        owners = np.searchsorted(self.starts, cells, side="right") - 1
        ordinals = (cells - self.starts[owners]).tolist()
        few, which = np.unique(owners, return_inverse=True)
        named = [UUID(bytes=each) for each in each_id(self.documents[few])]
        return [
            (named[place], ordinal) for place, ordinal in zip(which.tolist(), ordinals, strict=True)
        ]

    def counts(self) -> dict[str, TermCount]:
        """In how many passages, windows and documents of these each term occurs."""
        return {term: self._count(said.cells) for term, said in self.said.items()}

    def _count(self, cells: Numbers) -> TermCount:
        cells = np.sort(cells)
        owners = np.searchsorted(self.starts, cells, side="right") - 1
        firsts = self.starts[owners]
        # Each window begins where its reach does, or where the one before it ends.
        ends = np.minimum(cells + REACH + 1, firsts + self.passages[owners])
        begins = np.maximum(cells - REACH, np.maximum(firsts, np.concatenate([[0], ends[:-1]])))
        documents = 1 + int(np.count_nonzero(np.diff(owners)))
        return TermCount(len(cells), int((ends - begins).sum()), documents)

    def _placed(self, rows: Sequence[tuple[str, TermRows]]) -> dict[str, Said]:
        kept = [each.of(self.documents) for _, each in rows]
        if not kept:
            return {}
        owners = found_in(self.documents, np.concatenate([each.documents for each in kept]))
        all_of_them, slices = unpack_all(kept)
        cells = all_of_them.ordinals + np.repeat(self.starts[owners], all_of_them.entries)
        found: dict[str, list[Said]] = {}
        for (term, _), part in zip(rows, slices, strict=True):
            if part.start < part.stop:
                found.setdefault(term, []).append(Said(cells[part], all_of_them.times[part]))
        return {term: _joined(said) for term, said in found.items()}


def _joined(said: Sequence[Said]) -> Said:
    if len(said) == 1:
        return said[0]
    return Said(*(np.concatenate(parts) for parts in zip(*said, strict=True)))
