"""Ids of rows are told apart by all of their bytes, and are in the order of ids."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.rows import each_id, found_in, ids_of, numbered
from tests.search.candidates_of import rows_of

# Few halves, so that different ids share one; and zeros at the end, which numpy leaves out of a text.
HALVES = st.sampled_from([0, 1, 256, 1 << 63, (1 << 64) - 1])
IDS = st.lists(st.builds(lambda high, low: UUID(int=high << 64 | low), HALVES, HALVES), max_size=12)


@given(IDS)
def test_each_id_has_its_place_among_the_different_ones(ids: list[UUID]) -> None:
    different, places = numbered(ids_of(b"".join(each.bytes for each in ids)))
    expected = sorted({each.bytes for each in ids})
    assert each_id(different) == expected
    assert [expected[place] for place in places.tolist()] == [each.bytes for each in ids]


@given(IDS, IDS)
def test_an_id_is_found_where_it_is_and_nowhere_else(ids: list[UUID], wanted: list[UUID]) -> None:
    ordered = sorted({each.bytes for each in ids})
    places = found_in(ids_of(b"".join(ordered)), ids_of(b"".join(each.bytes for each in wanted)))
    assert [ordered[place] if place >= 0 else None for place in places.tolist()] == [
        each.bytes if each.bytes in ordered else None for each in wanted
    ]


@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_rows_are_kept_or_left_out_by_their_documents(most: int) -> None:
    one, two, three = (UUID(int=number << 8) for number in (1, 2, 3))
    rows = rows_of([(three, b"c"), (one, b"aaa"), (two, b"bb"), (one, b"a")])
    kept = ids_of(one.bytes + two.bytes)
    assert [packed for _, packed in rows.of(kept).each()] == [b"aaa", b"bb", b"a"]
    left = rows.without(ids_of(two.bytes), most)
    assert list(left.each()) == [(three.bytes, b"c"), (one.bytes, b"aaa"), (one.bytes, b"a")][:most]
