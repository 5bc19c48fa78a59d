"""One organization's vectors of one model in memory: added to at the end, and compared all at once."""

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration
from memoranda.search.embedders.port import Matrix
from memoranda.search.vectors.cosines import DIGITS, inner, rounded
from memoranda.search.vectors.letters import WORDS, Letters, may_hold, unpacked

Ids: TypeAlias = NDArray[np.uint64]
"""The 16 bytes of an id in each row, as two halves. To make UUIDs of them all would take longer than to
compare what they name, and hardly any is asked for."""

_KEPT: Final = np.dtype("<f2")
_HALF: Final = np.dtype("<u8")
_ID: Final = 16
_FIRST: Final = 64
_SPARE: Final = 8
_MOST_GONE: Final = 0.25
_TIE: Final = 2e-6


class Changes(NamedTuple):
    """What became of items: the vector of one text of each, or None where it has none any more.

    `items` and `texts` hold 16 bytes for each id, one after the other; `last` is the stamp of the last.
    `letters` are the signatures of the texts, None where there is none yet; or nothing, where all lack one.
    """

    items: bytes
    texts: bytes
    vectors: Sequence[bytes | None]
    last: int
    letters: Sequence[bytes | None] = ()


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
    item_ids: Ids
    text_ids: Ids
    gone: NDArray[np.intp]
    letters: Letters
    aside: tuple[bytes, ...]
    """Items whose vector can't be compared, so that they have no row."""

    @property
    def items(self) -> list[UUID]:
        """The item of each row, those that are gone included."""
        return list(map(_id_of, self.item_ids))

    @property
    def texts(self) -> list[UUID]:
        """The text that each row is of."""
        return list(map(_id_of, self.text_ids))

    def may_hold(self, folded: str, most: int) -> list[UUID] | None:
        """Return the items whose texts may hold these folded letters, and no others do; None beyond `most`."""
        found = may_hold(self.letters, folded)
        found[self.gone] = False
        if np.count_nonzero(found) + len(self.aside) > most:
            return None
        aside = [UUID(bytes=item) for item in self.aside]
        return [*map(_id_of, self.item_ids[found]), *aside]

    def nearest(
        self, query: NDArray[np.float32], curve: Calibration, *, at_least: float, most: int
    ) -> list[Hit]:
        """Return up to `most` items that score `at_least`, best first; equal scores go by id."""
        if not len(self.rows) or not query.any() or most < 1:
            return []
        cosines = self._cosines(query)
        near = np.flatnonzero(cosines >= _floor(curve, at_least))
        places = near[_largest(cosines[near], most)]
        scores = np.round(curve.scores(cosines[places]), DIGITS)
        hits = [
            Hit(_id_of(self.item_ids[place]), _id_of(self.text_ids[place]), score)
            for place, score in zip(places.tolist(), scores.tolist(), strict=True)
            if score >= at_least
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.item_id.int))[:most]

    def closest(
        self, query: NDArray[np.float32], most: int, items: bytes | None = None
    ) -> list[Hit]:
        """Return up to `most` texts by their raw cosines, best first, of some items alone where they are named.

        An item may have many texts; equal cosines go by item and text.
        """
        if not len(self.rows) or most < 1:
            return []
        cosines = self._cosines(query)
        if items is not None:
            cosines[~_among(self.item_ids, items)] = -np.inf
        places = _largest(cosines, most)
        hits = [
            Hit(_id_of(self.item_ids[place]), _id_of(self.text_ids[place]), score)
            for place, score in zip(places.tolist(), rounded(cosines[places]), strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.item_id.int, hit.text_id.int))[:most]

    def at(
        self, query: NDArray[np.float32], places: Collection[tuple[UUID, int]]
    ) -> dict[tuple[UUID, int], float]:
        """Return the raw cosines of these texts of these items; texts that are not there are left out."""
        if not len(self.rows) or not places:
            return {}
        wanted = _among(self.item_ids, b"".join(item.bytes for item, _ in places))
        wanted &= np.isin(_low(self.text_ids), [text for _, text in places])
        wanted[self.gone] = False
        rows = np.flatnonzero(wanted)
        named = [
            (_id_of(self.item_ids[row]), _id_of(self.text_ids[row]).int) for row in rows.tolist()
        ]
        found = rounded(inner(self.rows[rows], query))
        return {place: each for place, each in zip(named, found, strict=True) if place in places}

    def _cosines(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of each row; below every other, that of one that is gone."""
        cosines = inner(self.rows, query)
        cosines[self.gone] = -np.inf
        return cosines


def _largest(cosines: NDArray[np.float32], most: int) -> NDArray[np.intp]:
    """The places of the largest, and of all that rounding may make equal to the last of them; none of what is gone."""
    last = np.partition(cosines, -most)[-most] if len(cosines) > most else -np.inf
    return np.flatnonzero(cosines >= last - _TIE if last > -np.inf else cosines > -np.inf)


class VectorMatrix:
    """Takes changes in, one caller at a time, and gives out snapshots that any thread may read.

    Rows are only ever added: what changed or went is marked, and left out when a quarter is marked. All
    rows have as many numbers as the first; others are of no model that could be compared with it.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._rows: Matrix = np.empty((0, 0), np.float32)
        self._items: Ids = np.empty((0, 2), _HALF)
        self._texts: Ids = np.empty((0, 2), _HALF)
        self._there: NDArray[np.bool_] = np.empty(0, np.bool_)
        self._letters: Letters = np.empty((0, WORDS), _HALF)
        self._aside: set[bytes] = set()
        self._size = 0
        self._expected = 0

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        arrays = (self._rows, self._items, self._texts, self._there, self._letters)
        return sum(array.nbytes for array in arrays)

    def snapshot(self) -> Snapshot:
        """Return what it holds now."""
        size = self._size
        gone = np.flatnonzero(~self._there[:size])
        rows, items, texts = self._rows[:size], self._items[:size], self._texts[:size]
        letters, aside = self._letters[:size], tuple(self._aside)
        return Snapshot(self.model, rows, items, texts, gone, letters, aside)

    def expect(self, rows: int) -> None:
        """Make room for so many rows at the first ones, and not again and again."""
        self._expected = rows

    def apply(self, changes: Changes) -> None:
        """Take changes in, of each item one."""
        self._aside.difference_update(_split(changes.items) if self._aside else ())
        if self._size and changes.vectors:
            self._there[self._places(changes.items)] = False
            if np.count_nonzero(self._there[: self._size]) < (1 - _MOST_GONE) * self._size:
                self._leave_out()
        self.add(changes)

    def add(self, changes: Changes) -> None:
        """Take in vectors of items that it does not hold."""
        vectors = changes.vectors
        first = next(filter(None, vectors), None)
        if first is not None and not self._size:
            self._rows = np.empty((0, len(first) // _KEPT.itemsize), np.float32)
            self._make_room(max(self._expected, _FIRST))
        size = self._rows.shape[1] * _KEPT.itemsize
        fitting = [place for place, vector in enumerate(vectors) if vector and len(vector) == size]
        if len(fitting) != len(vectors):
            self._put_aside(changes, size)
        if not fitting:
            return
        start, end = self._size, self._size + len(fitting)
        if end > len(self._rows):
            self._make_room(end + end // _SPARE)
        packed = b"".join([vectors[place] or b"" for place in fitting])
        self._rows[start:end] = np.frombuffer(packed, _KEPT).reshape(len(fitting), -1)
        self._items[start:end] = _ids(changes.items)[fitting]
        self._texts[start:end] = _ids(changes.texts)[fitting]
        letters = changes.letters or [None] * len(vectors)
        self._letters[start:end] = unpacked([letters[place] for place in fitting])
        self._there[start:end] = True
        self._size = end

    def _put_aside(self, changes: Changes, size: int) -> None:
        """Remember which items have a vector that is like no other's: of zeros, or of another size."""
        for item, vector in zip(_split(changes.items), changes.vectors, strict=True):
            if vector is not None and (not vector or len(vector) != size):
                self._aside.add(item)

    def _places(self, items: bytes) -> list[int]:
        """Where these items are, of those that are there."""
        named = _among(self._items[: self._size], items)
        found: list[int] = np.flatnonzero(named & self._there[: self._size]).tolist()
        return found

    def _make_room(self, rows: int) -> None:
        """Go on in larger arrays; a snapshot keeps those that it has."""
        size, more = self._size, rows - self._size
        self._rows = _longer(self._rows[:size], more)
        self._items = _longer(self._items[:size], more)
        self._texts = _longer(self._texts[:size], more)
        self._there = _longer(self._there[:size], more)
        self._letters = _longer(self._letters[:size], more)

    def _leave_out(self) -> None:
        """Begin anew with what is still there, beside what snapshots hold."""
        kept = np.flatnonzero(self._there[: self._size])
        self._rows, self._there = self._rows[kept], self._there[kept]
        self._items, self._texts = self._items[kept], self._texts[kept]
        self._letters = self._letters[kept]
        self._size = len(kept)


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    made = np.empty((len(array) + more, *array.shape[1:]), array.dtype)
    made[: len(array)] = array
    return made


def _among(ids: Ids, items: bytes) -> NDArray[np.bool_]:
    """Whether each id is one of these."""
    # By the half of an id that hardly two share, for all rows at once; then by the other.
    wanted = np.unique(_ids(items), axis=0)
    wanted = wanted[np.argsort(wanted[:, 1], kind="stable")]
    if not len(wanted):
        return np.zeros(len(ids), np.bool_)
    if (wanted[1:, 1] == wanted[:-1, 1]).any():
        known = set(_split(items))
        return np.array([each.tobytes() in known for each in ids], np.bool_)
    places = np.minimum(np.searchsorted(wanted[:, 1], ids[:, 1]), len(wanted) - 1)
    found: NDArray[np.bool_] = (wanted[places] == ids).all(axis=1)
    return found


def _split(packed: bytes) -> list[bytes]:
    return [packed[start : start + _ID] for start in range(0, len(packed), _ID)]


def _ids(packed: bytes) -> Ids:
    return np.frombuffer(packed, _HALF).reshape(-1, 2)


def _low(ids: Ids) -> NDArray[np.uint64]:
    """The lower half of each id, as a number."""
    return ids[:, 1].byteswap()


def _id_of(halves: Ids) -> UUID:
    return UUID(bytes=halves.tobytes())


def _floor(curve: Calibration, at_least: float) -> float:
    """The cosine below which nothing scores enough, less what rounding may add."""
    if at_least <= 0:
        return -1.0 - _TIE
    return curve.cosine(min(at_least, 1.0 - 1e-9)) - _TIE
