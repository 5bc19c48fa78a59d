"""A block is seen by its type; what fits none is kept as it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.wire.blocks import Opaque, ToolResult, view, views

WHOLE: list[dict[str, Any]] = [
    {"type": "text", "text": "hi"},
    {"type": "text", "text": "", "stopped": True},
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "eA=="},
    {"type": "tool_call", "id": "c", "name": "look", "arguments": "{broken"},
    {"type": "tool_result", "tool_call_id": "c", "content": "x", "is_error": False},
    {
        "type": "tool_result",
        "tool_call_id": "c",
        "name": "look",
        "content": [{"type": "text", "text": "x"}],
    },
    {"type": "image", "media_type": "image/png", "data": "eA=="},
    {"type": "document", "url": "https://example.com/a.pdf"},
    {"type": "document", "file_id": "f"},
    {"type": "opaque", "provider": "anthropic", "data": {"type": "x", "nothing": None}},
    {"type": "text", "text": "hi", "extra": {"citations": None, "deep": [{"a": None}]}},
]


@pytest.mark.parametrize("block", WHOLE, ids=lambda block: block["type"])
def test_a_block_that_is_seen_is_written_as_it_was(block: dict[str, Any]) -> None:
    assert view(block).plain() == block
    assert not isinstance(view(block), Opaque) or block["type"] == "opaque"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": "text", "text": "x", "more": 1},
        {"type": "hologram", "data": "x"},
        {"type": "image", "media_type": "image/png"},
        {"type": "image", "data": "x", "url": "y"},
        {"type": "tool_call", "id": "c", "name": "look", "arguments": {"a": 1}},
        {},
    ],
)
def test_a_block_that_fits_no_type_is_nobodys_and_kept(block: dict[str, Any]) -> None:
    seen = view(block)
    assert isinstance(seen, Opaque)
    assert (seen.provider, seen.data) == ("", block)


def test_a_result_stays_a_result_though_nobody_knows_one_of_its_parts() -> None:
    block = {"type": "tool_result", "tool_call_id": "c", "content": [{"type": "hologram"}]}
    seen = view(block)
    assert isinstance(seen, ToolResult)
    assert isinstance(seen.content[0], Opaque)


def test_a_text_is_one_block_and_an_empty_one_is_none() -> None:
    assert [block.plain() for block in views("hi")] == [{"type": "text", "text": "hi"}]
    assert views("") == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["type", "text", "data", "id", "name", "content", "extra", "arguments"])
TYPES = st.sampled_from([block["type"] for block in WHOLE])


@given(st.dictionaries(KEYS, VALUES | TYPES, max_size=6))
def test_whatever_is_stored_is_seen_somehow(block: dict[str, Any]) -> None:
    assert view(block).type
