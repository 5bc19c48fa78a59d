"""Each thing that a provider refuses is found, and named at its place."""

from typing import Any

import pytest

from memoranda.conversations.wire.valid import check_request

USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x"}
TOOL_CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}
TOOL = {"role": "tool", "tool_call_id": "c", "content": "x"}
TOOL_USE = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "c", "content": "x"}
TEXT = {"type": "text", "text": "hi"}
ASK = {"role": "user", "parts": [{"text": "hi"}]}
MODEL = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
RESPONSE = {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


FIELD = {"openai_responses": "input", "gemini": "contents"}
FINE: list[tuple[str, list[Any]]] = [
    ("openai_responses", [USER, CALL, OUTPUT, USER]),
    ("openai_chat", [USER, CALLING, TOOL, USER]),
    ("anthropic", [USER, assistant(TEXT, TOOL_USE), user(TOOL_RESULT, TEXT)]),
    ("gemini", [ASK, MODEL, RESPONSE]),
    ("openai_compatible", [USER, assistant(TEXT), USER]),
]
REFUSED: list[tuple[str, list[Any], str]] = [
    ("openai_responses", [], "empty"),
    ("openai_responses", [USER, CALL], "no output"),
    ("openai_responses", [USER, OUTPUT], "no open call"),
    ("openai_responses", [USER, CALL, OUTPUT, OUTPUT], "no open call"),
    ("openai_responses", [USER, {**CALL, "name": "a b"}, OUTPUT], "name"),
    ("openai_responses", [USER, {**CALL, "call_id": "c" * 65}], "longer than 64"),
    ("openai_responses", [{"role": "tool", "content": "x"}], "role is tool"),
    ("openai_responses", [{"role": "user", "content": []}], "content is empty"),
    (
        "openai_responses",
        [{"role": "user", "content": [{"type": "output_text", "text": ""}]}],
        "output_text",
    ),
    ("openai_responses", [USER, {"type": "reasoning", "id": "r", "summary": []}], "led to"),
    ("openai_responses", [USER, {"type": "reasoning", "id": "r"}, CALL, OUTPUT], "no summary"),
    ("openai_responses", [USER, {"type": "shell_call", "call_id": "c"}], "shell_call_output"),
    ("openai_chat", [], "empty"),
    ("openai_chat", [USER, CALLING], "no results"),
    ("openai_chat", [USER, CALLING, USER, TOOL], "before the results"),
    ("openai_chat", [USER, TOOL], "no open call"),
    ("openai_chat", [USER, {"role": "assistant", "content": None}], "says nothing"),
    (
        "openai_chat",
        [USER, {"role": "assistant", "content": "x", "tool_calls": []}],
        "tool_calls is empty",
    ),
    (
        "openai_chat",
        [USER, {**CALLING, "tool_calls": [{**TOOL_CALL, "id": "c" * 41}]}],
        "longer than 40",
    ),
    ("openai_chat", [{"role": "model", "content": "x"}], "role is model"),
    (
        "openai_chat",
        [USER, CALLING, {**TOOL, "content": [{"type": "image_url"}]}],
        "more than text",
    ),
    ("anthropic", [], "empty"),
    ("anthropic", [assistant(TEXT)], "not the user's"),
    ("anthropic", [USER, assistant(TOOL_USE)], "no results"),
    ("anthropic", [USER, assistant(TOOL_USE), user(TEXT)], "results"),
    ("anthropic", [USER, assistant(TOOL_USE), user(TEXT, TOOL_RESULT)], "after other content"),
    ("anthropic", [user(TOOL_RESULT)], "results"),
    ("anthropic", [user()], "content is empty"),
    ("anthropic", [user({"type": "text", "text": " \n"})], "blank"),
    ("anthropic", [USER, assistant({"type": "thinking", "thinking": "x"})], "signature"),
    ("anthropic", [USER, assistant({**TOOL_USE, "input": "{}"}), user(TOOL_RESULT)], "no object"),
    ("anthropic", [USER, assistant({**TOOL_USE, "id": "a|b"})], "id a|b"),
    (
        "anthropic",
        [USER, assistant(TOOL_USE), user(TOOL_RESULT), assistant(TOOL_USE), user(TOOL_RESULT)],
        "second call",
    ),
    ("anthropic", [user(TOOL_USE)], "only the assistant"),
    ("anthropic", [{"role": "system", "content": "x"}], "role is system"),
    ("gemini", [], "empty"),
    ("gemini", [{"role": "model", "parts": [{"text": "x"}]}], "not the user's"),
    ("gemini", [ASK, MODEL], "no function responses"),
    ("gemini", [ASK, MODEL, ASK], "0 function responses to 1"),
    ("gemini", [ASK, RESPONSE], "1 function responses to 0"),
    (
        "gemini",
        [ASK, {"role": "model", "parts": [{"text": "x"}]}, MODEL, RESPONSE],
        "does not follow",
    ),
    ("gemini", [{"role": "user", "parts": []}], "no parts"),
    ("gemini", [{"role": "user", "parts": [{"text": " "}]}], "blank"),
    ("gemini", [ASK, {"role": "model", "parts": [{}]}], "empty part"),
    ("gemini", [{"role": "assistant", "parts": [{"text": "x"}]}], "role is assistant"),
    ("openai_compatible", [USER, USER], "follows another"),
    ("openai_compatible", [USER, {"role": "system", "content": "x"}], "late"),
    ("openai_compatible", [assistant(TEXT)], "first user"),
    ("openai_compatible", [{"role": "developer", "content": "x"}, USER], "role is developer"),
]


@pytest.mark.parametrize(("provider", "said"), FINE)
def test_what_a_provider_takes_has_no_fault(provider: str, said: list[Any]) -> None:
    assert check_request(provider, {FIELD.get(provider, "messages"): said}) == []


@pytest.mark.parametrize(("provider", "said", "why"), REFUSED)
def test_what_a_provider_refuses_is_found(provider: str, said: list[Any], why: str) -> None:
    faults = check_request(provider, {FIELD.get(provider, "messages"): said})
    assert any(why in fault for fault in faults), faults


@pytest.mark.parametrize("system", ["", " ", [], [{"type": "text", "text": ""}]])
def test_a_system_prompt_that_says_nothing_is_refused(system: Any) -> None:
    assert check_request("anthropic", {"messages": [USER], "system": system}) == ["system is empty"]


def test_arguments_have_to_be_json_where_the_endpoint_reads_them() -> None:
    broken = {**TOOL_CALL, "id": "abcdefghi", "function": {"name": "look", "arguments": "{"}}
    said = [USER, {**CALLING, "tool_calls": [broken]}, {**TOOL, "tool_call_id": "abcdefghi"}]
    assert check_request("openai_chat", {"messages": said}) == []
    assert "JSON" in check_request("openai_compatible", {"messages": said})[0]
