"""Which messages quote a text: whatever the case and the whitespace, and as a search one by one would say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.quotes import Quotes
from memoranda.words.text import fold, one_line

WORDS = st.sampled_from(["a", "b", "ab", "tea", "Tea", "茶", "straße", " ", "\n", "\t ", "."])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join) | st.lists(WORDS, max_size=6).map("".join)


@pytest.mark.parametrize(
    "said",
    [
        "we ship on fridays",
        "So: WE  SHIP\non Fridays!",
        [{"type": "text", "text": "x"}, {"lines": [1, None, ["we ship\ton fridays"]]}],
    ],
)
def test_a_text_is_found_in_any_case_and_spacing_wherever_a_message_has_strings(said) -> None:
    assert Quotes(["We ship on Fridays"]).are_in(said)


@pytest.mark.parametrize(
    "said",
    ["we ship", "we ship on  friday s", ["we ship on", "fridays"], {"we ship on fridays": 1}, 7],
)
def test_a_part_of_it_is_no_quote_nor_what_is_no_string_of_the_message(said) -> None:
    assert not Quotes(["We ship on Fridays"]).are_in(said)


def test_texts_without_spaces_and_of_one_word_are_found_within_others() -> None:
    assert Quotes(["禁茶"]).are_in("他说禁茶了")
    assert Quotes(["tea"]).are_in("Teatime")


def test_nothing_quotes_no_text() -> None:
    for texts in ([], ["", "  \n"]):
        assert not Quotes(texts)
        assert not Quotes(texts).are_in("anything")


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_many_texts_are_found_as_if_each_were_looked_for(texts: list[str], said: str) -> None:
    plain = [one_line(fold(text)) for text in texts]
    expected = any(text and text in one_line(fold(said)) for text in plain)
    assert Quotes(texts).are_in(said) is expected
