"""A body is kept as it was sent, byte for byte, or refused with its field."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.files.body import EMPTY, body_input, hash_input, hash_of
from memoranda.files.errors import FileTooLarge
from memoranda.words.errors import Invalid

MOST = 65_536


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300))
def test_any_text_is_kept_byte_for_byte(text: str) -> None:
    body = body_input(text)
    assert body.text == text
    assert body.bytes == len(text.encode())
    assert body.hash == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    ["\ufeff# BOM", "a\r\nb\r\n", "---\ntitle: x\n---\n", "ends with blanks  \n\t ", " ", "\u2028"],
)
def test_nothing_is_trimmed_or_folded(text: str) -> None:
    assert body_input(text).text == text


def test_a_file_has_65536_bytes_at_most() -> None:
    assert body_input("a" * MOST).bytes == MOST
    assert body_input("é" * (MOST // 2)).bytes == MOST
    for text in ("a" * (MOST + 1), "é" * (MOST // 2) + "a", "😀" * (MOST // 4) + "a"):
        with pytest.raises(FileTooLarge) as refused:
            body_input(text)
        assert refused.value.details == {"field": "body", "limit": MOST, "bytes": MOST + 1}


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 of a pair", "\udfff"])
def test_what_no_text_can_hold_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        body_input(text)
    assert refused.value.details["field"] == "body"


@pytest.mark.parametrize(
    "value", ["", "abc", "A" * 64, "0" * 63, "0" * 65, "g" * 64, "0" * 64 + "\n"]
)
def test_what_is_no_hash_is_refused(value: str) -> None:
    with pytest.raises(Invalid) as refused:
        hash_input("expected_hash", value)
    assert refused.value.details["field"] == "expected_hash"


def test_a_hash_is_taken_as_it_is() -> None:
    assert hash_input("expected_hash", hash_of("x")) == hash_of("x")
    assert ("", hash_of(""), 0) == EMPTY
