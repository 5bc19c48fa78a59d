"""The raw cosines of rows and a query: of many rows, by all processors at once."""

import os
from itertools import count
from threading import Thread
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.search.embedders.port import Matrix

PIECE: Final = 1_500_000
"""So many numbers are one thread's at a time: half a millisecond's work, which others may wait for."""
THREADS: Final = 4
"""More of them read no faster from memory."""

Cosines = NDArray[np.float32]


def inner(rows: Matrix, query: Cosines) -> Cosines:
    """Return the raw cosines of rows of length 1.

    Row by row, so that a row's cosine is the same among any others to the last bit, and so that no
    thread waits for one of another search, as in a product of the whole matrix it may.
    """
    size = max(1, PIECE // max(1, len(query)))
    if len(rows) <= 2 * size:
        return _product(rows, query)
    shared = _Shared(rows, query, size)
    pieces = -(-len(rows) // size)
    helpers = [Thread(target=shared.run) for _ in range(min(THREADS, _processors(), pieces) - 1)]
    for each in helpers:
        each.start()
    shared.run()
    for each in helpers:
        each.join()
    if shared.failed is not None:
        raise shared.failed
    return shared.found


class _Shared:
    """A product in pieces, which threads take one after the other until none is left."""

    def __init__(self, rows: Matrix, query: Cosines, size: int) -> None:
        self.found: Cosines = np.empty(len(rows), np.float32)
        self._rows, self._query, self._size = rows, query, size
        self.failed: BaseException | None = None
        self._starts = count(0, size)

    def run(self) -> None:
        """Take pieces and make their part. NumPy lets other threads run meanwhile."""
        try:
            while (start := next(self._starts)) < len(self._rows):
                piece = slice(start, start + self._size)
                self.found[piece] = _product(self._rows[piece], self._query)
        except BaseException as error:  # noqa: BLE001 - the caller raises it, whichever thread met it
            self.failed = error


def _product(rows: Matrix, query: Cosines) -> Cosines:
    found: Cosines = np.vecdot(rows, query)
    return found


def _processors() -> int:
    """How many of them this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
