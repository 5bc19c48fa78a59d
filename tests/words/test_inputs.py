"""What is refused of a caller's input, and that the refusal names its field."""

from datetime import UTC, datetime
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import (
    check_count,
    check_zone,
    choice_input,
    json_input,
    optional_text_input,
    text_input,
)

NESTED: list[object] = []
for _ in range(100_000):
    NESTED = [NESTED]
CYCLE: list[object] = []
CYCLE.append(CYCLE)
WIDE_CYCLE: list[object] = []
WIDE_CYCLE += [WIDE_CYCLE] * 10


def test_a_text_comes_back_trimmed() -> None:
    assert text_input("name", " Anna\n") == "Anna"
    assert optional_text_input("name", None) is None


@pytest.mark.parametrize("text", ["", " \n", "nul\0", "half \ud800", "\udfff"])
def test_a_text_that_no_store_can_hold_is_refused_by_its_field(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        text_input("nickname", text)
    assert refused.value.details["field"] == "nickname"
    assert "nickname" in refused.value.message


def test_a_long_text_is_refused_with_the_limit() -> None:
    assert text_input("name", "x" * 5, limit=5)
    with pytest.raises(OverLimit) as refused:
        text_input("name", "x" * 6, limit=5)
    assert refused.value.details == {"field": "name", "limit": 5}


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1, 2}, b"bytes", "nul\0", ["half \ud800"], {"a\0": 1}, CYCLE],
)
def test_what_json_can_not_say_is_refused_by_its_field(value: object) -> None:
    with pytest.raises(Invalid) as refused:
        json_input("input", value, limit=1000)
    assert refused.value.details["field"] == "input"


def test_json_without_end_is_refused() -> None:
    with pytest.raises(Invalid):
        json_input("input", NESTED, limit=10**9)
    with pytest.raises(OverLimit):
        json_input("input", WIDE_CYCLE, limit=1000)


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000"])
def test_a_backslash_is_no_nul(text: str) -> None:
    assert json_input("input", {"path": text}, limit=1000) == {"path": text}


def test_json_comes_back_as_it_will_be_read() -> None:
    assert json_input("input", {1: (2, 3)}, limit=1000) == {"1": [2, 3]}


def test_json_is_measured_in_bytes() -> None:
    json_input("input", "ä" * 4, limit=10)
    with pytest.raises(OverLimit) as refused:
        json_input("input", "ä" * 5, limit=10)
    assert refused.value.details == {"field": "input", "limit": 10}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=20,
    )
)
def test_any_json_reads_back_or_is_refused_in_our_own_words(value: object) -> None:
    try:
        kept = json_input("input", value, limit=100)
    except (Invalid, OverLimit) as refused:
        told = refused.details["field"]
    else:
        told = "input" if kept == value else "changed"
    assert told == "input"


def test_a_count_has_bounds() -> None:
    check_count("limit", 1, most=10)
    check_count("limit", 10, most=10)
    for count in (0, -1, 11):
        with pytest.raises(Invalid):
            check_count("limit", count, most=10)


def test_a_time_says_its_zone() -> None:
    check_zone("expires_at", None)
    check_zone("expires_at", datetime.now(UTC))
    with pytest.raises(Invalid):
        check_zone("expires_at", datetime(2030, 1, 1))  # noqa: DTZ001 - without a zone is what it is about


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


def test_a_choice_is_one_of_those_that_there_are_to_the_letter() -> None:
    assert choice_input("color", "red", Color) is Color.RED
    for wrong in ("", "Red", " red", "RED", "green", "\ud800"):
        with pytest.raises(Invalid, match="must be red or blue") as refused:
            choice_input("color", wrong, Color)
        assert refused.value.details == {"field": "color"}


def test_a_long_choice_is_not_repeated_as_a_whole() -> None:
    with pytest.raises(Invalid) as refused:
        choice_input("color", "x" * 10_000, Color)
    assert len(refused.value.message) < 100
