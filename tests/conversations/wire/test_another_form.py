"""What is no answer of a provider, and no request to it, is refused: it is never read as one that says nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from memoranda.conversations import wire
from memoranda.conversations.models import Message
from memoranda.conversations.wire.requests import read_request, read_response
from memoranda.words.errors import Invalid
from tests.conversations.wire import shapes
from tests.conversations.wire.test_inputs import WRITTEN
from tests.conversations.wire.test_streams import STREAMS

TEXT = {"type": "text", "text": "Hello."}
SPOKE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
}
ANSWERS: dict[str, Any] = {
    "openai_responses": shapes.response([SPOKE]),
    "openai_chat": shapes.completion({"role": "assistant", "content": "Hello."}),
    "anthropic": shapes.anthropic_message([TEXT]),
    "gemini": shapes.candidate([{"text": "Hello."}]),
}
ERRORS: dict[str, Any] = {
    "openai": {"error": {"message": "Slow down.", "type": "rate_limit", "code": None}},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Later."}},
    "gemini": {"error": {"code": 503, "message": "Later.", "status": "UNAVAILABLE"}},
    "router": {"error": {"code": 502, "message": "Later."}, "choices": []},
    "gateway": {"detail": "Bad gateway"},
    "nothing": {},
}
PAIRS = [(one, other) for one in ANSWERS for other in ANSWERS if one != other]
FROM_INPUT: dict[str, Callable[[Any], list[Message]]] = {
    "openai_responses": wire.openai_responses.from_input,
    "openai_chat": wire.openai_chat.from_input,
    "anthropic": wire.anthropic.from_input,
    "gemini": wire.gemini.from_input,
}
LISTS = {
    "openai_responses": "input",
    "openai_chat": "messages",
    "anthropic": "messages",
    "gemini": "contents",
}


@pytest.mark.parametrize("provider", ANSWERS)
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_no_answer_that_says_nothing(provider: str, error: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_response(provider, ERRORS[error])
    assert provider in refused.value.message
    assert ("It is an error" in refused.value.message) is ("error" in ERRORS[error])
    assert "Later." not in refused.value.message


@pytest.mark.parametrize(("provider", "other"), PAIRS)
def test_an_answer_of_another_provider_is_refused_by_its_name(provider: str, other: str) -> None:
    with pytest.raises(Invalid, match=f"It looks like one of {other}"):
        read_response(provider, ANSWERS[other])


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        ("anthropic", {"content": [{"text": "Hello."}]}),
        ("anthropic", {"content": None}),
        ("openai_responses", {"output": [{"text": "Hello."}]}),
        ("openai_responses", {"output": "Hello."}),
        ("openai_chat", {"choices": [{"text": "Hello.", "finish_reason": "stop"}]}),
        ("openai_chat", {"choices": [{"delta": {"content": "Hello."}}]}),
        ("gemini", {"text": "Hello."}),
    ],
)
def test_what_only_looks_like_an_answer_is_refused(provider: str, answer: Any) -> None:
    with pytest.raises(Invalid):
        read_response(provider, answer)


def test_an_answer_that_was_blocked_or_is_empty_is_one() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}
    assert read_response("gemini", blocked) == []
    silent = {"candidates": [{"finishReason": "MAX_TOKENS"}]}
    assert [each.content for each in read_response("gemini", silent)] == [[]]
    assert read_response("openai_chat", {"choices": [], "model": "m"}) == []
    for provider, answer in (
        ("anthropic", shapes.anthropic_message([])),
        ("openai_responses", {"status": "failed", "error": {"code": "x"}, "output": []}),
    ):
        [message] = read_response(provider, answer)
        assert message.content == []


@pytest.mark.parametrize(("provider", "other"), PAIRS)
def test_a_stream_of_another_provider_is_refused(provider: str, other: str) -> None:
    _, read = STREAMS[provider]
    events, _ = STREAMS[other]
    for some in (events, events[:1]):
        with pytest.raises(Invalid):
            read(some)


@pytest.mark.parametrize("provider", STREAMS)
@pytest.mark.parametrize("error", [each for each in ERRORS if each != "router"])
def test_a_stream_that_begins_with_an_error_is_no_answer(provider: str, error: str) -> None:
    events, read = STREAMS[provider]
    with pytest.raises(Invalid):
        read([ERRORS[error]])
    [message] = read([*events[:3], ERRORS[error]])
    assert message.metadata["stopped"] is True


@pytest.mark.parametrize("provider", STREAMS)
def test_an_answer_that_was_not_streamed_is_no_stream(provider: str) -> None:
    if provider == "gemini":
        return  # there a whole answer is a stream of one
    with pytest.raises(Invalid):
        STREAMS[provider][1]([ANSWERS[provider]])


@pytest.mark.parametrize("provider", FROM_INPUT)
def test_a_whole_request_in_the_place_of_its_list_is_told_how_to_be_given(provider: str) -> None:
    with pytest.raises(Invalid) as refused:
        FROM_INPUT[provider](WRITTEN[provider])
    assert LISTS[provider] in refused.value.message
    assert "read_request" in refused.value.message
    assert read_request(provider, WRITTEN[provider])
    for wrong in ({}, {LISTS[provider]: None}, [], {"text": "Hello."}):
        with pytest.raises(Invalid) as refused:
            read_request(provider, wrong)  # type: ignore[arg-type]  # some of them are no objects
        assert refused.value.details["field"] == LISTS[provider]
    for wrong in (7, b"Hello.", ["Hello."], [7]):
        with pytest.raises(Invalid):
            FROM_INPUT[provider](wrong)


@pytest.mark.parametrize(("provider", "other"), PAIRS)
def test_a_request_to_another_provider_is_refused_and_not_read_in_part(
    provider: str, other: str
) -> None:
    """Plain texts are written alike for some; what calls a tool is not."""
    with pytest.raises(Invalid) as refused:
        FROM_INPUT[provider](WRITTEN[other][LISTS[other]])
    assert str(refused.value.details["field"]).startswith(LISTS[provider])


def test_everything_is_reached_in_one_way() -> None:
    for provider, whole in ANSWERS.items():
        assert getattr(wire, provider).from_response(whole)
        assert getattr(wire.streams, provider).from_stream(STREAMS[provider][0])
