"""Gemini's `generate_content`: a candidate's parts in, a system instruction and contents out."""

import base64
import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from memoranda.conversations.models import Message
from memoranda.conversations.wire.blocks import (
    Block,
    Document,
    Image,
    Opaque,
    Shown,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_of,
)
from memoranda.conversations.wire.capabilities import GEMINI, Capabilities
from memoranda.conversations.wire.forms import given_list, no_answer, no_item
from memoranda.conversations.wire.gemini_parts import Item, spelled
from memoranda.conversations.wire.media import media_type_of
from memoranda.conversations.wire.origins import answer, metadata_of, said
from memoranda.conversations.wire.plain import Given, plain, reads, without
from memoranda.conversations.wire.portable import GOES_ON, object_of, ready, written
from memoranda.conversations.wire.turns import Turn

PROVIDER: Final = "gemini"

SEEN: Final = {"functionCall", "functionResponse"}
"""Parts that no opaque state may pass for."""
SAYS: Final = SEEN | {
    "text",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
}
"""What a part is of: just one of these."""


ANSWERS: Final = {"candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"}
"""What an answer has some of, also where it was blocked and says nothing."""


class Input(NamedTuple):
    """The `systemInstruction` (None where there is none) and `contents` of a request, as JSON."""

    system_instruction: Item | None
    contents: list[Item]


def fresh_call_id() -> str:
    """An id for a call that came without one."""
    return f"call_{secrets.token_hex(12)}"


@reads
def from_response(
    response: Given, *, candidate: int = 0, make_id: Callable[[], str] = fresh_call_id
) -> list[Message]:
    """Keep one candidate as a message of the assistant's; without any, as where it was blocked, nothing."""
    body = spelled(plain(response, nulls=False))
    if not ANSWERS.intersection(body):
        no_answer(body, PROVIDER)
    candidates = body.get("candidates") or []
    if candidate >= len(candidates):
        return []
    picked = candidates[candidate]
    about = metadata_of(
        PROVIDER,
        {"model": body.get("modelVersion"), "usage": body.get("usageMetadata")},
        response_id=body.get("responseId"),
        finish_reason=picked.get("finishReason"),
        finish_message=picked.get("finishMessage"),
    )
    parts = (picked.get("content") or {}).get("parts") or []
    return [answer([b for part in parts for b in blocks_of(part, make_id)], about)]


@reads
def from_input(
    contents: str | Iterable[Given],
    system_instruction: str | Given | None = None,
    *,
    make_id: Callable[[], str] = fresh_call_id,
) -> list[Message]:
    """Keep the contents of a request. Function responses are a tool's message, known by order without ids."""
    kept: list[Message] = []
    if isinstance(system_instruction, str):
        kept.append(Message(role="system", content=system_instruction))
    elif system_instruction is not None:
        parts = spelled(plain(system_instruction, nulls=False)).get("parts") or []
        kept.append(said("system", [_asked(part).plain() for part in parts], PROVIDER))
    if isinstance(contents, str):
        return [*kept, Message(role="user", content=contents)]
    waiting: list[ToolCall] = []
    for place, item in enumerate(given_list(contents, "contents", nulls=False)):
        content = spelled(item)
        if "parts" not in content and set(content) - {"role"}:
            no_item(place, "contents", PROVIDER, "a content has parts")
        parts = content.get("parts") or []
        if content.get("role") == "model":
            blocks = [block for part in parts for block in blocks_of(part, make_id)]
            waiting = [block for block in blocks if isinstance(block, ToolCall)]
            kept.append(answer(blocks, {"provider": PROVIDER}))
            continue
        results = [_result(part, waiting).plain() for part in parts if "functionResponse" in part]
        others = [_asked(part).plain() for part in parts if "functionResponse" not in part]
        kept += [said("tool", results, PROVIDER)] if results else []
        kept += [said("user", others, PROVIDER)] if others else []
    return kept


