"""Keeps the vectors of documents' passages in memory, by scope and model, and reads on what has changed."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from uuid import UUID

from memoranda.search.vectors.matrix import Changes, Snapshot, VectorMatrix
from memoranda.storage import Scope

Key: TypeAlias = tuple[Scope, str]
"""Whose vectors, and of which model."""

LARGEST: Final = 256 * 2**20
ROWS_AT_ONCE: Final = 10_000


class Part(NamedTuple):
    """A document that is searched: the number of its vectors' last change, and about how many there are."""

    stamp: int
    size: int


class Reader(Protocol):
    """What one transaction sees of a scope's vectors of one model."""

    @property
    def version(self) -> object | None:
        """Tell one state from every other; None where nothing is to be kept of what is read."""

    def parts(self) -> Mapping[UUID, Part]:
        """Return the documents that are searched."""

    def rows(self, documents: list[UUID]) -> Changes:
        """Return the vectors of some of them."""


class _Held:
    """One scope's matrix of one model, and which documents are in it as they were at which change."""

    def __init__(self, model: str) -> None:
        self.turn = Lock()
        self.version: object | None = None
        self.stamps: dict[UUID, int] = {}
        self.matrix = VectorMatrix(model)

    def brought_up(self, reader: Reader) -> Snapshot:
        """Read what has changed, and give out what there is now."""
        now = reader.version
        if now is None or now != self.version:
            self.version = None  # until all of it is read
            self._read_on(reader)
            self.version = now
        return self.matrix.snapshot()

    def _read_on(self, reader: Reader) -> None:
        parts = reader.parts()
        old = [each for each, stamp in self.stamps.items() if _changed(parts.get(each), stamp)]
        if old:
            self._take_out(old)
        new = [each for each in parts if each not in self.stamps]
        self.matrix.expect(sum(parts[each].size for each in new))
        for some in _some(new, parts):
            self.matrix.add(reader.rows(some))
            self.stamps.update((each, parts[each].stamp) for each in some)

    def _take_out(self, documents: list[UUID]) -> None:
        ids = b"".join(each.bytes for each in documents)
        self.matrix.apply(Changes(ids, ids, [None] * len(documents), 0))
        for each in documents:
            del self.stamps[each]


class MatrixCache:
    """One matrix for each scope and model that is searched; the least used go first.

    Any thread may ask. Who asks for the same one waits until it is read.
    """

    def __init__(self, max_bytes: int = LARGEST) -> None:
        self.max_bytes = max_bytes
        self._lock = Lock()
        self._held: OrderedDict[Key, _Held] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """About how much memory is in use between calls."""
        return sum(held.matrix.nbytes for held in list(self._held.values()))

    def snapshot(self, key: Key, reader: Reader) -> Snapshot:
        """Return exactly what the reader's transaction sees."""
        with self._lock:
            held = self._held.setdefault(key, _Held(key[1]))
            self._held.move_to_end(key)
        with held.turn:
            found = held.brought_up(reader)
        self._make_room()
        return found

    def _make_room(self) -> None:
        with self._lock:
            while self._held and self.nbytes > self.max_bytes:
                self._held.popitem(last=False)


def cache_of(memory: dict[str, Any], collection: str) -> MatrixCache:
    """Return the cache of a collection's vectors that is kept with an open database."""
    found: MatrixCache = memory.setdefault(f"{collection} vectors", MatrixCache())
    return found


def read_anew(model: str, reader: Reader) -> Snapshot:
    """Return what the reader's transaction sees, and keep nothing of it."""
    return _Held(model).brought_up(reader)


def _changed(part: Part | None, stamp: int) -> bool:
    return part is None or part.stamp != stamp


def _some(documents: list[UUID], parts: Mapping[UUID, Part]) -> Iterable[list[UUID]]:
    """The documents in lots that hold about as many vectors as are read at once."""
    lot: list[UUID] = []
    size = 0
    for each in documents:
        if lot and size + parts[each].size > ROWS_AT_ONCE:
            yield lot
            lot, size = [], 0
        lot.append(each)
        size += parts[each].size
    if lot:
        yield lot
