"""What each provider is known to refuse in a request, looked for before anything is sent."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from memoranda.conversations.wire.capabilities import Capabilities, Wire, capabilities_of
from memoranda.conversations.wire.openai_responses import CALLS, OTHER_HALF, OUTPUTS

CALL_ITEMS: Final = {*CALLS, *OUTPUTS}

Item = Mapping[str, Any]
Faults = Iterator[str]


def check_request(provider: str | Capabilities, request: Mapping[str, Any]) -> list[str]:
    """Say what the provider would refuse in the messages of `request`; nothing where it would take them.

    `request` has the form that `build_request` gives it. Whether the provider knows the files, signatures
    and encrypted state in it, only the provider can tell.
    """
    target = capabilities_of(provider) if isinstance(provider, str) else provider
    return list(_CHECKS[target.wire](request, target))


def _responses(request: Item, target: Capabilities) -> Faults:
    items = request.get("input") or []
    if not items:
        yield "input is empty"
    open_calls: dict[str, str] = {}
    for place, item in enumerate(items):
        at = f"input[{place}]"
        if item.get("type") in CALL_ITEMS:
            yield from _call_item(at, item, open_calls, target)
        elif item.get("type") == "reasoning":
            yield from _reasoning(at, item, items[place + 1 :])
        elif item.get("type", "message") == "message":
            yield from _input_message(at, item)
        elif item.get("type") in OTHER_HALF and not _has_other_half(item, items):
            yield f"{at} is a {item['type']} without its {OTHER_HALF[item['type']]}"
    yield from (f"the call {call_id} has no output" for call_id in open_calls)


def _call_item(at: str, item: Item, open_calls: dict[str, str], target: Capabilities) -> Faults:
    kind, call_id = str(item["type"]), str(item.get("call_id"))
    if kind not in CALLS:
        if open_calls.pop(call_id, None) != kind:
            yield f"{at} answers no open call"
        return
    yield from _call(at, item.get("call_id"), item.get("name"), open_calls, target)
    open_calls[call_id] = f"{kind}_output"
    if not isinstance(item.get(CALLS[kind]), str):
        yield f"{at}.{CALLS[kind]} is no text"


def _reasoning(at: str, item: Item, rest: Sequence[Item]) -> Faults:
    if "summary" not in item:
        yield f"{at} has no summary"
    if not _leads_on(rest):
        yield f"{at} is reasoning without the item that it led to"


def _input_message(at: str, item: Item) -> Faults:
    role, content = item.get("role"), item.get("content")
    if role not in {"user", "assistant", "system", "developer"}:
        yield f"{at}.role is {role}"
    if role != "assistant" and content in (None, []):
        yield f"{at}.content is empty"
    spoken = {"output_text", "refusal"}
    for part in content if isinstance(content, list) else []:
        if (str(part.get("type")) in spoken) != (role == "assistant"):
            yield f"{at} has a {part.get('type')}, which the role {role} has none of"


def _leads_on(rest: Sequence[Item]) -> bool:
    following = next((item for item in rest if item.get("type") != "reasoning"), None)
    return (
        following is not None
        and following.get("role", "assistant") == "assistant"
        and not str(following.get("type")).endswith("call_output")
    )


def _has_other_half(item: Item, items: Sequence[Item]) -> bool:
    wanted = OTHER_HALF[str(item["type"])]
    keys = {item.get("call_id"), item.get("id")} - {None}
    return any(
        other.get("type") == wanted and keys & {other.get("call_id"), other.get("id")}
        for other in items
    )


def _chat(request: Item, target: Capabilities) -> Faults:
    messages = request.get("messages") or []
    if not messages:
        yield "messages is empty"
    waiting: dict[str, str] = {}
    for place, message in enumerate(messages):
        at, role = f"messages[{place}]", message.get("role")
        if waiting and role != "tool":
            yield f"{at} comes before the results of {', '.join(waiting)}"
            waiting = {}
        if role == "assistant":
            yield from _chat_answer(at, message, waiting, target)
        else:
            yield from _chat_input(at, message, waiting, target)
        yield from _order(at, place, messages, target)
    if waiting:
        yield f"the calls {', '.join(waiting)} have no results"


def _chat_input(at: str, message: Item, waiting: dict[str, str], target: Capabilities) -> Faults:
    roles = {"user", "system", "tool", *(["developer"] if target.developer_role else [])}
    role = message.get("role")
    if role not in roles:
        yield f"{at}.role is {role}"
    if message.get("content") in (None, []):
        yield f"{at}.content is empty"
    if role == "tool":
        if waiting.pop(str(message.get("tool_call_id")), None) is None:
            yield f"{at} answers no open call"
        if any(part.get("type") != "text" for part in _parts(message)):
            yield f"{at} is a result with more than text"


def _chat_answer(at: str, message: Item, waiting: dict[str, str], target: Capabilities) -> Faults:
    calls = message.get("tool_calls")
    said = ("content", "refusal", "audio", "function_call")
    if calls is not None and not calls:
        yield f"{at}.tool_calls is empty"
    if not calls and all(message.get(field) is None for field in said):
        yield f"{at} says nothing"
    for call in calls or []:
        asked = call.get(call.get("type", "function")) or {}
        yield from _call(at, call.get("id"), asked.get("name"), waiting, target)
        waiting[str(call.get("id"))] = "open"
        written = asked.get("arguments", asked.get("input"))
        if not isinstance(written, str):
            yield f"{at} has a call whose arguments are no text"
        elif target.arguments == "json" and not _is_object(written):
            yield f"{at} has a call whose arguments are no JSON object"


def _order(at: str, place: int, messages: Sequence[Item], target: Capabilities) -> Faults:
    role = messages[place].get("role")
    before = [message.get("role") for message in messages[:place]]
    leading = all(role in {"system", "developer"} for role in before)
    if not target.late_system and role in {"system", "developer"} and not leading:
        yield f"{at} is a system message that comes late"
    if target.user_first and leading and role in {"assistant", "tool"}:
        yield f"{at} comes before the first user message"
    if target.alternates and before and role == before[-1] and role != "tool":
        yield f"{at} follows another message of the role {role}"


def _anthropic(request: Item, target: Capabilities) -> Faults:
    messages = request.get("messages") or []
    if not messages:
        yield "messages is empty"
    elif messages[0].get("role") != "user":
        yield "messages[0] is not the user's"
    if "system" in request and not _says_something(request["system"]):
        yield "system is empty"
    used: dict[str, str] = {}
    waiting: list[str] = []
    for place, message in enumerate(messages):
        at, role, blocks = f"messages[{place}]", message.get("role"), _parts(message)
        if role not in {"user", "assistant"}:
            yield f"{at}.role is {role}"
        if not message.get("content"):
            yield f"{at}.content is empty"
        yield from _answers_first(at, blocks, waiting)
        waiting = []
        for block in blocks:
            yield from _anthropic_block(at, block, str(role), used, target)
            if block.get("type") == "tool_use":
                waiting.append(str(block.get("id")))
    if waiting:
        yield f"the calls {', '.join(waiting)} have no results"


def _answers_first(at: str, blocks: Sequence[Item], waiting: Sequence[str]) -> Faults:
    """Results stand at the beginning of the message after their calls, one for each."""
    given = [str(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]
    first = [b.get("type") == "tool_result" for b in blocks[: len(given)]]
    if sorted(given) != sorted(waiting):
        yield f"{at} has the results {given}, and the calls before it are {list(waiting)}"
    if not all(first):
        yield f"{at} has results after other content"


def _anthropic_block(
    at: str, block: Item, role: str, used: dict[str, str], target: Capabilities
) -> Faults:
    match block.get("type"):
        case "text" if not str(block.get("text", "")).strip():
            yield f"{at} has a blank text"
        case "tool_use":
            yield from _call(at, block.get("id"), block.get("name"), used, target)
            used[str(block.get("id"))] = "used"
            if not isinstance(block.get("input"), Mapping):
                yield f"{at} has a call whose input is no object"
        case "thinking" if not block.get("signature"):
            yield f"{at} has thinking without a signature"
        case _:
            pass
    spoken = {"tool_use", "thinking", "redacted_thinking", "server_tool_use"}
    if block.get("type") in spoken and role != "assistant":
        yield f"{at} has a {block.get('type')}, which only the assistant says"
    if block.get("type") in {"tool_result", "image", "document"} and role != "user":
        yield f"{at} has a {block.get('type')}, which the assistant has none of"


def _gemini(request: Item, target: Capabilities) -> Faults:
    contents = request.get("contents") or []
    if not contents:
        yield "contents is empty"
    elif contents[0].get("role") != "user":
        yield "contents[0] is not the user's"
    if "systemInstruction" in request and not request["systemInstruction"].get("parts"):
        yield "systemInstruction is empty"
    asked: list[Item] = []
    before = None
    for place, content in enumerate(contents):
        at, role, parts = f"contents[{place}]", content.get("role"), content.get("parts") or []
        if role not in {"user", "model"}:
            yield f"{at}.role is {role}"
        if not parts:
            yield f"{at} has no parts"
        yield from _gemini_answers(at, parts, asked)
        asked = [part["functionCall"] for part in parts if "functionCall" in part]
        if asked and (role != "model" or before == "model"):
            yield f"{at} has a call that does not follow the user's or a tool's turn"
        yield from (fault for part in parts for fault in _gemini_part(at, part, target))
        before = role
    if asked:
        yield f"the last {len(asked)} calls have no function responses"


def _gemini_answers(at: str, parts: Sequence[Item], asked: Sequence[Item]) -> Faults:
    """As many responses as calls, in their order: without ids nothing else says which is whose."""
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if [part.get("name") for part in answers] != [call.get("name") for call in asked]:
        yield f"{at} has {len(answers)} function responses to {len(asked)} calls, or for others"
    elif [part.get("id") for part in answers] != [call.get("id") for call in asked]:
        yield f"{at} has function responses whose ids are not their calls'"


def _gemini_part(at: str, part: Item, target: Capabilities) -> Faults:
    if not set(part) - {"thought", "partMetadata"}:
        yield f"{at} has an empty part"
    if not str(part.get("text", "said")).strip() and "thoughtSignature" not in part:
        yield f"{at} has a blank text"
    call = part.get("functionCall")
    if call is not None:
        if not target.tool_name_pattern.fullmatch(str(call.get("name", ""))):
            yield f"{at} has a call with the name {call.get('name')}"
        if not isinstance(call.get("args", {}), Mapping):
            yield f"{at} has a call whose args are no object"
    if not isinstance(part.get("functionResponse", {}).get("response", {}), Mapping):
        yield f"{at} has a function response that is no object"


def _call(
    at: str, call_id: Any, name: Any, used: Mapping[str, str], target: Capabilities
) -> Faults:
    if not isinstance(call_id, str) or not target.call_id_pattern.fullmatch(call_id):
        yield f"{at} has a call with the id {call_id}"
    elif len(call_id) > target.longest_call_id:
        yield f"{at} has a call whose id is longer than {target.longest_call_id}"
    elif call_id in used:
        yield f"{at} has a second call with the id {call_id}"
    if not isinstance(name, str) or not target.tool_name_pattern.fullmatch(name):
        yield f"{at} has a call of a tool with the name {name}"
    elif len(name) > target.longest_tool_name:
        yield f"{at} has a call of a tool whose name is longer than {target.longest_tool_name}"


def _parts(message: Item) -> list[Item]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


def _says_something(said: Any) -> bool:
    return all(str(part.get("text", "")).strip() for part in _parts({"content": said})) and bool(
        said
    )


def _is_object(written: str) -> bool:
    try:
        return isinstance(json.loads(written), dict)
    except ValueError:
        return False


_CHECKS: Final[dict[Wire, Callable[[Item, Capabilities], Faults]]] = {
    "openai_responses": _responses,
    "openai_chat": _chat,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