def to_input(messages: Sequence[Message], target: Capabilities = GEMINI) -> Input:
    """Build the `systemInstruction` and `contents` of the next request, as JSON has them."""
    turns = ready(messages, target)
    calls: dict[str, tuple[ToolCall, bool]] = {}
    system: list[Item] = []
    contents: list[Item] = []
    answers: list[ToolResult] = []
    for turn in turns:
        if turn.role == "system":
            system += [{"text": block.text} for block in turn.blocks if isinstance(block, Text)]
        elif turn.role == "tool":
            order = list(calls)  # responses without ids are known by their order alone
            goes_on = bool(contents) and "functionResponse" in contents[-1]["parts"][0]
            answers = [*(answers if goes_on else []), *turn.results]
            answers.sort(key=lambda block: order.index(block.tool_call_id))
            parts = [_answer(block, calls[block.tool_call_id]) for block in answers]
            if goes_on:
                contents[-1]["parts"] = parts
            elif parts:
                contents.append({"role": "user", "parts": parts})
        elif parts := _parts(turn, target):
            calls = {call.id: (call, turn.own) for call in turn.calls} or calls
            role = "model" if turn.role == "assistant" else "user"
            if role == "model" and contents and contents[-1]["role"] == "model":
                contents[-1]["parts"] += parts  # a call has to follow what is not the model's
            else:
                contents.append({"role": role, "parts": parts})
    if messages and not (contents and contents[0]["role"] == "user"):
        contents.insert(0, {"role": "user", "parts": [{"text": GOES_ON.text}]})
    return Input({"parts": system} if system else None, contents)


def blocks_of(part: Item, make_id: Callable[[], str] = fresh_call_id) -> list[Block]:
    """See a model's part; one without a form of its own is opaque, and one that is empty is nothing."""
    rest = without(
        part, "text", "thought", "thoughtSignature", "functionCall", "inlineData", "fileData"
    )
    signature = part.get("thoughtSignature")
    signed = {"thoughtSignature": signature} if signature else {}
    match part:
        case {"text": str() as text, "thought": True}:
            return [Thinking(thinking=text, signature=signature, extra=_named("part", rest))]
        case {"text": str() as text} if text.strip():
            said_not = {"thought": False} if "thought" in part else {}
            return [Text(text=text, extra=_named("part", rest | signed | said_not))]
        case {"functionCall": dict() as call}:
            return [_call_of(call, rest | signed, make_id)]
        case {"inlineData": dict() | _} | {"fileData": dict() | _}:
            return [_asked(part)]
    return [Opaque(provider=PROVIDER, data=part)] if part and set(part) != {"text"} else []


def _call_of(call: Item, rest: Item, make_id: Callable[[], str]) -> ToolCall:
    extra = _named("part", rest) | _named("call", without(call, "id", "name", "args"))
    if not call.get("id"):
        extra["no_id"] = True
    if "args" not in call:
        extra["no_args"] = True
    arguments = written(call.get("args", {}))
    call_id = str(call.get("id") or make_id())
    return ToolCall(id=call_id, name=str(call.get("name", "")), arguments=arguments, extra=extra)


def _named(name: str, fields: Item) -> Item:
    return {name: fields} if fields else {}


def _asked(part: Item) -> Shown:
    """See a part of a user's, or a medium of a model's."""
    match part:
        case {"text": str() as text}:
            return Text(text=text, extra=_named("part", without(part, "text")))
        case {"inlineData": {"data": str() as data, **blob}}:
            media_type = _text_or_none(blob.pop("mimeType", None))
            extra = _named("part", without(part, "inlineData")) | {"blob": blob}
            return _media(media_type)(media_type=media_type, data=data, extra=extra)
        case {"fileData": {"fileUri": str() as url, **blob}}:
            media_type = _text_or_none(blob.pop("mimeType", None))
            extra = _named("part", without(part, "fileData")) | {"blob": blob}
            return _media(media_type)(media_type=media_type, url=url, extra=extra)
    return Opaque(provider=PROVIDER, data=part)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _media(media_type: str | None) -> type[Image] | type[Document]:
    return Image if (media_type or "").startswith("image/") else Document


