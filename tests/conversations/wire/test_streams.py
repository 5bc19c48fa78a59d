"""A stream may end, or break off anywhere: what came is kept, and the next turn works."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from memoranda.conversations.endings import NOT_WHOLE
from memoranda.conversations.models import Message
from memoranda.conversations.wire import openai_chat
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.streams import anthropic, gemini, openai_responses
from memoranda.conversations.wire.streams import openai_chat as chat
from memoranda.conversations.wire.valid import check_request
from tests.conversations.wire.sdk import stored

GO_ON = Message(role="user", content="Go on.")
Event = dict[str, Any]
Read = Callable[[list[Event]], list[Message]]


def chunk(finish: str | None = None, **delta: Any) -> Event:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def call_piece(index: int, **function: str) -> dict[str, Any]:
    begun = {"id": f"call_{index}", "type": "function"} if "name" in function else {}
    return {"index": index, **begun, "function": function}


CHAT = [
    chunk(role="assistant", content="", refusal=None),
    chunk(reasoning_content="I think"),
    chunk(reasoning_content=" so."),
    chunk(content="Let me "),
    chunk(content="look."),
    chunk(tool_calls=[call_piece(0, name="look_up", arguments="")]),
    chunk(tool_calls=[call_piece(0, arguments='{"q": ')]),
    chunk(tool_calls=[call_piece(0, arguments='"x"}'), call_piece(1, name="wait", arguments="{}")]),
    chunk("tool_calls"),
]


def block(index: int, start: Event, *deltas: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


ANTHROPIC = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "usage": {"input_tokens": 3, "output_tokens": 1},
        },
    },
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "I think"},
        {"type": "thinking_delta", "thinking": " so."},
        {"type": "signature_delta", "signature": "c2ln"},
    ),
    *block(1, {"type": "redacted_thinking", "data": "c2VjcmV0"}),
    *block(
        2,
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"query": "x"}'},
    ),
    *block(3, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
    *block(
        4,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "Let me "},
        {"type": "text_delta", "text": "look."},
        {"type": "citations_delta", "citation": {"type": "page_location", "cited_text": "x"}},
    ),
    *block(
        5,
        {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"q": '},
        {"type": "input_json_delta", "partial_json": '"x"}'},
    ),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def item(index: int, begun: Event, done: Event, *deltas: tuple[str, str]) -> list[Event]:
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *(
            {"type": f"response.{kind}.delta", "output_index": index, "delta": delta}
            for kind, delta in deltas
        ),
        {"type": "response.output_item.done", "output_index": index, "item": done},
    ]


REASONED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "I think so."}],
    "encrypted_content": "c2VjcmV0",
}
SPOKE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
}
CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look_up",
    "arguments": '{"q": "x"}',
    "status": "completed",
}
ENDED = {"id": "resp_1", "model": "m", "status": "completed", "output": [REASONED, SPOKE, CALLED]}
RESPONSES = [
    {"type": "response.created", "response": {"id": "resp_1", "model": "m", "output": []}},
    *item(
        0,
        {"type": "reasoning", "id": "rs_1", "summary": []},
        REASONED,
        ("reasoning_summary_text", "I think"),
        ("reasoning_summary_text", " so."),
    ),
    *item(1, {**SPOKE, "content": []}, SPOKE, ("output_text", "Let me "), ("output_text", "look.")),
    *item(
        2,
        {**CALLED, "arguments": ""},
        CALLED,
        ("function_call_arguments", '{"q": '),
        ("function_call_arguments", '"x"}'),
    ),
    {"type": "response.completed", "response": ENDED},
]


def piece(*parts: Event, **beside: str) -> Event:
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, **beside}],
        "responseId": "r1",
        "modelVersion": "m",
    }


SIGNATURE = base64.b64encode(b"signed").decode()
GEMINI = [
    piece({"text": "I think", "thought": True}),
    piece({"text": " so.", "thought": True}),
    piece({"text": "Let me "}),
    piece({"text": "look."}),
    piece({"text": "", "thoughtSignature": SIGNATURE}),
    piece(
        {"functionCall": {"name": "look_up", "args": {"q": "x"}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "wait"}},
    ),
    piece(finishReason="STOP"),
]

STREAMS: dict[str, tuple[list[Event], Read]] = {
    "openai_chat": (CHAT, chat.from_stream),
    "anthropic": (ANTHROPIC, anthropic.from_stream),
    "openai_responses": (RESPONSES, openai_responses.from_stream),
    "gemini": (GEMINI, gemini.from_stream),
}
CUTS = [
    pytest.param(provider, place, id=f"{provider}-{place}")
    for provider, (events, _) in STREAMS.items()
    for place in range(len(events) + 1)
]


def said(message: Message) -> str:
    return "".join(b.get("text", "") for b in message.content if b["type"] == "text")


@pytest.mark.parametrize(("provider", "place"), CUTS)
def test_wherever_a_stream_breaks_off_the_next_request_is_valid_for_everybody(
    provider: str, place: int
) -> None:
    events, read = STREAMS[provider]
    answer = stored(read(events[:place]))
    assert [message.role for message in answer] == ["assistant"]
    for target in (*STREAMS, "openai_compatible"):
        assert check_request(target, build_request(target, [GO_ON, *answer, GO_ON])) == []


@pytest.mark.parametrize("provider", STREAMS)
def test_a_whole_stream_says_all_and_is_not_stopped(provider: str) -> None:
    events, read = STREAMS[provider]
    [message] = stored(read(events))
    assert said(message) == "Let me look."
    assert "stopped" not in message.metadata
    assert not [b for b in message.content if b.get("stopped")]
    [call] = [b for b in message.content if b["type"] == "tool_call" and b["name"] == "look_up"]
    assert call["arguments"].replace(" ", "") == '{"q":"x"}'


@pytest.mark.parametrize("provider", STREAMS)
def test_a_turn_stopped_before_its_first_token_is_kept_and_says_nothing(provider: str) -> None:
    [message] = STREAMS[provider][1]([])
    assert message.content == []
    assert message.metadata == {"provider": provider, "stopped": True}


@pytest.mark.parametrize("provider", STREAMS)
def test_a_turn_stopped_in_mid_text_marks_the_text_and_sends_it(provider: str) -> None:
    events, read = STREAMS[provider]
    half = next(at for at, event in enumerate(events) if "Let me " in str(event)) + 1
    [message] = stored(read(events[:half]))
    assert message.metadata["stopped"] is True
    [text] = [b for b in message.content if b["type"] == "text" and b["text"]]
    assert (text["text"], text["stopped"]) == ("Let me ", True)
    assert "Let me " in str(build_request(provider, [GO_ON, message]))


@pytest.mark.parametrize("provider", STREAMS)
def test_a_turn_stopped_in_mid_reasoning_keeps_the_thought(provider: str) -> None:
    events, read = STREAMS[provider]
    half = next(at for at, event in enumerate(events) if "I think" in str(event)) + 1
    [message] = stored(read(events[:half]))
    [thought] = [b for b in message.content if b["type"] == "thinking"]
    assert (thought["thinking"], thought["stopped"]) == ("I think", True)


@pytest.mark.parametrize("provider", ["openai_chat", "anthropic", "openai_responses"])
def test_a_turn_stopped_in_mid_call_keeps_the_arguments_as_far_as_they_came(provider: str) -> None:
    events, read = STREAMS[provider]
    half = max(at for at, event in enumerate(events) if "'{\"q\": '" in repr(event)) + 1
    [message] = stored(read(events[:half]))
    [call] = [b for b in message.content if b["type"] == "tool_call"]
    assert (call["name"], call["arguments"], call["stopped"]) == ("look_up", '{"q": ', True)
    request = build_request(provider, [GO_ON, message, GO_ON])
    assert NOT_WHOLE in str(request)


def test_thinking_that_came_without_its_signature_is_never_sent() -> None:
    [message] = anthropic.from_stream(ANTHROPIC[:4])
    assert build_request("anthropic", [GO_ON, message])["messages"] == [
        {"role": "user", "content": "Go on."}
    ]


def test_items_that_were_whole_when_a_stream_broke_off_are_sent_as_they_were() -> None:
    called = next(at for at, event in enumerate(RESPONSES) if event.get("output_index") == 2)
    [message] = stored(openai_responses.from_stream(RESPONSES[:called]))
    assert build_request("openai_responses", [GO_ON, message])["input"][1:] == [REASONED, SPOKE]


def test_a_part_with_a_signature_stays_a_part_of_its_own() -> None:
    [message] = stored(gemini.from_stream(GEMINI))
    assert build_request("gemini", [GO_ON, message])["contents"][1]["parts"] == [
        {"text": "I think so.", "thought": True},
        {"text": "Let me look."},
        {"text": "", "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "look_up", "args": {"q": "x"}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "wait"}},
    ]


def test_two_signed_parts_stay_two() -> None:
    signed = {"text": "a", "thoughtSignature": SIGNATURE}
    [message] = stored(gemini.from_stream([piece(signed), piece(signed, finishReason="STOP")]))
    sent = build_request("gemini", [GO_ON, message])["contents"][1]["parts"]
    assert sent == [signed, signed]


def test_a_search_that_was_stopped_before_its_result_is_kept_and_not_sent() -> None:
    begun = next(at for at, event in enumerate(ANTHROPIC) if "web_search_tool" in str(event))
    [message] = stored(anthropic.from_stream(ANTHROPIC[:begun]))
    assert message.content[-1]["data"]["input"] == {"query": "x"}
    assert "srvtoolu_1" not in str(build_request("anthropic", [GO_ON, message]))
    [whole] = stored(anthropic.from_stream(ANTHROPIC))
    assert "srvtoolu_1" in str(build_request("anthropic", [GO_ON, whole]))


def test_reasoning_whose_next_item_broke_off_is_not_sent() -> None:
    half = RESPONSES.index(
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Let me "}
    )
    [message] = openai_responses.from_stream(RESPONSES[: half + 1])
    assert [block["type"] for block in message.content] == ["thinking", "text"]
    sent = build_request("openai_responses", [GO_ON, message])["input"]
    assert sent[1:] == [{"role": "assistant", "content": "Let me "}]


def test_an_item_that_was_marked_stopped_is_sent_without_what_ties_it_to_its_reasoning() -> None:
    part = {"type": "output_text", "text": "Let me look.", "annotations": []}
    two = {**SPOKE, "content": [part, {**part, "text": " Now."}]}
    output = [REASONED, two, REASONED, CALLED]
    [message] = openai_responses.from_stream(
        [{"type": "response.completed", "response": {**ENDED, "output": output}}]
    )
    assert build_request("openai_responses", [GO_ON, message])["input"][1:5] == output
    message.content[2]["stopped"] = True
    message.content[4]["stopped"] = True
    assert build_request("openai_responses", [GO_ON, message])["input"][1:3] == [
        {"role": "assistant", "content": "Let me look. Now."},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "look_up",
            "arguments": '{"q": "x"}',
        },
    ]


def test_a_streamed_completion_is_what_the_sdk_makes_of_it() -> None:
    state: Any = ChatCompletionStreamState()
    for event in CHAT:
        state.handle_chunk(ChatCompletionChunk.model_validate(event))
    by_sdk = state.get_final_completion().choices[0].message
    [message] = stored(chat.from_stream(CHAT))
    [sent, *_] = openai_chat.to_input([message])
    for field in ("content", "refusal", "reasoning_content"):
        assert sent[field] == getattr(by_sdk, field)
    for call, of_sdk in zip(sent["tool_calls"], by_sdk.tool_calls, strict=True):
        assert call["function"]["arguments"] == of_sdk.function.arguments
        assert (call["id"], call["function"]["name"]) == (of_sdk.id, of_sdk.function.name)


def test_usage_that_comes_last_is_kept() -> None:
    used = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    ending = {"id": "chatcmpl-1", "model": "m", "choices": [], "usage": used}
    [message] = chat.from_stream([*CHAT, ending])
    assert message.metadata["usage"] == used
    [other] = anthropic.from_stream(ANTHROPIC)
    assert other.metadata["usage"] == {"input_tokens": 3, "output_tokens": 9}
