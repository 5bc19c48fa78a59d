"""Content is stored as text and read back exactly."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.content import (
    DEEPEST,
    _check,
    _fine,
    check_content,
    read,
    written,
)
from memoranda.words.errors import Invalid

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**1023), 2**1023)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
CONTENT = TEXT | st.lists(st.dictionaries(TEXT, VALUES, max_size=4), max_size=4)


def order_of(value: Any) -> str:
    """Values and the order of keys, which `==` overlooks."""
    return repr(value)


@given(CONTENT)
def test_content_comes_back_with_its_keys_in_order(content: Any) -> None:
    check_content("content", content)
    assert order_of(read(written(content))) == order_of(content)


def test_a_raw_argument_string_is_kept_to_the_byte() -> None:
    raw = '{"b": 1, "a": "\\u0000 \\ud83d", broken'
    block = [{"type": "tool_call", "arguments": raw}]
    check_content("content", block)
    assert read(written(block)) == block


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("a\0b", "content"),
        ("\ud800", "content"),
        ([{"text": "fine"}, {"text": ["x", "\udc00"]}], "content.1.text.1"),
        ([{"a\0": 1}], "content.0"),
        ([{"n": float("nan")}], "content.0.n"),
        ([{"n": float("inf")}], "content.0.n"),
        ([{"n": 2**2000}], "content.0.n"),
        ([{"n": b"bytes"}], "content.0.n"),
        ([{"n": {1: "key"}}], "content.0.n"),
    ],
)
def test_what_would_not_come_back_the_same_is_refused_at_its_place(
    content: Any, field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        check_content("content", content)
    assert refused.value.details["field"] == field


def test_content_that_is_nested_without_end_is_refused() -> None:
    deep: Any = json.loads("[" * 900 + "]" * 900)
    with pytest.raises(Invalid, match=f"more than {DEEPEST} levels"):
        check_content("content", [{"deep": deep}])


ODD = st.recursive(
    st.sampled_from(["fine", "a\0b", "\ud800", float("nan"), 2**2000, b"x", 1, None, 1.5, True]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["k", "a\0", "\udc00", 1]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(ODD)
def test_what_is_fine_at_a_glance_is_what_has_nothing_wrong_at_any_place(value: Any) -> None:
    try:
        _check("content", value, DEEPEST)
    except Invalid:
        assert not _fine(value, DEEPEST)
    else:
        assert _fine(value, DEEPEST)
