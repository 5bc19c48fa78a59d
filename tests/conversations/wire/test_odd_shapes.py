"""What no API gives is refused as a whole, and state that is stored in an odd form stops no request."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.conversations.compaction.serializing import refusal_of
from memoranda.conversations.content import check_content
from memoranda.conversations.models import Message
from memoranda.conversations.wire.requests import build_request, read_response
from memoranda.conversations.wire.streams import anthropic, gemini, openai_chat, openai_responses
from memoranda.conversations.wire.valid import check_request
from memoranda.words.errors import Invalid
from tests.conversations.wire import shapes
from tests.conversations.wire.test_streams import ANTHROPIC, CHAT, GEMINI, RESPONSES

PROVIDERS = ("openai_responses", "openai_chat", "anthropic", "gemini", "openai_compatible")
GO_ON = Message(role="user", content="Go on.")
ODD: list[Any] = [None, True, -1, 1.5, "", [], {}, [None], [[]], {"type": None}, ["text"], b"raw"]
ANSWERS = {
    "openai_responses": shapes.OUTPUT.map(shapes.response),
    "openai_chat": shapes.CHAT_MESSAGE.map(shapes.completion),
    "anthropic": shapes.CONTENT.map(shapes.anthropic_message),
    "gemini": shapes.PARTS.map(shapes.candidate),
}
STREAMS: dict[str, tuple[Callable[[Any], list[Message]], Any]] = {
    "openai_responses": (openai_responses.from_stream, RESPONSES),
    "openai_chat": (openai_chat.from_stream, CHAT),
    "anthropic": (anthropic.from_stream, ANTHROPIC),
    "gemini": (gemini.from_stream, GEMINI),
}
STATE = {"type": "opaque", "provider": "anthropic", "data": {"type": "x"}}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part of a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from places(part, (*path, key))


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The value with something else at that place."""
    if not path:
        return odd
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = changed(value[path[0]], path[1:], odd)
    return copied


def read_or_refused(read: Callable[[Any], list[Message]], given: Any) -> None:
    """It is `Invalid`, or messages of which every provider's request can be built and checked."""
    try:
        messages = read(given)
        for message in messages:
            check_content("content", message.content)
    except Invalid:
        return
    for provider in PROVIDERS:
        request = build_request(provider, [GO_ON, *messages, GO_ON])
        json.dumps(request)
        check_request(provider, request)


@pytest.mark.parametrize("provider", ANSWERS)
@settings(max_examples=30)
@given(data=st.data())
def test_an_answer_with_anything_at_any_place_is_read_or_refused(
    provider: str, data: st.DataObject
) -> None:
    answer = data.draw(ANSWERS[provider])
    for path in data.draw(st.lists(st.sampled_from([*places(answer)]), min_size=5, max_size=20)):
        for odd in ODD:
            read_or_refused(
                lambda given: read_response(provider, given), changed(answer, path, odd)
            )


@pytest.mark.parametrize("provider", STREAMS)
def test_a_stream_with_anything_at_any_place_is_read_or_refused(provider: str) -> None:
    read, events = STREAMS[provider]
    for path in places(events):
        for odd in ODD:
            read_or_refused(read, changed(events, path, odd))


@pytest.mark.parametrize("provider", PROVIDERS[:-1])
@pytest.mark.parametrize("name", ["type", "id", "call_id", "tool_use_id", "role"])
@pytest.mark.parametrize("odd", [[1], {"a": {}}, 3, True])
@pytest.mark.parametrize("within", [False, True])
def test_state_that_is_known_by_no_text_is_kept_and_sent_to_nobody(
    provider: str, name: str, odd: Any, within: bool
) -> None:
    state = {
        **STATE,
        "provider": provider,
        "data": {"type": "x_call", "mark": "odd one", name: odd},
    }
    result = {"type": "tool_result", "tool_call_id": "c1", "content": [state]}
    call = {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": "{}"}
    about = {"provider": provider}
    messages = [
        GO_ON,
        Message(
            role="assistant", content=[call] if within else [state, state, call], metadata=about
        ),
        Message(
            role="tool",
            content=[{**result, "content": [state]} if within else {**result, "content": "x"}],
            metadata=about,
        ),
        GO_ON,
    ]
    for target in PROVIDERS:
        sent = build_request(target, messages)
        assert "odd one" not in json.dumps(sent)
        assert refusal_of(messages, target) is None
