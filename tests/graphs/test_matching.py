"""Which values a filter means and where namespaces lie: with plain values."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.graphs.items.matching import (
    below,
    check_filter,
    is_meant,
    labels_of,
    matches,
    text_of,
)
from memoranda.graphs.items.models import Condition
from memoranda.words.errors import Invalid

LABELS = st.text("ab-/é字\U0010ffff", min_size=1, max_size=3)
NAMESPACES = st.lists(LABELS, min_size=1, max_size=4).map(tuple)


@given(NAMESPACES)
def test_a_namespace_is_read_back_as_it_was(namespace: tuple[str, ...]) -> None:
    assert labels_of(text_of(namespace)) == namespace


@given(NAMESPACES, NAMESPACES)
@example(("foo",), ("foobar",))
@example(("foo",), ("foo-",))
@example(("foo",), ("foo/",))
def test_between_its_two_texts_lies_what_begins_so_and_nothing_else(
    prefix: tuple[str, ...], namespace: tuple[str, ...]
) -> None:
    for each in (namespace, prefix + namespace):
        first, end = below(prefix)
        lies = first.encode() <= text_of(each).encode() < end.encode()
        assert lies == (each[: len(prefix)] == prefix)
        root, last = below(())
        assert root.encode() <= text_of(each).encode() < last.encode()


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ({"n": 2}, True),
        ({"n": 2.0}, True),
        ({"n": "2"}, False),
        ({"n": {"$gt": 1, "$lt": 10}}, True),
        ({"n": {"$gt": "1"}}, False),
        ({"t": {"$gte": "b"}}, True),
        ({"t": {"$gte": 1}}, False),
        ({"yes": True}, True),
        ({"yes": 1}, False),
        ({"yes": {"$gt": 0}}, False),
        ({"none": None}, True),
        ({"nowhere": None}, True),
        ({"nowhere": {"$ne": 1}}, True),
        ({"nowhere": {"$lt": 1}}, False),
        ({"list": [1, {"a": 2}]}, True),
        ({"list": [1]}, False),
        ({"list": [True, {"a": 2}]}, False),
        ({"in": {"b": {"c": 1}}}, True),
        ({"in": {"b": {"c": {"$ne": 1}}}}, False),
        ({"t": {"b": 1}}, False),
        ({}, True),
    ],
)
def test_a_filter_compares_like_with_like(wanted: dict[str, Any], meant: bool) -> None:
    value = {
        "n": 2,
        "t": "b",
        "yes": True,
        "none": None,
        "list": [1, {"a": 2}],
        "in": {"a": 0, "b": {"c": 1}},
    }
    assert matches(value, wanted) is meant


def test_an_operator_that_is_not_known_is_refused_however_deep_it_stands() -> None:
    check_filter({"a": {"$eq": 1}, "b": {"c": {"$lte": 2}}, "$d": 1})
    for wrong in ({"a": {"$in": [1]}}, {"b": {"c": {"$or": []}}}):
        with pytest.raises(Invalid, match="operator"):
            check_filter(wrong)


@pytest.mark.parametrize(
    ("match", "path", "meant"),
    [
        ("prefix", ("a",), True),
        ("prefix", ("a", "*", "c"), True),
        ("prefix", ("b",), False),
        ("prefix", ("a", "b", "c", "d"), False),
        ("prefix", (), True),
        ("suffix", ("c",), True),
        ("suffix", ("*", "c"), True),
        ("suffix", ("b",), False),
        ("suffix", (), True),
    ],
)
def test_a_condition_means_the_beginning_or_the_end(match: Any, path: Any, meant: bool) -> None:
    assert is_meant(Condition(match, path), ("a", "b", "c")) is meant
