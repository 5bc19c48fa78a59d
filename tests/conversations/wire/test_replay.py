"""What a provider sent, kept and sent again, is what its own SDK would send back."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.conversations.models import Message
from memoranda.conversations.wire import anthropic, gemini, openai_chat, openai_responses
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request
from tests.conversations.wire import shapes
from tests.conversations.wire.sdk import Nobody, stored

NOBODY = Nobody()
QUESTION = Message(role="user", content="Go on.")


def result_of(call_id: str, name: str) -> Message:
    block = {"type": "tool_result", "tool_call_id": call_id, "name": name, "content": "done"}
    return Message(role="tool", content=[block])


def answered(messages: list[Message]) -> list[Message]:
    """The question, the answer, and the results of what it called."""
    calls = [block for block in messages[0].content if block["type"] == "tool_call"]
    return [QUESTION, *messages, *(result_of(call["id"], call["name"]) for call in calls)]


@given(shapes.OUTPUT)
def test_responses_are_sent_as_the_sdk_sends_their_output(output: list[dict[str, Any]]) -> None:
    create = NOBODY.openai.responses.create
    response = NOBODY.answers(shapes.response(output), lambda: create(model="m", input="x"))
    outputs = [
        {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": "done"}
        for item in output
        if item["type"] in {"function_call", "custom_tool_call"}
    ]
    create(model="m", input=[{"role": "user", "content": "Go on."}, *response.output, *outputs])
    by_sdk = NOBODY.sent["input"]

    messages = answered(stored(openai_responses.from_response(response)))
    create(model="m", input=openai_responses.to_input(messages))
    assert NOBODY.sent["input"] == by_sdk
    assert not check_request("openai_responses", {"input": by_sdk})


@given(shapes.CHAT_MESSAGE)
def test_chat_messages_are_sent_as_the_sdk_sends_them(message: dict[str, Any]) -> None:
    create = NOBODY.openai.chat.completions.create
    ask = [{"role": "user", "content": "Go on."}]
    completion = NOBODY.answers(shapes.completion(message), lambda: create(model="m", messages=ask))
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "done"}
        for call in message.get("tool_calls", [])
    ]
    create(model="m", messages=[*ask, completion.choices[0].message, *results])
    by_sdk = NOBODY.sent["messages"]

    messages = answered(stored(openai_chat.from_response(completion)))
    create(model="m", messages=openai_chat.to_input(messages))
    assert NOBODY.sent["messages"] == by_sdk
    assert not check_request("openai_chat", {"messages": by_sdk})


@given(shapes.CONTENT)
def test_anthropic_blocks_are_sent_as_the_sdk_sends_them(content: list[dict[str, Any]]) -> None:
    create = NOBODY.anthropic.messages.create
    ask = [{"role": "user", "content": "Go on."}]
    message = NOBODY.answers(
        shapes.anthropic_message(content), lambda: create(model="m", max_tokens=9, messages=ask)
    )
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "done"}
        for block in content
        if block["type"] == "tool_use"
    ]
    ending = [{"role": "user", "content": results}] if results else []
    create(model="m", max_tokens=9, messages=[*ask, message.to_param(), *ending])
    by_sdk = NOBODY.sent["messages"]

    messages = answered(stored(anthropic.from_response(message)))
    create(model="m", max_tokens=9, messages=anthropic.to_input(messages).messages)
    assert NOBODY.sent["messages"] == by_sdk
    assert not check_request("anthropic", {"messages": by_sdk})


@given(shapes.PARTS)
def test_gemini_parts_are_sent_as_the_sdk_sends_them(parts: list[dict[str, Any]]) -> None:
    generate = NOBODY.genai.models.generate_content
    ask = [{"role": "user", "parts": [{"text": "Go on."}]}]
    answer = NOBODY.answers(shapes.candidate(parts), lambda: generate(model="m", contents=ask))
    responses = [
        {"functionResponse": {**named, "response": {"output": "done"}}}
        for part in parts
        if (call := part.get("functionCall"))
        and (named := {key: call[key] for key in ("id", "name") if key in call})
    ]
    ending = [{"role": "user", "parts": responses}] if responses else []
    generate(model="m", contents=[*ask, answer.candidates[0].content, *ending])
    by_sdk = NOBODY.sent["contents"]

    messages = answered(stored(gemini.from_response(answer)))
    generate(model="m", contents=gemini.to_input(messages).contents)
    assert NOBODY.sent["contents"] == by_sdk


EVERY: list[tuple[str, st.SearchStrategy[Any], Any]] = [
    (
        "openai_responses",
        shapes.OUTPUT,
        lambda x: openai_responses.from_response(shapes.response(x)),
    ),
    ("openai_chat", shapes.CHAT_MESSAGE, lambda x: openai_chat.from_response(shapes.completion(x))),
    ("anthropic", shapes.CONTENT, lambda x: anthropic.from_response(shapes.anthropic_message(x))),
    ("gemini", shapes.PARTS, lambda x: gemini.from_response(shapes.candidate(x))),
]


@pytest.mark.parametrize(
    "target", ["openai_responses", "openai_chat", "anthropic", "gemini", "openai_compatible"]
)
@pytest.mark.parametrize(("source", "shape", "read"), EVERY, ids=[row[0] for row in EVERY])
@settings(max_examples=30)
@given(data=st.data())
def test_any_answer_makes_a_valid_request_for_any_provider(
    data: st.DataObject, source: str, shape: Any, read: Any, target: str
) -> None:
    messages = answered(stored(read(data.draw(shape))))
    before = [message.model_copy(deep=True) for message in messages]
    assert check_request(target, build_request(target, messages)) == []
    assert messages == before  # what is kept stays as it is


USUAL: list[tuple[str, list[Message], list[str]]] = [
    (
        "openai_responses",
        openai_responses.from_response(
            shapes.response(
                [
                    {
                        "type": "reasoning",
                        "id": "rs",
                        "summary": [{"type": "summary_text", "text": "x"}],
                    },
                    {
                        "type": "message",
                        "id": "msg",
                        "role": "assistant",
                        "status": "completed",
                        "content": [
                            {"type": "output_text", "text": "a", "annotations": []},
                            {"type": "refusal", "refusal": "b"},
                        ],
                    },
                    {
                        "type": "function_call",
                        "id": "fc",
                        "call_id": "c",
                        "name": "f",
                        "arguments": "{",
                    },
                    {
                        "type": "custom_tool_call",
                        "id": "ct",
                        "call_id": "d",
                        "name": "f",
                        "input": "x",
                    },
                ]
            )
        ),
        ["thinking", "text", "text", "tool_call", "tool_call"],
    ),
    (
        "openai_chat",
        openai_chat.from_response(
            shapes.completion(
                {
                    "role": "assistant",
                    "content": "a",
                    "reasoning_content": "x",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
                    ],
                }
            )
        ),
        ["thinking", "text", "tool_call"],
    ),
    (
        "anthropic",
        anthropic.from_response(
            shapes.anthropic_message(
                [
                    {"type": "thinking", "thinking": "x", "signature": "y"},
                    {"type": "redacted_thinking", "data": "z"},
                    {"type": "text", "text": "a", "citations": None},
                    {"type": "tool_use", "id": "c", "name": "f", "input": {}},
                ]
            )
        ),
        ["thinking", "redacted_thinking", "text", "tool_call"],
    ),
    (
        "gemini",
        gemini.from_response(
            shapes.candidate(
                [
                    {"text": "x", "thought": True},
                    {"text": "a", "thoughtSignature": "eA=="},
                    {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "eA=="},
                    {"inlineData": {"mimeType": "image/png", "data": "eA=="}},
                ]
            )
        ),
        ["thinking", "text", "tool_call", "image"],
    ),
]


@pytest.mark.parametrize(("provider", "messages", "types"), USUAL, ids=[row[0] for row in USUAL])
def test_what_every_provider_has_is_seen_as_such(
    provider: str, messages: list[Message], types: list[str]
) -> None:
    """What is opaque would be lost to another provider, though its own would take it back."""
    assert [block["type"] for block in messages[0].content] == types
    assert messages[0].metadata["provider"] == provider
    assert {"model", "response_id", "usage", "finish_reason"} <= set(messages[0].metadata)


def test_a_response_that_holds_a_calls_output_is_three_messages_and_sent_as_one() -> None:
    output = [
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
        {
            "type": "function_call_output",
            "id": "fo",
            "call_id": "c",
            "output": "x",
            "status": "completed",
        },
        {"type": "web_search_call", "id": "ws", "status": "completed"},
    ]
    messages = stored(openai_responses.from_response(shapes.response(output)))
    assert [message.role for message in messages] == ["assistant", "tool", "assistant"]
    assert [message for message in messages if "usage" in message.metadata] == messages[2:]
    assert openai_responses.to_input(messages) == output


def test_a_field_is_sent_by_the_name_that_the_api_has_for_it() -> None:
    """The SDK itself sends it by the name that it has in Python, which the API does not know."""
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "async": True}
    create = NOBODY.openai.responses.create
    response = NOBODY.answers(shapes.response([call]), lambda: create(model="m", input="x"))
    [sent, _] = openai_responses.to_input(openai_responses.from_response(response))
    assert sent == call
