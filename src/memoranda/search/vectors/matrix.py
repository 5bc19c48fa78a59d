"""One organization's vectors of one model in memory: added to at the end, and compared all at once."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration
from memoranda.search.embedders.port import Matrix

DIGITS: Final = 6
"""Scores are rounded to this many decimals before they are compared."""

_KEPT: Final = np.dtype("<f2")
_BYTES_BESIDE: Final = 320  # of a row, beside its numbers: two ids and the item's place
_FIRST: Final = 64
_SPARE: Final = 8
_MOST_GONE: Final = 0.25
_TIE: Final = 2e-6


class Changed(NamedTuple):
    """What became of an item: the vector of one of its texts, or None where it has none any more."""

    item_id: UUID
    text_id: UUID
    vector: bytes | None


class Hit(NamedTuple):
    """An item near a query, which text of it is, and its relevance in [0, 1]."""

    item_id: UUID
    text_id: UUID
    score: float


def pack(rows: Matrix) -> list[bytes]:
    """Return what is kept of each vector: half precision, and nothing of zeros, which are near nothing."""
    return [row.tobytes() if row.any() else b"" for row in rows.astype(_KEPT)]


class Snapshot(NamedTuple):
    """What a matrix held at one moment; it stays as it is, whatever the matrix becomes."""

    model: str
    rows: Matrix
    items: Sequence[UUID]
    texts: Sequence[UUID]
    gone: NDArray[np.intp]

    def nearest(
        self, query: NDArray[np.float32], curve: Calibration, *, at_least: float, most: int
    ) -> list[Hit]:
        """Return up to `most` items that score `at_least`, best first; equal scores go by id."""
        if not len(self.rows) or not query.any() or most < 1:
            return []
        cosines = self.rows @ query
        cosines[self.gone] = -np.inf
        places = np.flatnonzero(cosines >= _floor(curve, at_least))
        if len(places) > most:
            last = np.partition(cosines[places], -most)[-most]
            places = places[cosines[places] >= last - _TIE]
        scores = np.round(curve.scores(cosines[places]), DIGITS)
        hits = [
            Hit(self.items[place], self.texts[place], score)
            for place, score in zip(places.tolist(), scores.tolist(), strict=True)
            if score >= at_least
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.item_id))[:most]


class VectorMatrix:
    """Takes changes in, one caller at a time, and gives out snapshots that any thread may read.

    Rows are only ever added: what changed or went is marked, and left out when a quarter is marked. All
    rows have as many numbers as the first; others are of no model that could be compared with it.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._rows: Matrix = _room(0, 0)
        self._items: list[UUID] = []
        self._texts: list[UUID] = []
        self._places: dict[UUID, int] = {}
        self._gone: list[int] = []
        self._expected = 0

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return self._rows.nbytes + _BYTES_BESIDE * len(self._items)

    def snapshot(self) -> Snapshot:
        """Return what it holds now."""
        rows = self._rows[: len(self._items)]
        gone = np.array(self._gone, np.intp)
        return Snapshot(self.model, rows, self._items, self._texts, gone)

    def expect(self, rows: int) -> None:
        """Make room for so many rows at the first ones, and not again and again."""
        self._expected = rows

    def apply(self, changes: Sequence[Changed]) -> None:
        """Take changes in, of each item one."""
        if self._places:
            places = (self._places.pop(each.item_id, None) for each in changes)
            self._gone += [place for place in places if place is not None]
        if len(self._gone) > _MOST_GONE * len(self._items):
            self._leave_out()
        vectors = [each for each in changes if each.vector]
        if not self._items and vectors:
            self._rows = _room(
                max(self._expected, _FIRST), len(vectors[0].vector or b"") // _KEPT.itemsize
            )
        size = self._rows.shape[1] * _KEPT.itemsize
        self._add([each for each in vectors if len(each.vector or b"") == size])

    def _add(self, changes: Sequence[Changed]) -> None:
        if not changes:
            return
        packed = b"".join(each.vector or b"" for each in changes)
        rows = np.frombuffer(packed, _KEPT).reshape(len(changes), -1)
        start, end = len(self._items), len(self._items) + len(changes)
        if end > len(self._rows):
            more = _room(end + end // _SPARE, rows.shape[1])
            more[:start] = self._rows[:start]
            self._rows = more
        self._rows[start:end] = rows
        # The numbers first: a snapshot has as many rows as there are items.
        self._items += [each.item_id for each in changes]
        self._texts += [each.text_id for each in changes]
        self._places.update((each.item_id, start + n) for n, each in enumerate(changes))

    def _leave_out(self) -> None:
        """Begin anew with what is still there, beside what snapshots hold."""
        kept = sorted(self._places.values())
        self._rows = self._rows[kept]
        self._items = [self._items[place] for place in kept]
        self._texts = [self._texts[place] for place in kept]
        self._places = {item_id: place for place, item_id in enumerate(self._items)}
        self._gone = []


def _room(rows: int, numbers: int) -> Matrix:
    return np.empty((rows, numbers), np.float32)


def _floor(curve: Calibration, at_least: float) -> float:
    """The cosine below which nothing scores enough, less what rounding may add."""
    if at_least <= 0:
        return -1.0 - _TIE
    return curve.cosine(min(at_least, 1.0 - 1e-9)) - _TIE
