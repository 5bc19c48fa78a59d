"""What one provider said, sent to another: nothing opaque goes along, and every request is valid."""

import importlib
import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.content import check_content
from memoranda.conversations.endings import UNANSWERED
from memoranda.conversations.models import Message
from memoranda.conversations.wire import anthropic, gemini, openai_chat, openai_responses
from memoranda.conversations.wire.capabilities import (
    ANTHROPIC,
    CAPABILITIES,
    OPENAI_CHAT,
    capabilities_of,
)
from memoranda.conversations.wire.portable import object_of
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request
from memoranda.words.errors import Invalid

GO_ON = Message(role="user", content="Go on.")
PNG = "iVBORw0KGgo="
IMAGE = {"type": "image", "media_type": "image/png", "data": PNG}
PDF = {"type": "document", "media_type": "application/pdf", "data": "JVBERi0="}
SECRET = "c2VjcmV0LXN0YXRl"


def call(
    call_id: str = "call_1", name: str = "look_up", arguments: str = "{}", **beside: Any
) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments, **beside}


def said(*blocks: dict[str, Any], provider: str = "anthropic", **about: Any) -> Message:
    return Message(role="assistant", content=list(blocks), metadata={"provider": provider, **about})


def result(call_id: str = "call_1", content: Any = "found", **beside: Any) -> Message:
    block = {"type": "tool_result", "tool_call_id": call_id, "content": content, **beside}
    return Message(role="tool", content=[block])


STATEFUL = [
    {
        "type": "thinking",
        "thinking": "visible",
        "signature": SECRET,
        "extra": {"item": {"id": SECRET}},
    },
    {"type": "redacted_thinking", "data": SECRET},
    {"type": "opaque", "provider": "anthropic", "data": {"type": "server_tool_use", "id": SECRET}},
    {"type": "text", "text": "Here.", "extra": {"citations": [SECRET], "item": {"id": SECRET}}},
    call(
        extra={"part": {"thoughtSignature": SECRET}, "item": {"id": SECRET}, "call": {"x": SECRET}}
    ),
]


@pytest.mark.parametrize("target", [name for name in CAPABILITIES if name != "anthropic"])
def test_no_state_of_one_provider_reaches_another(target: str) -> None:
    messages = [GO_ON, said(*STATEFUL), result(extra={"state": SECRET})]
    sent = json.dumps(build_request(target, messages))
    assert SECRET not in sent
    assert "Here." in sent
    assert "visible" not in sent  # the usual: another's thinking is dropped


def test_thinking_goes_along_as_text_where_the_target_wants_it() -> None:
    target = OPENAI_CHAT.model_copy(update={"foreign_thinking": "text"})
    [_, answer, _] = openai_chat.to_input([GO_ON, said(*STATEFUL), result()], target)
    assert [part["text"] for part in answer["content"]] == ["visible", "Here."]


def test_a_message_of_nobodys_is_portable_too() -> None:
    message = Message(role="assistant", content=STATEFUL)
    assert SECRET not in json.dumps(build_request("anthropic", [GO_ON, message, result()]))


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ('{"a": 1', {"INVALID_JSON": '{"a": 1'}),
        ("[1]", {"INVALID_JSON": "[1]"}),
        ("5", {"INVALID_JSON": "5"}),
        ('{"a": NaN}', {"INVALID_JSON": '{"a": NaN}'}),
        ("[" * 100_000, {"INVALID_JSON": "[" * 100_000}),
    ],
)
def test_arguments_become_an_object_in_the_request_alone(
    arguments: str, asked: dict[str, Any]
) -> None:
    message = said(call(arguments=arguments))
    sent = anthropic.to_input([GO_ON, message, result()]).messages
    assert sent[1]["content"][0]["input"] == asked == object_of(arguments)
    _, contents = gemini.to_input([GO_ON, message, result()])
    assert contents[1]["parts"][0]["functionCall"]["args"] == asked
    assert message.content[0]["arguments"] == arguments
    assert openai_responses.to_input([GO_ON, message, result()])[1]["arguments"] == arguments
    raw = openai_chat.to_input([GO_ON, message, result()])
    assert raw[1]["tool_calls"][0]["function"]["arguments"] == arguments


IDS = st.text(min_size=0, max_size=90) | st.sampled_from(
    ["call_1", "toolu_x", "a|b", "日本", "x" * 80]
)


