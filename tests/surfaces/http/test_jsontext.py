"""JSON is read as the standard states it: whatever else a parser might let pass is refused."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.surfaces.http.errors import BrokenBody
from memoranda.surfaces.http.jsontext import DEEPEST, read_json
from memoranda.words.errors import Invalid

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\n\u2028", max_size=3), inner),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_what_json_can_say_is_read_as_it_was_written(value: object, ascii_only: bool) -> None:
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_in_words(body: bytes) -> None:
    with suppress(BrokenBody, Invalid):
        read_json(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a": }',
        b"[1,]",
        b"{'a': 1}",
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b"[" + b"9" * 5_000 + b"]",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        '{"a": 1}'.encode("utf-16"),
        b'"\0"',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1),
    ],
)
def test_what_is_no_json_is_a_broken_body(body: bytes) -> None:
    with pytest.raises(BrokenBody):
        read_json(body)


def test_nesting_up_to_the_limit_is_read() -> None:
    assert read_json(b"[" * DEEPEST + b"]" * DEEPEST)


def test_a_broken_body_says_where_it_breaks_and_quotes_none_of_it() -> None:
    with pytest.raises(BrokenBody) as caught:
        read_json(b'{"a": 1,\n "secret" 2}')
    assert caught.value.details == {"line": 2, "column": 11}
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\udfff", "\\ud800\\ud800"])
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ('"%s"', ["body"]),
        ('{"text": "a%sb"}', ["body", "text"]),
        ('{"messages": [{"content": "x"}, {"content": "%s"}]}', ["body", "messages", 1, "content"]),
        ('{"policy": {"%s": 1}}', ["body", "policy"]),
    ],
)
def test_half_a_character_and_nul_are_refused_at_their_place(
    body: str, path: list[str | int], escape: str
) -> None:
    with pytest.raises(Invalid) as caught:
        read_json((body % escape).encode())
    errors = caught.value.details["errors"]
    assert isinstance(errors, list)
    assert errors[0]["path"] == path


def test_a_whole_pair_of_surrogates_is_a_character() -> None:
    assert read_json(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_a_byte_order_mark_is_let_pass() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": 1, "text": 2}',
        b'{"a": {"text": 1, "text": 1}}',
        b'[{"a": 1, "b": 2, "\\u0061": 3}]',
        b'{"": 1, "": 2}',
    ],
)
def test_a_name_twice_in_one_object_is_refused(body: bytes) -> None:
    with pytest.raises(BrokenBody, match="twice"):
        read_json(body)


def test_one_name_in_two_objects_is_two_names() -> None:
    assert read_json(b'[{"a": {"a": 1}}, {"a": 2}]') == [{"a": {"a": 1}}, {"a": 2}]
