"""Items of the SDK as messages that anybody can read, and back, equal to what they were. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from memoranda.conversations.content import check_content
from memoranda.conversations.models import Message
from memoranda.conversations.wire.blocks import NOBODY
from memoranda.conversations.wire.openai_responses import PROVIDER, from_input
from memoranda.conversations.wire.plain import plain, without
from memoranda.words.errors import Invalid
from memoranda.words.text import clean

Item = dict[str, Any]

KEPT: Final = "item"
"""The metadata that holds an item which its message does not say in full."""
KEPT_AS_TEXT: Final = "item_json"
"""The metadata that holds one as JSON, because no store can hold what is in it."""
_BARE: Final = frozenset({"role", "content"})
_SPEAKERS: Final = frozenset({"user", "system", "developer"})


def message_of(item: Any) -> Message:
    """Keep one item as a message. Raises `Invalid` for what is no JSON object."""
    given = _as_json(item)
    text = _cleaned(given) if (hidden := not _storable(given)) else given
    message = _readable(text)
    if hidden:
        return _with(message, KEPT_AS_TEXT, json.dumps(given))
    if item_of(message) == given:
        return message
    return _with(message, KEPT, given)


def item_of(message: Message) -> Item:
    """The item that a message was kept of; a message that came from elsewhere, as near as it can be said."""
    about = message.metadata
    if isinstance(text := about.get(KEPT_AS_TEXT), str):
        read: Item = json.loads(text)
        return read
    if isinstance(kept := about.get(KEPT), dict):
        return kept
    if isinstance(message.content, str):
        return {"role": message.role, "content": message.content}
    return _built(message.content) or {
        "role": message.role if message.role != "tool" else "user",
        "content": _words(message.content),
    }


def _readable(item: Item) -> Message:
    if item.keys() == _BARE and isinstance(item["content"], str) and _speaks(item["role"]):
        return Message(role=item["role"], content=item["content"])
    try:
        [made] = from_input([item])
    except (Invalid, ValueError):
        opaque = {"type": "opaque", "provider": NOBODY, "data": item}
        return Message(role="assistant", content=[opaque], metadata={"provider": PROVIDER})
    return made.model_copy(update={"metadata": {**made.metadata, "provider": PROVIDER}})


def _speaks(role: Any) -> bool:
    return role in _SPEAKERS or role == "assistant"


def _built(blocks: list[Item]) -> Item | None:
    """The one item that the blocks were made of; None where that can't be told from them."""
    first = blocks[0] if blocks else {}
    extra = first.get("extra") or {}
    match first:
        case {"type": "opaque", "provider": str(), "data": dict() as data} if len(blocks) == 1:
            return data
        case {"type": "thinking"} if len(blocks) == 1 and "item" in extra:
            return {**extra["item"], "type": "reasoning"}
        case {"type": "tool_call"} if len(blocks) == 1:
            kind, said = ("function_call", "arguments")
            if extra.get("custom"):
                kind, said = ("custom_tool_call", "input")
            return {
                **extra.get("item", {}),
                "type": kind,
                "call_id": first["id"],
                "name": first["name"],
                said: first["arguments"],
            }
        case {"type": "tool_result", "content": str() as output} if len(blocks) == 1:
            call = first["tool_call_id"]
            return {**extra, "type": "function_call_output", "call_id": call, "output": output}
        case {"type": "text"} if "part" in extra:
            return {**extra.get("item", {}), **_said(blocks)}
    return None


def _said(blocks: Iterable[Item]) -> Item:
    parts: list[Item] = []
    for block in blocks:
        extra, text = block.get("extra") or {}, block.get("text")
        refused = bool(extra.get("refusal"))
        kind, field = ("refusal", "refusal") if refused else ("output_text", "text")
        parts.append({**extra.get("part", {}), "type": kind, field: text})
    return {"type": "message", "role": "assistant", "content": parts}


def _words(blocks: Iterable[Item]) -> str:
    texts = (block.get("text", block.get("content")) for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def _with(message: Message, name: str, kept: object) -> Message:
    return message.model_copy(update={"metadata": {**message.metadata, name: kept}})


def _as_json(item: Any) -> Item:
    """What is read back of the item's JSON: lists for tuples, texts for keys."""
    try:
        given = item if isinstance(item, Mapping) else plain(item)
        read: Item = json.loads(json.dumps(dict(given), allow_nan=False, default=_part))
    except (Invalid, TypeError, ValueError, RecursionError):
        raise Invalid("An item of a session is a JSON object.", field="items") from None
    return read


def _part(value: Any) -> Item:
    """A model of an SDK's within an item."""
    return without(plain(value))


def _storable(item: Item) -> bool:
    try:
        check_content("item", [item])
    except Invalid:
        return False
    return True


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _cleaned(part) for key, part in value.items()}
    return [_cleaned(part) for part in value] if isinstance(value, list) else value
