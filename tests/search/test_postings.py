"""Packed rows of the index come back as they went in, and damage is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.postings import (
    UnreadablePostings,
    pack_lengths,
    pack_postings,
    unpack_each,
    unpack_lengths,
    unpack_postings,
)

ORDINALS = st.one_of(st.integers(0, 255), st.integers(0, 70_000), st.integers(0, (1 << 32) - 1))


@given(st.dictionaries(ORDINALS, st.integers(1, 255)))
def test_postings_come_back_in_the_order_of_passages(counts: dict[int, int]) -> None:
    ordinals, times = unpack_postings(pack_postings(counts))
    assert list(zip(ordinals.tolist(), times.tolist(), strict=True)) == sorted(counts.items())


@given(st.lists(ORDINALS))
def test_lengths_come_back(lengths: list[int]) -> None:
    assert unpack_lengths(pack_lengths(lengths)).tolist() == lengths


def test_equal_postings_are_equal_bytes() -> None:
    assert pack_postings({7: 1, 300: 2}) == pack_postings({300: 2, 7: 1})


def test_a_count_over_a_byte_is_kept_as_the_most_a_byte_holds() -> None:
    assert unpack_postings(pack_postings({3: 1_000}))[1].tolist() == [255]


def test_a_row_is_small() -> None:
    assert len(pack_postings({5: 1})) == 4
    assert len(pack_lengths([20] * 400)) == 402


@pytest.mark.parametrize("packed", [b"", b"\x01", b"\x02\x01\x05\x01", b"\x01\x03\x05\x01"])
def test_a_row_of_another_version_is_refused(packed: bytes) -> None:
    with pytest.raises(UnreadablePostings):
        unpack_postings(packed)
    with pytest.raises(UnreadablePostings):
        unpack_lengths(packed)


def test_a_row_that_was_cut_is_refused() -> None:
    with pytest.raises(UnreadablePostings):
        unpack_postings(pack_postings({300: 1, 301: 1})[:-1])
    with pytest.raises(UnreadablePostings):
        unpack_each([pack_postings({300: 1, 301: 1})[:-1]], [0])
    with pytest.raises(UnreadablePostings):
        unpack_lengths(pack_lengths([300, 301])[:-1])


@pytest.mark.parametrize("number", [-1, 1 << 32])
def test_a_number_that_does_not_fit_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="numbers from 0"):
        pack_lengths([number])


@given(st.lists(st.tuples(st.dictionaries(ORDINALS, st.integers(1, 255)), st.integers(0, 1 << 40))))
def test_many_rows_are_read_as_each_by_itself(rows: list[tuple[dict[int, int], int]]) -> None:
    packed = [pack_postings(counts) for counts, _ in rows]
    places, times = unpack_each(packed, [start for _, start in rows])
    alone = [
        (ordinal + start, count) for counts, start in rows for ordinal, count in counts.items()
    ]
    assert sorted(zip(places.tolist(), times.tolist(), strict=True)) == sorted(alone)
