"""The rows of a short text hold what ranking needs, whatever the text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.terms import read_passage, read_query, telling_terms
from memoranda.search.texts.rows import WORDS_VERSION, length_of, pack

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_every_term_has_a_row_that_says_how_long_the_text_is(text) -> None:
    terms = read_passage(text)
    rows = pack(terms)
    assert rows.keys() == terms.counts.keys()
    assert {length_of(row) for row in rows.values()} <= {len(telling_terms(terms.counts))}


def test_the_longest_texts_have_rows_too() -> None:
    terms = read_passage(" ".join(f"word{number}" for number in range(70_000)) + " again" * 300)
    assert {length_of(row) for row in pack(terms).values()} == {65_535}


@pytest.mark.parametrize(
    "row", [b"", b"\x00\x01\x05\x00", bytes([WORDS_VERSION + 1, 1, 5, 0]), b"x" * 9]
)
def test_a_row_of_another_version_has_no_length(row) -> None:
    assert length_of(row) is None


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("?!", 0),
        ("the and of", 0),
        ("The oak, and the oak table", 2),
        ("東京都", 2),
        ("猫", 1),
        ("白い猫 猫", 2),
        ("用GPU加速", 3),
        ("ready 🎉", 2),
    ],
)
def test_a_texts_length_is_the_number_of_its_different_telling_terms(text, length) -> None:
    assert len(telling_terms(read_passage(text).counts)) == length


def test_a_speakers_name_is_no_word_of_the_text() -> None:
    assert telling_terms(read_passage("oak", speaker="Ada").counts) == {"oak", "ada"}


SPACES = " \t\n\x0b\x1c\x85\xa0\u2003\u3000"
MIXED = st.text(st.one_of(st.characters(codec=None), st.sampled_from(SPACES + "aé1,'東京\u0301")))


@given(MIXED)
def test_a_query_asks_for_nothing_that_the_same_passage_does_not_hold(text) -> None:
    assert read_query(text).terms.keys() <= read_passage(text).counts.keys()


@given(MIXED)
def test_each_term_of_a_query_comes_from_a_word_that_was_typed(text) -> None:
    query = read_query(text)
    assert query.terms.keys() == {term for terms in query.words for term in terms}
    for terms, typed in query.words.items():
        assert set(terms) <= read_passage(typed).counts.keys()
        if text.isascii() and "," not in text:
            assert typed in text


def test_a_task_can_be_read_further_than_a_query() -> None:
    text = " ".join(f"word{number}" for number in range(2_000))
    assert len(read_query(text).terms) == 256
    assert len(read_query(text, most=1_024).terms) == 1_024