@pytest.mark.parametrize("target", CAPABILITIES)
@given(
    ids=st.lists(IDS, min_size=1, max_size=4),
    names=st.lists(IDS, min_size=4, max_size=4),
    turns=st.integers(1, 3),
)
def test_ids_and_names_are_made_valid_and_still_belong_together(
    target: str, ids: list[str], names: list[str], turns: int
) -> None:
    messages = [GO_ON]
    for turn in range(turns):  # the same ids in every turn, as some models give them
        messages.append(said(*(call(i, n) for i, n in zip(ids, names, strict=False))))
        messages += [result(i, f"{turn}.{place}") for place, i in enumerate(ids)]
    request = build_request(target, messages)
    assert check_request(target, request) == []
    answers = [f"{turn}.{place}" for turn in range(turns) for place in range(len(ids))]
    sent = json.dumps(request)
    places = [sent.index(f'"{answer}"') for answer in answers]
    assert places == sorted(places)


def test_a_valid_id_stays_as_it_is() -> None:
    [_, answer, answered] = openai_chat.to_input([GO_ON, said(call("call_9")), result("call_9")])
    assert answer["tool_calls"][0]["id"] == answered["tool_call_id"] == "call_9"


BLOCKS = st.sampled_from(
    [call("a"), call("b"), call("c"), {"type": "text", "text": "hm"}, {"type": "text", "text": " "}]
)
MESSAGES = st.lists(
    st.lists(BLOCKS, max_size=3).map(lambda blocks: said(*blocks))
    | st.sampled_from(["a", "b", "c", "d"]).map(result)
    | st.sampled_from(["hello", "", " "]).map(lambda text: Message(role="user", content=text))
    | st.sampled_from(["Be kind.", ""]).map(lambda text: Message(role="system", content=text))
    | st.just(Message(role="developer", content="Be brief.")),
    max_size=8,
)


@pytest.mark.parametrize("target", CAPABILITIES)
@given(messages=MESSAGES)
def test_a_list_cut_anyhow_makes_a_valid_request(target: str, messages: list[Message]) -> None:
    messages = [*messages, GO_ON]
    assert check_request(target, build_request(target, messages)) == []


def test_an_open_call_is_answered_and_a_late_result_finds_its_call() -> None:
    messages = [
        GO_ON,
        said(call("a"), call("b")),
        GO_ON,
        result("b", "late"),
        result("z", "nobody's"),
    ]
    sent = openai_chat.to_input(messages)
    assert [(m["role"], m.get("content")) for m in sent if m["role"] == "tool"] == [
        ("tool", "late"),
        ("tool", UNANSWERED),
    ]
    assert "nobody's" not in json.dumps(sent)


@pytest.mark.parametrize("target", CAPABILITIES)
def test_a_request_says_of_an_open_call_what_is_known_of_it(target: str) -> None:
    half = {**call("b"), "arguments": '{"q', "stopped": True}
    sent = json.dumps(build_request(target, [GO_ON, said(call("a"), half), GO_ON]))
    assert sent.count("may have run or not") == 1
    assert sent.count("was not run: the turn ended before") == 1


def test_a_result_goes_to_the_latest_call_of_an_id_that_is_used_twice() -> None:
    messages = [GO_ON, said(call("a")), GO_ON, said(call("a")), result("a", "second")]
    sent = openai_chat.to_input(messages)
    assert [m["content"] for m in sent if m["role"] == "tool"] == [UNANSWERED, "second"]


def test_results_stand_before_whatever_else_a_tool_gave() -> None:
    shown = {"type": "search_result", "source": "s", "title": "t", "content": []}
    opaque = {"type": "opaque", "provider": "anthropic", "data": shown}
    answered: dict[str, Any] = {"type": "tool_result", "tool_call_id": "call_1", "content": "x"}
    mixed = Message(role="tool", content=[opaque, answered], metadata={"provider": "anthropic"})
    sent = anthropic.to_input([GO_ON, said(call()), mixed, GO_ON]).messages
    kinds = [block["type"] for block in sent[2]["content"]]
    assert kinds == ["tool_result", "search_result", "text"]


def test_images_and_documents_are_kept_for_everybody_who_can_see_them() -> None:
    asked = Message(role="user", content=[{"type": "text", "text": "Look."}, IMAGE, PDF])
    for target in ("openai_responses", "openai_chat", "anthropic", "gemini"):
        sent = json.dumps(build_request(target, [asked]))
        assert PNG in sent
        assert "JVBERi0=" in sent
    blind = json.dumps(build_request("openai_compatible", [asked]))
    assert "JVBERi0=" not in blind
    assert "A document is left out here" in blind


