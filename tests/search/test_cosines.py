"""A row's cosine is the same wherever the row stands, and however many threads compare it."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.search.vectors import cosines
from memoranda.search.vectors.cosines import inner, rounded

DIMENSIONS: Final = 64
FEW: Final = 1_000
MANY: Final = cosines._SHARED // DIMENSIONS + 3
"""Enough rows to be shared, and not the same number for each thread."""


def made(rows: int) -> NDArray[np.float32]:
    found = np.random.default_rng(rows).standard_normal((rows, DIMENSIONS), np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


@contextmanager
def helpers_at_work() -> Iterator[None]:
    """All that could help are busy until this ends."""
    ended = threading.Event()
    helpers = cosines._helpers()
    busy = [helpers.submit(ended.wait, 60) for _ in range(cosines._MOST_THREADS)]
    try:
        yield
        assert not any(each.done() for each in busy)
    finally:
        ended.set()


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", [0, 1, FEW, MANY])
def test_every_number_of_threads_finds_the_same_to_the_last_bit(rows: int, threads: int) -> None:
    matrix, query = made(rows), made(1)[0]
    one_by_one = np.array([np.vecdot(row, query) for row in matrix], np.float32)
    found = inner(matrix, query, threads)
    assert found.dtype == np.float32
    assert found.tobytes() == one_by_one.tobytes()


def test_a_row_s_cosine_is_the_same_wherever_it_stands() -> None:
    matrix, query = made(MANY), made(1)[0]
    for start in (0, 1, 7):
        part = inner(matrix[start:], query, 2)
        assert part.tobytes() == inner(matrix, query, 3)[start:].tobytes()


def test_nobody_waits_for_what_others_asked() -> None:
    matrix, query = made(MANY), made(1)[0]
    alone = inner(matrix, query, 1)
    with helpers_at_work():
        assert inner(matrix, query, 4).tobytes() == alone.tobytes()


def test_many_ask_at_once_and_each_gets_its_own_answer() -> None:
    matrix, queries = made(MANY), made(24)
    with ThreadPoolExecutor(8) as askers:
        found = list(askers.map(lambda query: inner(matrix, query, 3), queries))
    for query, each in zip(queries, found, strict=True):
        assert each.tobytes() == inner(matrix, query, 1).tobytes()


def test_whoever_compares_beside_others_asks_for_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ThreadPoolExecutor] = []

    def helpers() -> ThreadPoolExecutor:
        asked.append(ThreadPoolExecutor(1))
        return asked[-1]

    monkeypatch.setattr(cosines, "_helpers", helpers)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    matrix, query = made(MANY), made(1)[0]
    with cosines._under_way:
        beside_another = inner(matrix, query)
        assert not asked
    assert inner(matrix, query).tobytes() == beside_another.tobytes()
    assert asked


def test_what_rounding_made_more_than_one_is_one() -> None:
    found = rounded(np.array([1.0005, -1.0005, 0.12345649, 0.0], np.float32))
    assert found == [1.0, -1.0, 0.123456, 0.0]
