"""Requests that a host wrote itself are kept, come out the same, and are what the SDKs' types allow."""

import base64
from typing import Any

import pytest
from anthropic.types import MessageParam
from google.genai import types
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

from memoranda.conversations.wire import gemini, openai_chat, openai_responses
from memoranda.conversations.wire.requests import build_request, read_request
from memoranda.conversations.wire.valid import check_request
from tests.conversations.wire.sdk import Nobody, stored

PNG = base64.b64encode(b"\x89PNG~~~\xff\xfe").decode()
PDF = base64.b64encode(b"%PDF").decode()
CACHED = {"cache_control": {"type": "ephemeral"}}

RESPONSES = {
    "input": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look."},
                {
                    "type": "input_image",
                    "detail": "high",
                    "image_url": f"data:image/png;base64,{PNG}",
                },
                {"type": "input_image", "detail": "auto", "image_url": "https://example.com/a.png"},
                {"type": "input_image", "detail": "auto", "file_id": "file_1"},
                {
                    "type": "input_file",
                    "filename": "a.pdf",
                    "file_data": f"data:application/pdf;base64,{PDF}",
                },
                {"type": "input_file", "file_url": "https://example.com/a.pdf"},
                {"type": "input_file", "file_id": "file_2"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="},
        {"type": "function_call", "call_id": "c1", "name": "draw", "arguments": "{"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "print(1)"},
        {"type": "shell_call", "id": "sh_1", "call_id": "c3", "action": {"commands": ["ls"]}},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_image", "detail": "auto", "file_id": "file_3"}],
        },
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "1"},
        {"type": "shell_call_output", "call_id": "c3", "output": [{"stdout": "", "stderr": ""}]},
        {
            "type": "mcp_approval_request",
            "id": "ar",
            "name": "x",
            "arguments": "{}",
            "server_label": "s",
        },
        {"type": "mcp_approval_response", "approval_request_id": "ar", "approve": True},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Go on."},
    ]
}
CHAT = {
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "hi", "name": "ann"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"},
                },
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": f"data:application/pdf;base64,{PDF}",
                    },
                },
                {"type": "file", "file": {"file_id": "file_1"}},
                {"type": "input_audio", "input_audio": {"data": "eA==", "format": "mp3"}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "draw", "arguments": "{"}},
                {"id": "c2", "type": "custom", "custom": {"name": "run", "input": "print(1)"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}]},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "assistant", "content": None, "refusal": "No."},
    ]
}
ANTHROPIC = {
    "system": [{"type": "text", "text": "Be kind.", **CACHED}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look.", **CACHED},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                },
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    "title": "A",
                    "citations": {"enabled": True},
                },
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "x"},
                },
                {"type": "document", "source": {"type": "content", "content": "y"}},
                {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "z"}],
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "c2ln"},
                {"type": "tool_use", "id": "t1", "name": "draw", "input": {"a": [1, None, 2.5]}},
                {"type": "tool_use", "id": "t2", "name": "draw", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": False,
                    "content": [
                        {"type": "text", "text": "x"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                        {"type": "tool_reference", "tool_name": "y"},
                    ],
                    **CACHED,
                },
                {"type": "tool_result", "tool_use_id": "t2", "content": "x", "is_error": True},
                {"type": "text", "text": "Go on.", **CACHED},
            ],
        },
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be kind."}]},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "Look."},
                {"inlineData": {"mimeType": "image/png", "data": PNG}},
                {
                    "fileData": {
                        "mimeType": "application/pdf",
                        "fileUri": "https://example.com/a.pdf",
                    }
                },
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {
                    "functionCall": {"name": "draw", "args": {"a": [1, None]}},
                    "thoughtSignature": "c2ln",
                },
                {"functionCall": {"name": "draw"}},
                {"functionCall": {"id": "f3", "name": "look", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "draw", "response": {"output": "x"}}},
                {
                    "functionResponse": {
                        "name": "draw",
                        "response": {"error": "no"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                        "scheduling": "SILENT",
                    }
                },
                {"functionResponse": {"id": "f3", "name": "look", "response": {"rows": [1, None]}}},
            ],
        },
        {"role": "user", "parts": [{"text": "Go on."}]},
    ],
}
WRITTEN: dict[str, dict[str, Any]] = {
    "openai_responses": RESPONSES,
    "openai_chat": CHAT,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}


@pytest.mark.parametrize("provider", WRITTEN)
def test_a_request_comes_out_as_it_went_in(provider: str) -> None:
    messages = stored(read_request(provider, WRITTEN[provider]))
    assert build_request(provider, messages) == WRITTEN[provider]
    assert check_request(provider, WRITTEN[provider]) == []


@pytest.mark.parametrize("source", WRITTEN)
@pytest.mark.parametrize("target", WRITTEN)
def test_a_request_for_one_provider_makes_one_of_anothers_types(source: str, target: str) -> None:
    messages = stored(read_request(source, WRITTEN[source]))
    request = build_request(target, messages)
    assert check_request(target, request) == []
    match target:
        case "openai_responses":
            TypeAdapter(ResponseInputParam).validate_python(request["input"])
        case "openai_chat":
            TypeAdapter(list[ChatCompletionMessageParam]).validate_python(request["messages"])
        case "anthropic":
            TypeAdapter(list[MessageParam]).validate_python(request["messages"])
        case "gemini":
            for content in request["contents"]:
                types.Content.model_validate(content)


@pytest.mark.parametrize("source", WRITTEN)
def test_the_sdks_send_what_is_built_as_it_is(source: str) -> None:
    nobody = Nobody()
    messages = stored(read_request(source, WRITTEN[source]))
    nobody.openai.responses.create(model="m", input=openai_responses.to_input(messages))
    assert nobody.sent["input"] == openai_responses.to_input(messages)
    nobody.openai.chat.completions.create(model="m", messages=openai_chat.to_input(messages))
    assert nobody.sent["messages"] == openai_chat.to_input(messages)
    built = build_request("anthropic", messages)
    nobody.anthropic.messages.create(model="m", max_tokens=9, **built)
    assert {key: nobody.sent[key] for key in built} == built
    instruction, contents = gemini.to_input(messages)
    nobody.genai.models.generate_content(
        model="m", contents=contents, config={"system_instruction": instruction}
    )
    again = gemini.from_input(nobody.sent["contents"], nobody.sent.get("systemInstruction"))
    assert build_request("gemini", again)["contents"] == gemini.to_input(messages).contents


def test_a_result_that_was_cut_since_is_sent_as_text() -> None:
    messages = stored(read_request("gemini", GEMINI))
    [cut] = [message for message in messages if message.role == "tool"]
    cut.content[2]["content"] = '{"rows": [1,'
    answered = build_request("gemini", messages)["contents"][2]["parts"][2]
    assert answered["functionResponse"]["response"] == {"output": '{"rows": [1,'}


@pytest.mark.parametrize(
    "call", ["computer_call", "local_shell_call", "shell_call", "apply_patch_call"]
)
def test_an_item_of_the_providers_own_is_sent_with_its_answer_or_not_at_all(call: str) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    asked = {"type": call, "id": "i1", "call_id": "c1"}
    answered = {"type": f"{call}_output", "call_id": "c1", "output": "x"}
    user = {"role": "user", "content": "Go on."}

    def sent(*items: dict[str, Any]) -> Any:
        return openai_responses.to_input(openai_responses.from_input([user, *items, user]))

    assert sent(reasoning, asked, answered) == [user, reasoning, asked, answered, user]
    assert sent(reasoning, asked) == [user, user]
    assert sent(answered) == [user, user]
