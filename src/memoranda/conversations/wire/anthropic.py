"""Anthropic's Messages: content blocks in, a system prompt and messages out."""

import base64
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from memoranda.conversations.models import Message, Role
from memoranda.conversations.wire.blocks import (
    Block,
    Document,
    Image,
    Opaque,
    RedactedThinking,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from memoranda.conversations.wire.capabilities import ANTHROPIC, Capabilities
from memoranda.conversations.wire.forms import given_list, listed, no_item, typed
from memoranda.conversations.wire.media import media_type_of, text_within
from memoranda.conversations.wire.origins import answer, metadata_of, said
from memoranda.conversations.wire.plain import Given, plain, plain_parts, reads, without
from memoranda.conversations.wire.portable import GOES_ON, object_of, ready, written
from memoranda.conversations.wire.turns import Turn

PROVIDER: Final = "anthropic"
Item = dict[str, Any]
Said = str | list[Item]

SEEN: Final = {
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "image",
    "document",
}
"""Blocks that have a form of their own: no opaque state may pass for one."""

FIELDS: Final = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
}
"""What of a block our own block says; the rest is extra."""
GIVEN: Final = {"search_result", "document", "tool_reference", "container_upload", "browser_state"}
"""What a user or a tool may give besides; a document made of blocks is one of them."""


SPEAKERS: Final = ("user", "assistant", "system")
"""Whose the messages of a request are."""


class Input(NamedTuple):
    """The `system` (None where there is none) and `messages` of a request."""

    system: Said | None
    messages: list[Item]


@reads
def from_response(response: Given) -> list[Message]:
    """Keep one message of the assistant's, its blocks in their order."""
    body = plain(response)
    listed(body, PROVIDER)
    about = metadata_of(
        PROVIDER, body, response_id=body.get("id"), finish_reason=body.get("stop_reason")
    )
    blocks = typed(plain_parts(response, "content"), PROVIDER)
    return [answer([block_of(block) for block in blocks], about)]


@reads
def from_input(messages: Iterable[Given], system: Said | None = None) -> list[Message]:
    """Keep the system prompt and messages of a request; a user's tool results become a tool's message."""
    kept = [_kept("system", system)] if system else []
    for place, item in enumerate(given_list(messages, "messages")):
        if "content" not in item or item.get("role") not in SPEAKERS:
            no_item(
                place, "messages", PROVIDER, "a message has content, and is of a user or assistant"
            )
        content = item["content"] or ""
        if item.get("role") == "assistant":
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            kept.append(answer([block_of(part) for part in parts], {"provider": PROVIDER}))
        elif item.get("role") == "user" and not isinstance(content, str):
            results = [part for part in content if part.get("type") == "tool_result"]
            others = [part for part in content if part.get("type") != "tool_result"]
            kept += [_kept("tool", results)] if results else []
            kept += [_kept("user", others)] if others else []
        else:
            kept.append(_kept("system" if item.get("role") == "system" else "user", content))
    return kept


def to_input(messages: Sequence[Message], target: Capabilities = ANTHROPIC) -> Input:
    """Build the `system` and `messages` of the next request."""
    turns = ready(messages, target)
    leading = [turn for turn in turns if turn.role == "system"]
    sent: list[tuple[Role, Item]] = []
    for turn in turns:
        blocks = _blocks(turn)
        if turn.role == "system" or not blocks:
            continue
        role: Role = "assistant" if turn.role == "assistant" else "user"
        after_tool = bool(sent) and sent[-1][0] == "tool" and role == "user"
        if after_tool:  # results come first in the one message that follows their calls
            sent[-1] = (turn.role, {"role": role, "content": [*sent[-1][1]["content"], *blocks]})
        else:
            sent.append((turn.role, {"role": role, "content": _said(turn, blocks)}))
    said = [item for _, item in sent]
    if messages and not (said and said[0]["role"] == "user"):
        said.insert(0, {"role": "user", "content": GOES_ON.text})
    return Input(_system(leading), said)


def block_of(item: Item) -> Block:
    """See a content block; one without a form of its own is opaque."""
    kind = str(item.get("type"))
    extra = without(item, "type", *FIELDS.get(kind, ()))
    match item:
        case {"type": "text", "text": str() as text}:
            return Text(text=text, extra=extra)
        case {"type": "thinking", "thinking": str() as thinking}:
            return Thinking(thinking=thinking, signature=item.get("signature"), extra=extra)
        case {"type": "redacted_thinking", "data": str() as data}:
            return RedactedThinking(data=data, extra=extra)
        case {"type": "tool_use", "id": str() as call_id, "name": str() as name}:
            asked = written(item.get("input", {}))
            return ToolCall(id=call_id, name=name, arguments=asked, extra=extra)
        case {"type": "tool_result"}:
            return _result(item)
    return _media(item) if kind in {"image", "document"} else Opaque(provider=PROVIDER, data=item)


