"""A request is valid however little of its messages can be said: each kind of message alone, and beside each other."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pytest
from anthropic.types import MessageParam
from google.genai import types
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from memoranda.conversations.models import Message, Role
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.portable import GOES_ON
from memoranda.conversations.wire.requests import SAID_UNDER, build_request
from memoranda.conversations.wire.valid import check_request

PNG = "iVBORw0KGgo="
IMAGE = {"type": "image", "media_type": "image/png", "data": PNG}
LINK = {"type": "image", "url": "https://pictures.test/a.png"}
PDF = {"type": "document", "media_type": "application/pdf", "data": "JVBERi0="}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
REDACTED = {"type": "redacted_thinking", "data": "c2VjcmV0"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": "look", "arguments": arguments}


def result(content: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_call_id": call_id, "content": content}


def state(provider: str, **data: Any) -> dict[str, Any]:
    return {"type": "opaque", "provider": provider, "data": data}


SAID: dict[Role, list[Any]] = {
    "system": ["Be kind.", " ", [], [IMAGE]],
    "developer": ["Be brief."],
    "user": [
        *("Hello.", "", " \n", [], [IMAGE], [LINK], [PDF]),
        [text(""), IMAGE],
        [result("found")],
        [result("found"), text("Hello.")],
        *([THOUGHT], [REDACTED], [call("c1")]),
        [state("anthropic", type="server_tool_use", id="s1")],
        [state("gemini", executableCode={"code": "1"})],
        [state("openai_responses", type="reasoning", id="r1")],
        [state("openai_chat", type="unknown")],
    ],
    "assistant": [
        *("Yes.", "", []),
        *([THOUGHT], [{**THOUGHT, "signature": None}], [REDACTED], [IMAGE], [PDF]),
        *([call("c1")], [call("c1"), call("c2", "{torn")], [THOUGHT, call("c1")]),
        [text(" "), call("c1")],
    ],
    "tool": [
        *("found", []),
        *([result(said)] for said in ("found", "", [], [text(" ")], [IMAGE], [PDF])),
        [result([text("found"), LINK])],
        [result("found", "c2")],
        [text("found")],
    ],
}
KINDS = [(role, content) for role, contents in SAID.items() for content in contents]
FORMS: dict[str, TypeAdapter[Any]] = {
    "openai_responses": TypeAdapter(list[ResponseInputItemParam]),
    "openai_chat": TypeAdapter(list[ChatCompletionMessageParam]),
    "anthropic": TypeAdapter(list[MessageParam]),
    "gemini": TypeAdapter(list[types.Content]),
}


def messages_of(kinds: Iterable[tuple[Role, Any]], provider: str | None) -> list[Message]:
    """The messages, which came from the provider or from nowhere that is known."""
    about = {} if provider is None else {"provider": provider}
    return [Message(role=role, content=content, metadata=about) for role, content in kinds]


def faults(provider: str, messages: list[Message]) -> list[str]:
    """What the provider would refuse, and what its SDK has no type for."""
    request = build_request(provider, messages)
    wire = CAPABILITIES[provider].wire
    seen(FORMS[wire].validate_python(request[SAID_UNDER[wire]]))
    return check_request(provider, request)


def seen(value: Any) -> None:
    """Look at all of it: a type that may be any iterable is checked as it is gone through."""
    if isinstance(value, Mapping):
        for each in value.values():
            seen(each)
    elif isinstance(value, Iterable) and not isinstance(value, str | types.Content):
        for each in value:
            seen(each)


@pytest.mark.parametrize("own", [False, True], ids=["of another", "its own"])
@pytest.mark.parametrize("provider", CAPABILITIES)
def test_whatever_there_is_of_it_a_request_is_valid(provider: str, own: bool) -> None:
    came_from = provider if own else None
    alone = [(kind,) for kind in KINDS]
    for kinds in [*alone, *product(KINDS, repeat=2)]:
        assert faults(provider, messages_of(kinds, came_from)) == [], kinds


@pytest.mark.parametrize("provider", CAPABILITIES)
@pytest.mark.parametrize("first", ["results alone", "thinking alone", "a blank", "a system's"])
def test_where_nothing_can_be_said_the_user_says_that_it_goes_on(provider: str, first: str) -> None:
    said: dict[str, tuple[Role, Any]] = {
        "results alone": ("user", [result("found")]),
        "thinking alone": ("user", [THOUGHT]),
        "a blank": ("user", []),
        "a system's": ("system", []),
    }
    request = build_request(provider, messages_of([said[first]], None))
    wire = CAPABILITIES[provider].wire
    (sent,) = request[SAID_UNDER[wire]]
    assert sent["role"] == "user"
    assert GOES_ON.text in str(sent)


@pytest.mark.parametrize("provider", CAPABILITIES)
def test_of_no_messages_at_all_nothing_is_made(provider: str) -> None:
    wire = CAPABILITIES[provider].wire
    assert build_request(provider, []) == {SAID_UNDER[wire]: []}


@pytest.mark.parametrize("provider", CAPABILITIES)
@pytest.mark.parametrize("shown", ["c1", "c2"])
def test_pictures_of_one_result_never_part_the_results_of_one_turn(
    provider: str, shown: str
) -> None:
    """The case of parallel calls, each of which is answered by a message of its own."""
    told = {"c1": "One.", "c2": "Two."} | {shown: [text("See."), IMAGE]}
    answers = [("tool", [result(said, call_id)]) for call_id, said in told.items()]
    kinds: Any = [("user", "Look."), ("assistant", [call("c1"), call("c2")]), *answers]
    assert faults(provider, messages_of(kinds, None)) == []
    if provider == "openai_chat":
        sent = build_request(provider, messages_of(kinds, None))["messages"]
        assert [each["role"] for each in sent] == ["user", "assistant", "tool", "tool", "user"]
        assert sent[-1]["content"][-1]["type"] == "image_url"
