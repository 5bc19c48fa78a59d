"""Whether an endpoint that speaks Chat Completions takes back what it sent: tried, and never assumed.

The endpoint is asked through a callable, so that nothing here knows of the network.
"""

import base64
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.models import Message
from memoranda.conversations.wire import openai_chat
from memoranda.conversations.wire.blocks import ToolCall, ToolResult, views
from memoranda.conversations.wire.capabilities import OPENAI_CHAT, UNVERIFIED_CHAT, Capabilities
from memoranda.conversations.wire.openai_chat import Item
from memoranda.conversations.wire.plain import Given, plain
from memoranda.conversations.wire.portable import MALFORMED, object_of

Ask = Callable[[dict[str, Any]], Awaitable[Given]]
"""Send one body to the endpoint's chat/completions and return its answer; raise `EndpointRefused` if it won't."""

TOOL: Final = "read_number"
CALLS: Final = "calls_a_tool"
TAKES_BACK: Final = "takes_its_own_message"
OTHER_ID: Final = "call_0a1B2c3D4e5F6a7B8c9D0e1F"
BROKEN: Final = '{"page": 1'
TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": TOOL,
            "description": "Reads the number on a page.",
            "parameters": {
                "type": "object",
                "properties": {"page": {"type": "integer"}},
                "required": ["page"],
            },
        },
    }
]
DOT: Final = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
        "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
    )
).decode()
"""A picture of one pixel."""


CAREFUL: Final[dict[str, Any]] = {
    "longest_call_id": 256,  # whatever it calls its own calls
    "image_urls": False,
    "documents": (),
    "text_parts": False,
    "late_system": False,
    "user_first": True,
    "alternates": True,
}
"""What nobody tries, and is not counted on."""


class EndpointRefused(Exception):
    """The endpoint answered that it does not take the request."""


class Check(BaseModel):
    """One thing that was tried."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    passed: bool
    detail: str = ""


class Verification(BaseModel):
    """What an endpoint was found to take. `replayable` where its own messages come back as it sent them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    replayable: bool
    capabilities: Capabilities
    checks: tuple[Check, ...]


async def verify(
    ask: Ask,
    model: str,
    *,
    endpoint: str = openai_chat.PROVIDER,
    make_secret: Callable[[], str] | None = None,
) -> Verification:
    """Try a round trip with a tool on an endpoint, in six short requests at most.

    It is replayable where it calls the tool, takes back its own message and the result, and shows
    that it read the result. `endpoint` is the name that its messages are kept with. What `ask`
    raises besides `EndpointRefused` is the caller's to see.
    """
    secret = (make_secret or _number)()
    target = OPENAI_CHAT.model_copy(update={**CAREFUL, "state_of": endpoint})
    question = Message(role="user", content="Call read_number with page 1, then say the number.")
    try:
        first = plain(await ask({**_body(model, [question], target), "tool_choice": "required"}))
    except EndpointRefused as refused:
        return _found(model, target, [Check(name=CALLS, passed=False, detail=str(refused)[:300])])
    said = openai_chat.from_response(first, provider=endpoint)
    told = [question, *said, *_results(said, secret)]
    checks = [_round_trip(first, openai_chat.to_input(told, target))]
    if checks[0].passed:
        checks.append(await _takes(ask, TAKES_BACK, _body(model, told, target), secret))
    if checks[-1].passed:
        checks += await _further(ask, model, target, told)
    return _found(model, target, checks)


async def _further(ask: Ask, model: str, target: Capabilities, told: list[Message]) -> list[Check]:
    """What may be sent beyond a plain round trip; each is asked for by itself."""
    broken, others = _body(model, told, target), _body(model, told, target)
    for call in broken["messages"][1]["tool_calls"]:
        call["function"]["arguments"] = BROKEN
    for place, call in enumerate(others["messages"][1]["tool_calls"]):
        call["id"] = others["messages"][2 + place]["tool_call_id"] = f"{OTHER_ID}{place}"
    late = [*told, Message(role="developer", content="Answer with the number alone.")]
    picture = {"type": "image", "media_type": "image/png", "data": DOT}
    shown = Message(role="user", content=[{"type": "text", "text": "Look."}, picture])
    asked = target.model_copy(update={"late_system": True})
    return [
        await _takes(ask, "takes_malformed_arguments", broken),
        await _takes(ask, "takes_ids_of_others", others),
        await _takes(ask, "takes_a_developer_message", _body(model, late, asked)),
        await _takes(ask, "takes_images", _body(model, [shown], target)),
    ]


def _number() -> str:
    return str(10**7 + secrets.randbelow(9 * 10**7))


def _body(model: str, messages: list[Message], target: Capabilities) -> dict[str, Any]:
    return {"model": model, "messages": openai_chat.to_input(messages, target), "tools": TOOLS}


def _round_trip(first: Mapping[str, Any], sent: list[Item]) -> Check:
    """Whether the answer calls the tool, and comes out of what is kept as the endpoint sent it."""
    calls = sent[1].get("tool_calls") if len(sent) > 1 else None
    if not calls:
        return Check(name=CALLS, passed=False, detail="It did not call the tool.")
    if any(call[call["type"]]["name"] != TOOL for call in calls):
        return Check(name=CALLS, passed=False, detail="It called a tool that it was not given.")
    if any(MALFORMED in object_of(call["function"]["arguments"]) for call in calls):
        return Check(name=CALLS, passed=False, detail="Its arguments are no JSON object.")
    if sent[1] != first["choices"][0]["message"]:
        return Check(name=CALLS, passed=False, detail="Its message does not come back the same.")
    return Check(name=CALLS, passed=True)


def _results(said: list[Message], secret: str) -> list[Message]:
    calls = [b for message in said for b in views(message.content) if isinstance(b, ToolCall)]
    told = f"The number is {secret}."
    return [
        Message(role="tool", content=[ToolResult(tool_call_id=call.id, content=told).plain()])
        for call in calls
    ]


async def _takes(ask: Ask, name: str, body: dict[str, Any], says: str = "") -> Check:
    try:
        answer = plain(await ask(body))
    except EndpointRefused as refused:
        return Check(name=name, passed=False, detail=str(refused)[:300])
    message = ((answer.get("choices") or [{}])[0]).get("message") or {}
    if says and says not in str(message.get("content") or "").replace(",", ""):
        return Check(name=name, passed=False, detail="It did not say what the tool's result says.")
    return Check(name=name, passed=True)


def _found(model: str, target: Capabilities, checks: list[Check]) -> Verification:
    passed = {check.name for check in checks if check.passed}
    replayable = {CALLS, TAKES_BACK} <= passed
    found: dict[str, Any] = {
        "arguments": "raw" if "takes_malformed_arguments" in passed else "json",
        "developer_role": "takes_a_developer_message" in passed,
        "images": "takes_images" in passed,
    }
    if "takes_ids_of_others" not in passed:
        strict = UNVERIFIED_CHAT
        found |= {"call_id": strict.call_id, "longest_call_id": strict.longest_call_id}
    taken = target.model_copy(update=found) if replayable else UNVERIFIED_CHAT
    return Verification(
        model=model, replayable=replayable, capabilities=taken, checks=tuple(checks)
    )
