"""Cosines of many rows are those of each row, whichever thread made them, and what a thread meets is told."""

from threading import enumerate as threads
from threading import get_ident

import numpy as np
import pytest

from memoranda.search.vectors import product

ROWS = np.random.default_rng(5).standard_normal((1_001, 8), np.float32)
QUERY = ROWS[17]


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Pieces of ten rows, three processors, and the threads that made some."""
    made: set[int] = set()
    alone = product._product

    def noted(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
        made.add(get_ident())
        return alone(rows, query)

    monkeypatch.setattr(product, "PIECE", 80)
    monkeypatch.setattr(product, "_processors", lambda: 3)
    monkeypatch.setattr(product, "_product", noted)
    return made


@pytest.mark.parametrize("rows", [0, 1, 20, 21, 30, 1_000, 1_001])
@pytest.mark.usefixtures("in_pieces")
def test_rows_have_the_same_cosines_among_any_others_to_the_last_bit(rows: int) -> None:
    found = product.inner(ROWS[:rows], QUERY)
    alone = [product.inner(ROWS[row : row + 1], QUERY)[0] for row in range(rows)]
    assert found.tolist() == alone


def test_few_rows_are_the_callers_own_and_no_thread_is_left_behind(in_pieces: set[int]) -> None:
    before = threads()
    product.inner(ROWS[:20], QUERY)
    assert in_pieces == {get_ident()}
    product.inner(ROWS, QUERY)
    assert get_ident() in in_pieces
    assert threads() == before


@pytest.mark.usefixtures("in_pieces")
def test_what_any_thread_meets_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = product._product

    def failing(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
        if ROWS[500, 0] in rows[:, 0]:
            raise MemoryError("none left")
        return alone(rows, query)

    monkeypatch.setattr(product, "_product", failing)
    with pytest.raises(MemoryError, match="none left"):
        product.inner(ROWS, QUERY)