def _result(item: Item) -> ToolResult:
    given = item.get("content") or ""
    seen = [] if isinstance(given, str) else [block_of(part) for part in given]
    parts = [part for part in seen if isinstance(part, Text | Image | Document | Opaque)]
    return ToolResult(
        tool_call_id=str(item.get("tool_use_id", "")),
        content=given if isinstance(given, str) else parts,
        is_error=item.get("is_error"),
        extra=without(item, "type", "tool_use_id", "content", "is_error"),
    )


def _media(item: Item) -> Block:
    make = Image if item["type"] == "image" else Document
    extra = without(item, "type", "source")
    source = item.get("source") or {}
    match source:
        case {"type": "base64", "media_type": str() as media_type, "data": str() as data}:
            return make(media_type=media_type, data=data, extra=extra)
        case {"type": "text", "media_type": str() as media_type, "data": str() as text}:
            encoded = base64.b64encode(text.encode(errors="replace")).decode()
            return make(media_type=media_type, data=encoded, extra=extra)
        case {"type": "url", "url": str() as url}:
            return make(url=url, extra=extra)
        case {"type": "file", "file_id": str() as file_id}:
            return make(file_id=file_id, extra=extra)
    return Opaque(provider=PROVIDER, data=item)


def _kept(role: Role, content: Said) -> Message:
    if isinstance(content, str):
        return said(role, content, PROVIDER)
    return said(role, [block_of(part).plain() for part in content], PROVIDER)


def _blocks(turn: Turn) -> list[Item]:
    ran = {block.data.get("tool_use_id") for block in turn.blocks if isinstance(block, Opaque)}
    sent = [
        item
        for block in turn.blocks
        if not (turn.stopped and _broke_off(block, ran))
        for item in _block(block, turn.role)
    ]
    if turn.role == "tool":
        sent.sort(key=lambda item: item.get("type") != "tool_result")
    return sent


def _broke_off(block: Block, ran: set[Any]) -> bool:
    """Whether it is a call that the provider runs itself, and never told the result of."""
    return (
        isinstance(block, Opaque)
        and block.data.get("type") == "server_tool_use"
        and block.data.get("id") not in ran
    )


def _block(block: Block, role: Role) -> Iterable[Item]:
    match block:
        case Text():
            yield {**block.extra, "type": "text", "text": block.text}
        case Thinking(signature=str() as signature):
            yield {
                **block.extra,
                "type": "thinking",
                "thinking": block.thinking,
                "signature": signature,
            }
        case RedactedThinking():
            yield {**block.extra, "type": "redacted_thinking", "data": block.data}
        case ToolCall():
            asked = object_of(block.arguments)
            call = {"type": "tool_use", "id": block.id, "name": block.name, "input": asked}
            yield {**block.extra, **call}
        case ToolResult():
            yield _answer(block)
        case Image() | Document():
            yield {**block.extra, "type": block.type, "source": _source(block)}
        case Opaque() if _may_be_sent(block, role):
            yield block.data


def _may_be_sent(block: Opaque, role: Role) -> bool:
    kind = block.data.get("type")
    return kind not in SEEN if role == "assistant" else kind in GIVEN


def _answer(block: ToolResult) -> Item:
    said = block.content
    content = (
        said if isinstance(said, str) else [sent for part in said for sent in _block(part, "tool")]
    )
    error = {} if block.is_error is None else {"is_error": block.is_error}
    answered = {"type": "tool_result", "tool_use_id": block.tool_call_id, "content": content}
    return {**block.extra, **answered, **error}


def _source(block: Image | Document) -> Item:
    if block.file_id is not None:
        return {"type": "file", "file_id": block.file_id}
    if block.url is not None:
        return {"type": "url", "url": block.url}
    media_type = media_type_of(block)
    text = text_within(block) if isinstance(block, Document) else None
    if text is not None:
        return {"type": "text", "media_type": media_type, "data": text}
    return {"type": "base64", "media_type": media_type, "data": block.data}


def _said(turn: Turn, blocks: list[Item]) -> Said:
    bare = len(blocks) == 1 and set(blocks[0]) == {"type", "text"} and turn.role == "user"
    return str(blocks[0]["text"]) if bare else blocks


def _system(turns: list[Turn]) -> Said | None:
    blocks = [block for turn in turns for block in turn.blocks if isinstance(block, Text)]
    if not blocks:
        return None
    if len(blocks) == 1 and not blocks[0].extra:
        return blocks[0].text
    return [sent for block in blocks for sent in _block(block, "system")]
