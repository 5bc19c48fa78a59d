"""Which messages quote a text: whatever the case and the whitespace, and as a search one by one would say."""

import json

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
        {"we ship on fridays": 1},
        [{"by": {"So we SHIP on fridays": None}}],
    ],
)
def test_a_text_is_found_in_any_case_and_spacing_wherever_a_message_has_strings(said) -> None:
    assert Quotes(["We ship on Fridays"]).are_in(said)


@pytest.mark.parametrize(
    "said",
    ["we ship", "we ship on  friday s", ["we ship on", "fridays"], {"we ship on": "fridays"}, 7],
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


TOLD = [
    'Zoë takes "oat" milk.\nYes, daily',
    "Zoë",
    'C:\\new "one"',
    "👩‍🚀 is on call",
    "a/b",
    "\\u0041b",
]


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("within", [1, 2, 3])
def test_a_text_is_found_in_json_that_is_kept_as_text(told: str, within: int) -> None:
    for ascii_only in (True, False):
        for value in ({"content": f"Keep: {told}."}, {told: True}, [[told]]):
            said: object = value
            for _ in range(within):
                said = {"arguments": json.dumps(said, ensure_ascii=ascii_only)}
            assert Quotes([told]).are_in(said)
            assert not Quotes([f"{told} never"]).are_in(said)


def test_a_text_is_found_in_json_that_is_cut_or_stands_among_words() -> None:
    said = json.dumps({"content": 'Zoë takes "oat" milk.', "more": "x"})
    quotes = Quotes(['Zoë takes "oat" milk.'])
    for told in (
        said[:-9],
        f"remember({said}) was called",
        f"{said}\n{said}",
        said.replace("/", "\\/"),
    ):
        assert quotes.are_in(told)


def test_a_value_nested_deeper_than_calls_can_be_is_looked_through() -> None:
    deep: object = "we ship"
    for _ in range(100_000):
        deep = [deep]
    assert Quotes(["We ship"]).are_in(deep)
    assert not Quotes(["We stay"]).are_in([deep, "\\" * 10_000, "[" * 100_000, "\\u005c" * 10_000])


@given(TEXTS | st.text(), st.integers(1, 4))
def test_whatever_is_told_is_found_however_often_it_was_written_as_json(
    told: str, times: int
) -> None:
    said = told
    for _ in range(times):
        said = json.dumps({"said": said})
    assert Quotes([told]).are_in(said) is Quotes([told]).are_in(told)
