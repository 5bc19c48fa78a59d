"""How a space is spelled: no two pairs of ids alike, and nothing longer than an index takes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.tools.spaces.spelling import LONGEST_ID, id_input, spelled
from memoranda.words.errors import Invalid, OverLimit

IDS = st.one_of(st.text(alphabet="/%2Fa5 ", max_size=6), st.text(max_size=12))
PAIRS = st.tuples(IDS, IDS)
LONGEST_INDEXED = 1_000
"""Bytes that a space may take of the 2,700 of an index's row, beside a subject key of its memories."""


@given(PAIRS, PAIRS)
@example(("a/b", "c"), ("a", "b/c"))
@example(("a%2Fb", "c"), ("a/b", "c"))
@example(("a", ""), ("", "a"))
@example(("a%", "2F"), ("a%2", "F"))
def test_two_pairs_are_spelled_alike_only_where_they_are_the_same(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert (spelled(*one) == spelled(*other)) is (one == other)


@given(PAIRS)
def test_both_ids_can_be_read_from_the_spelling(pair: tuple[str, str]) -> None:
    parts = spelled(*pair).split("/")
    assert tuple(part.replace("%2F", "/").replace("%25", "%") for part in parts) == pair


def test_plain_ids_are_spelled_as_they_are() -> None:
    assert spelled("order-intake", "ask_agent 1") == "order-intake/ask_agent 1"


@pytest.mark.parametrize("character", ["%", "/", "é", "\U0001f9e0"])
def test_the_longest_ids_still_fit_into_an_index(character: str) -> None:
    longest = id_input("node_id", character * LONGEST_ID)
    assert len(spelled(longest, longest).encode()) <= LONGEST_INDEXED
    with pytest.raises(OverLimit):
        id_input("node_id", character * (LONGEST_ID + 1))


@pytest.mark.parametrize("given", ["", " \t", "a\0", "\ud800"])
def test_an_id_that_is_none_is_refused_by_its_field(given: str) -> None:
    with pytest.raises(Invalid) as refusal:
        id_input("workflow_id", given)
    assert refusal.value.details["field"] == "workflow_id"


def test_an_id_is_taken_to_the_last_blank() -> None:
    assert id_input("node_id", " a ") == " a "
