"""A cut never falls inside of what a reader takes for one character."""

from time import process_time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.graphemes import boundary_after, boundary_before

CLUSTERS = (
    *(
        "e\u0301",
        "\r\n",
        "🇫🇷",
        "👩‍👩‍👧",
        "👍🏽",
        "🏴\U000e0067\U000e0062\U000e007f",
        "क्त",
        "각",
        "\u1100\u1161\u11a8",
    ),
    *(
        "\u06001",
        "\u1100각",
        "❤️",
        "a\u200d",
        "\n",
        "\r",
        " ",
        "x",
        "я",
        "由",
        "か",
        "カ\u3099",
        "\u0e01\u0e33",
    ),
)
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.lists(st.sampled_from([*CLUSTERS, *"".join(CLUSTERS)])).map("".join),
)


def boundaries(text: str) -> set[int]:
    """Read from the beginning, as the rules are written."""
    return {0, len(text), *(found.end() for found in regex.finditer(r"\X", text))}


@given(ANY_TEXT, st.integers(0, 60))
def test_the_nearest_boundaries_are_those_of_the_whole_text(text: str, at: int) -> None:
    at = min(at, len(text))
    assert boundary_before(text, at) == max(each for each in boundaries(text) if each <= at)
    assert boundary_after(text, at) == min(each for each in boundaries(text) if each >= at)


@pytest.mark.parametrize("cluster", [each for each in CLUSTERS if len(each) > 1])
def test_no_grapheme_is_split(cluster: str) -> None:
    text = f"one{cluster}two"
    for at in range(4, 3 + len(cluster)):
        assert (boundary_before(text, at), boundary_after(text, at)) == (3, 3 + len(cluster))


def test_places_outside_of_the_text_are_its_ends() -> None:
    assert (boundary_before("abc", -1), boundary_before("abc", 9)) == (0, 3)
    assert (boundary_after("abc", -1), boundary_after("abc", 9)) == (0, 3)


def test_a_text_of_one_grapheme_alone_has_no_place_to_be_cut() -> None:
    text = "a" + "\u0301" * 50_000
    assert boundary_before(text, 40_000) == 0
    assert boundary_after(text, 1) == len(text)


@pytest.mark.parametrize("piece", ["🇫", "👩\u200d", "\u0301", "\u0600", "क्", "\u1100", "\r"])
def test_a_long_text_without_letters_is_cut_as_quickly_as_any_other(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    began = process_time()
    for at in (0, 1, 31, 32, 33, 50_001, len(text)):
        assert boundary_before(text, at) <= at <= boundary_after(text, at)
    # Some hundredths of a second; when each was counted from the beginning, many.
    assert process_time() - began < 4