def test_an_image_within_a_result_follows_it_where_results_hold_text_alone() -> None:
    shown = [{"type": "text", "text": "a plot"}, IMAGE]
    sent = openai_chat.to_input([GO_ON, said(call()), result(content=shown)])
    assert sent[2]["content"] == "a plot"
    assert sent[3]["role"] == "user"
    assert PNG in sent[3]["content"][1]["image_url"]["url"]
    within = anthropic.to_input([GO_ON, said(call()), result(content=shown)]).messages
    assert within[2]["content"][0]["content"][1]["source"]["data"] == PNG


def test_what_an_assistant_showed_becomes_the_users_after_its_results() -> None:
    drawn = said(call(), IMAGE, provider="gemini")
    sent = anthropic.to_input([GO_ON, drawn, result()]).messages
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[2]["content"]] == ["tool_result", "text", "image"]


def test_a_file_of_another_provider_is_named_as_left_out() -> None:
    asked = Message(
        role="user",
        content=[{"type": "image", "file_id": "file_1"}],
        metadata={"provider": "anthropic"},
    )
    assert "file_1" in json.dumps(build_request("anthropic", [asked]))
    sent = json.dumps(build_request("openai_responses", [asked]))
    assert "file_1" not in sent
    assert "An image is left out here" in sent


def test_a_text_document_is_text_where_no_document_may_be_sent() -> None:
    note = {"type": "document", "media_type": "text/plain", "data": "aGVsbG8="}
    [sent] = openai_chat.to_input([Message(role="user", content=[note])])
    assert sent["content"] == "hello"


def test_a_call_from_elsewhere_carries_the_stand_in_for_a_signature_once() -> None:
    _, contents = gemini.to_input([GO_ON, said(call("a"), call("b")), result("a"), result("b")])
    signed = [part.get("thoughtSignature") for part in contents[1]["parts"]]
    assert signed[0]
    assert signed[1] is None


def test_the_system_prompt_is_single_and_stays_as_it_is() -> None:
    prompt = "Be kind.\n\n  Always. "
    messages = [Message(role="system", content=prompt), GO_ON]
    assert anthropic.to_input(messages).system == prompt
    assert gemini.to_input(messages).system_instruction == {"parts": [{"text": prompt}]}
    assert openai_chat.to_input(messages)[0] == {"role": "system", "content": prompt}
    assert openai_responses.to_input(messages)[0] == {"role": "system", "content": prompt}


def test_a_provider_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(Invalid, match="anthropic"):
        capabilities_of("cohere")


def test_capabilities_decide_and_not_names() -> None:
    """An endpoint of another maker that takes what Anthropic's takes is sent the same, less the state."""
    other = ANTHROPIC.model_copy(update={"state_of": None})
    sent = anthropic.to_input([GO_ON, said(*STATEFUL), result()], other).messages
    assert [block["type"] for block in sent[1]["content"]] == ["text", "tool_use"]


DECIDING = ("portable", "settling", "naming", "media", "turns")


@pytest.mark.parametrize("name", DECIDING)
def test_what_decides_on_the_portable_form_names_no_provider(name: str) -> None:
    module = importlib.import_module(f"memoranda.conversations.wire.{name}")
    source = inspect.getsource(module).lower()
    assert not [known for known in ("anthropic", "openai", "gemini", "claude") if known in source]


def test_characters_that_no_store_can_hold_do_not_lose_an_answer() -> None:
    content = [
        {"type": "text", "text": "a\0b\ud800"},
        {"type": "tool_use", "id": "c", "name": "look", "input": {"q": "\0\ud800"}},
    ]
    [message] = anthropic.from_response({"content": content, "model": "m\0"})
    check_content("content", message.content)
    assert message.content[0]["text"] == "ab\ufffd"
    assert json.loads(message.content[1]["arguments"]) == {"q": "\0\ud800"}
    assert message.metadata["model"] == "m"


def test_a_user_message_of_several_texts_is_one_text_for_the_strictest() -> None:
    asked = [Message(role="user", content="a"), Message(role="user", content="b")]
    assert build_request("openai_compatible", asked)["messages"] == [
        {"role": "user", "content": "a\n\nb"}
    ]
