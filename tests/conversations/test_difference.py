"""A save writes what differs: whatever the two lists, the rows end up as the new one says."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.difference import difference, same

LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=14)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[int], list[str], int]:
    """Positions that grow with gaps, what stands there, and the last position that was ever given."""
    old = draw(LISTS)
    gaps = draw(st.lists(st.integers(1, 4), min_size=len(old), max_size=len(old)))
    positions, last = [], 0
    for gap in gaps:
        last += gap
        positions.append(last)
    return positions, old, last + draw(st.integers(0, 3))


@given(rows(), LISTS)
def test_the_rows_become_the_new_list_in_its_order(
    there: tuple[list[int], list[str], int], new: list[str]
) -> None:
    positions, old, last = there
    changes = difference(positions, old, new, last)
    said = dict(zip(positions, old, strict=True))
    result: dict[int, int] = {}
    for index, position in changes.kept:
        assert said[position] == new[index]
        result[position] = index
    for placing in changes.placed:
        assert placing.position not in result, "no two messages at one place"
        assert placing.position not in said or placing.position in changes.left
        assert placing.former is None or said[placing.former] == new[placing.place]
        result[placing.position] = placing.place
    assert [result[position] for position in sorted(result)] == list(range(len(new)))
    assert sorted([*changes.left, *(position for _, position in changes.kept)]) == positions


@given(LISTS, LISTS)
def test_what_is_the_same_is_found_in_its_order(old: list[str], new: list[str]) -> None:
    pairs = same(old, new)
    assert all(old[one] == new[other] for one, other in pairs)
    assert pairs == sorted(set(pairs))
    assert len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs)


@given(LISTS, LISTS)
def test_a_list_that_goes_on_leaves_every_row_where_it_is(old: list[str], more: list[str]) -> None:
    changes = difference(range(1, len(old) + 1), old, [*old, *more], len(old))
    assert changes.left == []
    assert [each.position for each in changes.placed] == [
        len(old) + number for number in range(1, len(more) + 1)
    ]


@pytest.mark.parametrize(
    ("old", "new", "kept", "written"),
    [
        ("abcdef", "abXdef", "abdef", "X"),  # one is cleared: the others stay
        ("abcdef", "cdefgh", "cdef", "gh"),  # a window that slides
        ("abcdef", "abdef", "abdef", ""),  # one is taken out
        ("abcdef", "Xabcdef", "", "Xabcdef"),  # no room in front: all move
        ("abcdef", "", "", ""),
        ("", "ab", "", "ab"),
        ("aaaa", "aaa", "aaa", ""),
    ],
)
def test_as_few_rows_as_can_be_are_written(old: str, new: str, kept: str, written: str) -> None:
    changes = difference(range(1, len(old) + 1), list(old), list(new), len(old))
    assert "".join(new[index] for index, _ in changes.kept) == kept
    assert "".join(new[each.place] for each in changes.placed) == written


def test_messages_that_only_move_are_known_by_where_they_were() -> None:
    changes = difference([1, 2], ["a", "b"], ["x", "a", "b"], 2)
    assert [(each.position, each.former) for each in changes.placed] == [(3, None), (4, 1), (5, 2)]


def test_what_replaces_a_message_in_between_takes_its_place() -> None:
    changes = difference([1, 2, 3], ["a", "b", "c"], ["a", "x", "c"], 3)
    assert changes.left == [2]
    assert [each.position for each in changes.placed] == [2]


def test_what_replaces_the_end_goes_on_after_it_so_that_a_reader_misses_nothing() -> None:
    changes = difference([1, 2, 3], ["a", "b", "c"], ["a", "x"], 3)
    assert changes.left == [2, 3]
    assert [each.position for each in changes.placed] == [4]


def test_long_lists_of_much_that_is_alike_take_no_time() -> None:
    old = [f"{n % 7}" for n in range(20_000)]
    new = [*old[3_000:9_000], *[f"{n}" for n in range(5_000)], *reversed(old[9_000:])]
    begun = time.perf_counter()
    difference(range(1, len(old) + 1), old, new, len(old))
    assert time.perf_counter() - begun < 2
