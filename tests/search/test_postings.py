"""Packed rows of the index come back as they went in, and damage is told."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.postings import (
    BLOCK_BITS,
    UnreadablePostings,
    join_postings,
    pack_lengths,
    pack_postings,
    split_postings,
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


COUNTS = st.dictionaries(st.integers(0, 3_000), st.integers(1, 255), min_size=1)


@given(COUNTS, st.integers(14, 60))
def test_a_long_row_in_parts_is_the_row_again_in_any_order(
    counts: dict[int, int], most: int
) -> None:
    packed = pack_postings(counts)
    parts = split_postings(packed, most)
    assert all(len(part) <= most for part in parts)
    assert (len(parts) == 1) == (len(packed) <= most)
    whole = parts[0]
    for part in reversed(parts[1:]):
        whole = join_postings(part, whole)
    assert whole == packed


@given(COUNTS, st.integers(14, 60))
def test_no_part_ends_within_a_block_of_passages(counts: dict[int, int], most: int) -> None:
    parts = [
        unpack_postings(part)[0] >> BLOCK_BITS
        for part in split_postings(pack_postings(counts), most)
    ]
    assert all(
        one[-1] < other[0] for one, other in itertools.pairwise(part.tolist() for part in parts)
    )


def test_an_ordinary_row_is_left_as_it_is() -> None:
    packed = pack_postings({5: 1})
    assert split_postings(packed) == [packed]
