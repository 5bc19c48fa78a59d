"""The estimate counts bytes, rounds up, and is zero for nothing only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.tokens import estimate_tokens

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("日本", 2),
        ("🙂", 1),
        ("🙂a", 2),
        ("\ud800", 1),
    ],
)
def test_four_bytes_of_utf8_are_one_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(ANY_TEXT)
def test_text_is_never_free(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")


@given(ANY_TEXT, ANY_TEXT)
def test_a_whole_never_costs_more_than_its_parts(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)