def _result(part: Item, waiting: list[ToolCall]) -> ToolResult:
    answered = part["functionResponse"]
    name, call_id = answered.get("name"), answered.get("id")
    call = next((c for c in waiting if (c.id == call_id if call_id else c.name == name)), None)
    if call is not None:
        waiting.remove(call)
        call_id = call.id
    response = answered.get("response") or {}
    content: str | list[Shown]
    shape: Item
    match response:
        case {"output": str() as content, **others} if not others:
            error, shape = None, {}
        case {"error": str() as content, **others} if not others:
            error, shape = True, {}
        case _:
            content, error, shape = written(response), None, {"json": True}
    rest = without(answered, "id", "name", "response")
    shown = [_asked(part) for part in rest.get("parts") or []]
    if shown and not any(isinstance(block, Opaque) for block in shown):
        rest = without(rest, "parts")
        content = [Text(text=content), *shown]
    extra = shape | _named("answer", rest) | _named("part", without(part, "functionResponse"))
    return ToolResult(
        tool_call_id=str(call_id or ""), name=name, content=content, is_error=error, extra=extra
    )


def _parts(turn: Turn, target: Capabilities) -> list[Item]:
    parts: list[Item] = []
    stand_in = target.foreign_call_signature
    for block in turn.blocks:
        sent = _part(block, turn)
        if isinstance(block, ToolCall) and stand_in and (block.stopped or not turn.own):
            sent = [{**part, "thoughtSignature": _encoded(stand_in)} for part in sent]
        if isinstance(block, ToolCall):
            stand_in = None  # one is enough: the first of a turn's calls carries it
        parts += sent
    return parts


def _part(block: Block, turn: Turn) -> list[Item]:
    rest = without(block.extra.get("part") or {}, *SAYS, "role")
    match block:
        case Text():
            return [{**rest, "text": block.text}]
        case Thinking() if block.signature or (block.thinking.strip() and not block.stopped):
            signed = {"thoughtSignature": block.signature} if block.signature else {}
            return [{**rest, "text": block.thinking, "thought": True, **signed}]
        case ToolCall():
            return [{**rest, "functionCall": _call(block)}]
        case Image() | Document():
            return [{**rest, **_blob(block)}]
        case Opaque() if turn.role == "assistant" and not SEEN & set(block.data):
            return [block.data] if set(block.data) - {"thought"} else []
    return []


def _call(block: ToolCall) -> Item:
    named = {} if block.extra.get("no_id") else {"id": block.id}
    asked = {} if block.extra.get("no_args") else {"args": object_of(block.arguments)}
    return {**(block.extra.get("call") or {}), **named, "name": block.name, **asked}


def _blob(block: Image | Document) -> Item:
    rest: Item | None = block.extra.get("blob")
    said_type = media_type_of(block) if rest is None else block.media_type
    kind = {"mimeType": said_type} if said_type else {}
    if block.data is not None:
        return {"inlineData": {**(rest or {}), **kind, "data": block.data}}
    return {"fileData": {**(rest or {}), **kind, "fileUri": block.url or block.file_id}}


def _answer(block: ToolResult, asked: tuple[ToolCall, bool]) -> Item:
    call, own = asked
    named = {} if own and call.extra.get("no_id") else {"id": call.id}
    answered: Item = {**(block.extra.get("answer") or {}), **named, "name": call.name}
    answered["response"] = _response(block)
    if not isinstance(block.content, str):
        shown = [_blob(part) for part in block.content if isinstance(part, Image | Document)]
        answered |= {"parts": shown} if shown else {}
    return {**without(block.extra.get("part") or {}, *SAYS, "role"), "functionResponse": answered}


def _response(block: ToolResult) -> Item:
    text = block.content if isinstance(block.content, str) else text_of(block.content)
    if block.extra.get("json"):
        try:
            read = json.loads(text)
        except ValueError:  # cut or cleared since: then it is a text
            read = None
        if isinstance(read, dict):
            return read
    return {"error": text} if block.is_error else {"output": text}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
