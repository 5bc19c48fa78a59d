"""The estimate by pieces keeps the promises of every estimator, and is never far below a real count."""

import re

import pytest
from estimate_texts import held_out
from estimates import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.estimators import ESTIMATORS
from memoranda.words.pieces import count_pieces, estimate_pieces

ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.text(alphabet="aAbB01 \n\r\t.,{}я由🎉\u200d"),
)


@given(ANY_TEXT)
def test_text_is_never_free(text: str) -> None:
    assert (estimate_pieces(text) == 0) == (text == "")


@given(ANY_TEXT, ANY_TEXT)
def test_a_whole_never_costs_more_than_its_parts(one: str, other: str) -> None:
    assert estimate_pieces(one + other) <= estimate_pieces(one) + estimate_pieces(other)


@given(ANY_TEXT, ANY_TEXT)
def test_a_beginning_never_costs_more_than_all_of_it(one: str, other: str) -> None:
    assert estimate_pieces(one) <= estimate_pieces(one + other)


@pytest.mark.parametrize("kind", sorted(held_out()))
def test_no_kind_of_text_is_counted_more_than_a_tenth_too_low(kind: str) -> None:
    text = held_out()[kind]
    off = {name: estimate_pieces(text) / count(text) - 1 for name, count in tokenizers().items()}
    assert min(off.values()) >= -0.10, off


def test_a_quarter_of_the_bytes_counts_some_kinds_half_too_low() -> None:
    """Without this the test above might hold for any estimator."""
    text = held_out()["hexadecimal ids"]
    worst = max(count(text) for count in tokenizers().values())
    assert ESTIMATORS["bytes"](text) < 0.5 * worst
    assert ESTIMATORS["pieces"](text) >= 0.9 * worst


def counted_slowly(text: str) -> dict[str, int]:
    """The same counts, each by a pattern that says what it is."""

    def found(pattern: str) -> list[str]:
        return re.findall(pattern, text)

    words, blanks = found(r"[A-Z]?[a-z]+"), found(r"[\x00-\x09\x0b\x0c\x0e-\x20\x7f]+")
    return {
        "word": len(words),
        "letter": sum(max(0, len(word) - 4) for word in words),
        "capital": len(found(r"[A-Z](?![a-z])")),
        "digit": len(found(r"[0-9]")),
        "mark": len(found(r"[!-/:-@\[-`{-~]")),
        "blank": len(blanks),
        "indent": sum(len(run) - 1 for run in blanks),
        "line": len(found(r"[\r\n]+")),
        "two": len(found(r"[\u0080-\u07ff]")),
        "three": len(found(r"[\u0800-\uffff]")),
        "four": len(found(r"[\U00010000-\U0010ffff]")),
    }


@given(ANY_TEXT)
def test_pieces_are_counted_as_they_are_described(text: str) -> None:
    assert dict(count_pieces(text)) == counted_slowly(text)


def test_a_word_has_four_letters_for_nothing_and_a_single_capital_begins_it() -> None:
    assert {
        name: count for name, count in count_pieces("    getURL Tokens\n\n42").items() if count
    } == {
        "word": 2,
        "letter": 2,
        "capital": 3,
        "digit": 2,
        "blank": 2,
        "indent": 3,
        "line": 1,
    }
