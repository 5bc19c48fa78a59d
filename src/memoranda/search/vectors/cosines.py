"""Raw cosines of many rows: the same on every machine, and however many threads share the work."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.search.embedders.port import Matrix

DIGITS: Final = 6
"""Scores are rounded to this many decimals before they are compared."""

_SHARED: Final = 1 << 22
"""Fewer numbers than this are compared sooner than another thread would begin."""
_MOST_THREADS: Final = 4
"""More of them wait for memory and not for each other."""

_Cosines = NDArray[np.float32]


def inner(rows: Matrix, query: NDArray[np.float32], threads: int | None = None) -> _Cosines:
    """Return the raw cosines of rows of length 1.

    `threads` is how many share a large matrix. Else as many as there are processors do, unless
    another caller compares one already: then each has enough to do with its own.
    """
    # Row by row, so that a row's cosine is the same wherever it stands. A product of the whole matrix is not,
    # and waits for every other thread that makes one.
    found: _Cosines = np.empty(len(rows), np.float32)
    if rows.size < _SHARED:
        return np.vecdot(rows, query, found)
    with _under_way as others:
        share = threads or (1 if others else min(os.cpu_count() or 1, _MOST_THREADS))
        _fill_together(found, rows, query, share)
    return found


def rounded(cosines: _Cosines) -> list[float]:
    """Return them as they are compared, the same on every machine: half precision may be a little beyond 1."""
    found: list[float] = np.round(np.clip(cosines.astype(np.float64), -1, 1), DIGITS).tolist()
    return found


def _fill_together(found: _Cosines, rows: Matrix, query: NDArray[np.float32], threads: int) -> None:
    cuts = [len(rows) * part // threads for part in range(threads + 1)]
    first, *others = [partial(_fill, found, rows, query, slice(*cut)) for cut in pairwise(cuts)]
    begun = [(part, _helpers().submit(part)) for part in others]
    first()
    for part, each in begun:
        # Where no helper came to it yet, it is done here: nobody waits for what others asked.
        if each.cancel():
            part()
        else:
            each.result()


def _fill(found: _Cosines, rows: Matrix, query: NDArray[np.float32], part: slice) -> None:
    np.vecdot(rows[part], query, found[part])


class _UnderWay:
    """How many callers compare a large matrix at this moment; entering tells how many others do."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    def __enter__(self) -> int:
        with self._lock:
            self._count += 1
            return self._count - 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1


_under_way: Final = _UnderWay()


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST_THREADS - 1, thread_name_prefix="memoranda-cosines")
