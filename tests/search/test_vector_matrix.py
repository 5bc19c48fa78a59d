"""A matrix of vectors gives what comparing one by one would give, and its snapshots never change."""

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.calibration import Calibration
from memoranda.search.vectors.matrix import VectorMatrix, pack
from tests.search.made_vectors import changed

CURVE = Calibration(slope=12.0, middle=0.4)
DIMENSIONS = 8
TEXT = UUID(int=1000)


def unit(seed: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    row = np.random.default_rng(seed).standard_normal(dimensions)
    return (row / np.linalg.norm(row)).astype(np.float32)


Change = tuple[UUID, UUID, bytes | None]


def made(item: int, seed: int, *, text: UUID = TEXT, dimensions: int = DIMENSIONS) -> Change:
    return UUID(int=item), text, pack(unit(seed, dimensions)[None])[0]


def gone(item: int) -> Change:
    return UUID(int=item), TEXT, None


def filled(*changes: Change) -> VectorMatrix:
    matrix = VectorMatrix("m")
    matrix.apply(changed(*changes))
    return matrix


def found(matrix: VectorMatrix, seed: int, *, at_least: float = 0.0, most: int = 100) -> list[int]:
    hits = matrix.snapshot().nearest(unit(seed), CURVE, at_least=at_least, most=most)
    return [hit.item_id.int for hit in hits]


steps = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.integers(-1, 40)), unique_by=lambda step: step[0]),
    max_size=12,
)


@given(steps, st.integers(0, 40), st.floats(0, 1), st.integers(0, 14))
def test_it_finds_what_comparing_one_by_one_finds(steps, seed, at_least, most) -> None:
    matrix = VectorMatrix("m")
    standing: dict[int, int] = {}
    for changes in steps:
        matrix.apply(changed(*(made(i, s) if s >= 0 else gone(i) for i, s in changes)))
        standing |= dict(changes)
    query = unit(seed)
    scored = [
        (round(CURVE.score(float(unit(s).astype(np.float16).astype(np.float32) @ query)), 6), i)
        for i, s in standing.items()
        if s >= 0
    ]
    hits = matrix.snapshot().nearest(query, CURVE, at_least=at_least, most=most)
    wanted = sorted(((-score, i) for score, i in scored if score >= at_least))[:most]
    assert [hit.score for hit in hits] == pytest.approx([-score for score, _ in wanted], abs=3e-6)
    assert {hit.item_id.int for hit in hits} <= {
        i for score, i in scored if score > at_least - 3e-6
    }
    assert all(hit.score >= at_least for hit in hits)


def test_equal_scores_go_by_id_and_the_cap_keeps_the_first_ids() -> None:
    matrix = filled(*(made(item, 7) for item in (5, 3, 9, 1, 4)), made(2, 8))
    assert found(matrix, 7, most=3) == [1, 3, 4]
    assert found(matrix, 7)[:5] == [1, 3, 4, 5, 9]


def test_only_what_scores_enough_is_near() -> None:
    matrix = filled(made(1, 7), made(2, 8))
    cosine = float(unit(7) @ unit(8))
    assert found(matrix, 7, at_least=CURVE.score(cosine) + 0.01) == [1]
    assert found(matrix, 7, at_least=CURVE.score(cosine) - 0.01) == [1, 2]


def test_what_scores_a_hair_too_little_is_not_near() -> None:
    matrix = filled(made(1, 7), made(2, 8))
    other = matrix.snapshot().nearest(unit(7), CURVE, at_least=0.0, most=5)[1]
    assert found(matrix, 7, at_least=other.score) == [1, 2]
    assert found(matrix, 7, at_least=other.score + 1e-6) == [1]


def test_a_hit_says_which_text_it_is_of() -> None:
    matrix = filled(made(1, 7, text=UUID(int=50)))
    matrix.apply(changed(made(1, 7, text=UUID(int=51))))
    [hit] = matrix.snapshot().nearest(unit(7), CURVE, at_least=0.5, most=5)
    assert hit.text_id == UUID(int=51)


def test_items_whose_ids_are_alike_in_half_are_two() -> None:
    one, other = 5, 5 + (9 << 64)
    matrix = filled(made(one, 7), made(other, 8))
    matrix.apply(changed(gone(other)))
    assert found(matrix, 7)[0] == one
    matrix.apply(changed(made(other, 7), gone(one)))
    assert found(matrix, 7) == [other]


