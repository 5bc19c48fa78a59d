"""Streams that the SDKs' makers published, kept and sent again."""

import json
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from openai.types.responses import Response
from pydantic import TypeAdapter

from memoranda.conversations.models import Message
from memoranda.conversations.wire import anthropic, openai_responses
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.streams import anthropic as anthropic_stream
from memoranda.conversations.wire.streams import openai_responses as responses_stream
from memoranda.conversations.wire.valid import check_request
from memoranda.words.errors import Invalid
from tests.conversations.wire.sdk import Nobody, stored

PUBLISHED = Path(__file__).parent / "published"
NOBODY = Nobody()
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
KNOWN = {"message_start", "message_delta", "message_stop"}
GO_ON = Message(role="user", content="Go on.")


def events_of(name: str) -> list[dict[str, Any]]:
    text = (PUBLISHED / "anthropic" / f"{name}.txt").read_text("utf-8")
    return [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:")]


ANTHROPIC = sorted(path.stem for path in (PUBLISHED / "anthropic").iterdir())


@pytest.mark.parametrize("name", ANTHROPIC)
def test_a_published_stream_makes_a_valid_request_for_everybody(name: str) -> None:
    messages = [GO_ON, *stored(anthropic_stream.from_stream(events_of(name))), GO_ON]
    for provider in ("anthropic", "openai_responses", "openai_chat", "gemini", "openai_compatible"):
        assert check_request(provider, build_request(provider, messages)) == []


@pytest.mark.parametrize("name", ["basic", "tool_use", "server_tool_use", "unknown_events"])
def test_a_published_stream_is_sent_again_as_the_sdk_would(name: str) -> None:
    body = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events_of(name))
    NOBODY.stream = body
    with NOBODY.anthropic.messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
    ) as stream:
        final = stream.get_final_message()
    NOBODY.stream = ""
    ask: Any = [{"role": "user", "content": "x"}, final.to_param()]
    NOBODY.anthropic.messages.create(model="m", max_tokens=9, messages=ask)
    by_sdk = NOBODY.sent["messages"][1]

    kept = stored(anthropic_stream.from_stream(events_of(name)))
    sent = anthropic.to_input([GO_ON, *kept]).messages
    NOBODY.anthropic.messages.create(model="m", max_tokens=9, messages=sent)
    assert NOBODY.sent["messages"][1] == by_sdk


def test_events_of_the_sdk_are_read_as_their_json_is() -> None:
    events = [e for e in events_of("tool_use") if e["type"] in KNOWN or "index" in e]
    of_sdk = [EVENT.validate_python(event) for event in events]
    assert anthropic_stream.from_stream(of_sdk) == anthropic_stream.from_stream(events)


@pytest.mark.parametrize(
    ("name", "ends"),
    [("tool_use_invalid_json", "celsius}"), ("incomplete_partial_json", '"Filing taxes')],
)
def test_input_that_is_no_json_is_kept_to_the_letter_and_sent_as_an_object(
    name: str, ends: str
) -> None:
    [message] = stored(anthropic_stream.from_stream(events_of(name)))
    call = message.content[-1]
    assert call["type"] == "tool_call"
    assert call["arguments"].endswith(ends)
    with pytest.raises(json.JSONDecodeError):
        json.loads(call["arguments"])

    asked = anthropic.to_input([GO_ON, message]).messages[1]["content"][-1]["input"]
    assert asked == {"INVALID_JSON": call["arguments"]}
    raw = openai_responses.to_input([GO_ON, message])
    assert [item["arguments"] for item in raw if item.get("type") == "function_call"] == [
        call["arguments"]
    ]


SCENARIOS = json.loads((PUBLISHED / "openai" / "responses.json").read_text("utf-8"))["scenarios"]
TURNS = [
    pytest.param([f for f in turn["frames"] if isinstance(f, dict)], id=f"{each['id']}-{place}")
    for each in SCENARIOS
    for place, turn in enumerate(each["turns"])
]


@pytest.mark.parametrize("frames", TURNS)
def test_a_published_exchange_of_responses_is_kept_and_sent_again(
    frames: list[dict[str, Any]],
) -> None:
    if frames and all(frame["type"] == "error" for frame in frames):
        with pytest.raises(Invalid):
            responses_stream.from_stream(frames)
        return
    [message] = stored(responses_stream.from_stream(frames))
    ended = [f for f in frames if f["type"] in {"response.completed", "response.incomplete"}]
    assert message.metadata.get("stopped", False) is not bool(ended)
    sent = openai_responses.to_input([message])
    if ended:
        response = Response.construct(**ended[0]["response"])
        assert sent == [item.to_dict() for item in response.output]
    assert (
        check_request("openai_responses", {"input": [{"role": "user", "content": "x"}, *sent]})
        == []
    )


def test_a_message_of_the_sdk_is_read_as_its_json_is() -> None:
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": "Hi", "citations": None}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    of_sdk = AnthropicMessage.model_validate(body)
    assert anthropic.from_response(of_sdk) == anthropic.from_response(body)