def test_zeros_are_near_nothing() -> None:
    zeros = np.zeros((1, DIMENSIONS), np.float32)
    assert pack(zeros) == [b""]
    matrix = filled(made(1, 7), (UUID(int=2), TEXT, pack(zeros)[0]))
    assert found(matrix, 7) == [1]
    assert matrix.snapshot().nearest(zeros[0], CURVE, at_least=0.0, most=5) == []


def test_vectors_of_another_size_are_never_compared() -> None:
    matrix = filled(made(1, 7), made(2, 7, dimensions=4), made(3, 7, dimensions=16))
    assert found(matrix, 7) == [1]
    matrix.apply(changed(gone(1)))
    matrix.apply(changed(made(2, 7, dimensions=4)))
    assert matrix.snapshot().rows.shape == (1, 4)


def test_a_snapshot_stays_as_it_is_whatever_becomes_of_the_matrix() -> None:
    matrix = filled(*(made(item, item) for item in range(10)))
    before = matrix.snapshot()
    said = before.nearest(unit(3), CURVE, at_least=0.0, most=99)
    for turn in range(40):
        matrix.apply(changed(*(made(item, 100 * turn + item) for item in range(5 + turn))))
        matrix.apply(changed(*(gone(item) for item in range(turn % 10))))
    assert before.nearest(unit(3), CURVE, at_least=0.0, most=99) == said


def test_what_went_takes_no_room_for_long() -> None:
    matrix = filled(*(made(item, item) for item in range(400)))
    full = matrix.nbytes
    for turn in range(50):
        matrix.apply(changed(*(made(item, turn) for item in range(100))))
    assert matrix.nbytes < 2.5 * full
    assert sorted(found(matrix, 7, most=999)) == list(range(400))


def closest(matrix: VectorMatrix, seed: int, most: int, *items: int) -> list[tuple[int, int]]:
    named = b"".join(UUID(int=item).bytes for item in items) if items else None
    hits = matrix.snapshot().closest(unit(seed), most, named)
    return [(hit.item_id.int, hit.text_id.int) for hit in hits]


def with_texts(*seeds: tuple[int, int, int]) -> VectorMatrix:
    """Items that have several texts: of each its item, its text, and the seed of its vector."""
    matrix = VectorMatrix("m")
    matrix.add(changed(*(made(item, seed, text=UUID(int=text)) for item, text, seed in seeds)))
    return matrix


def test_the_closest_texts_come_in_order_of_their_cosines_and_then_by_item_and_text() -> None:
    matrix = with_texts((2, 0, 7), (2, 1, 8), (1, 5, 7), (1, 4, 7), (3, 0, 9))
    assert closest(matrix, 7, 10)[:3] == [(1, 4), (1, 5), (2, 0)]
    assert closest(matrix, 7, 2) == [(1, 4), (1, 5)]
    hits = matrix.snapshot().closest(unit(7), 10)
    assert hits[0].score == pytest.approx(1.0, abs=1e-3)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(hits) == 5
    assert closest(matrix, 7, 0) == []
    assert VectorMatrix("m").snapshot().closest(unit(7), 5) == []


def test_the_closest_of_named_items_alone_and_never_of_what_is_gone() -> None:
    matrix = with_texts((1, 0, 7), (2, 0, 7), (2, 1, 8), (3, 0, 7))
    assert closest(matrix, 7, 10, 2, 9) == [(2, 0), (2, 1)]
    assert closest(matrix, 7, 10, 9) == []
    assert closest(matrix, 7, 10, 3, 1) == [(1, 0), (3, 0)]
    matrix.apply(changed(gone(2)))
    assert closest(matrix, 7, 10, 2) == []
    assert closest(matrix, 7, 10) == [(1, 0), (3, 0)]


def test_items_that_share_half_of_their_id_are_told_apart() -> None:
    high = 5 << 64
    matrix = with_texts((1, 0, 7), (high + 1, 0, 7), (2, 0, 7))
    assert closest(matrix, 7, 10, 1) == [(1, 0)]
    assert closest(matrix, 7, 10, high + 1) == [(high + 1, 0)]
    assert closest(matrix, 7, 10, 1, high + 1) == [(1, 0), (high + 1, 0)]
    assert closest(matrix, 7, 10, high + 2, 1) == [(1, 0)]
