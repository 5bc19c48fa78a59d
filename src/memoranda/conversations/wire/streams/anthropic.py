"""A stream of Anthropic's Messages, ended or broken off."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memoranda.conversations.models import Message
from memoranda.conversations.wire.anthropic import PROVIDER, block_of
from memoranda.conversations.wire.blocks import Block, Opaque, Text, Thinking, ToolCall
from memoranda.conversations.wire.forms import no_stream
from memoranda.conversations.wire.origins import answer, metadata_of
from memoranda.conversations.wire.plain import Given, plain, reads
from memoranda.conversations.wire.portable import object_of

Item = dict[str, Any]


@dataclass
class _Coming:
    """A content block as far as it came in."""

    block: Item
    written: str = ""
    """What came of a call's input, which need not be JSON."""
    whole: bool = False


@reads
def from_stream(events: Iterable[Given]) -> list[Message]:
    """Keep the answer that the events tell of; without its end, what broke off is marked so."""
    about: Item = {}
    coming: dict[int, _Coming] = {}
    ended: str | None = None
    strange = False
    for event in map(plain, events):
        place = int(event.get("index") or 0)
        match event.get("type"):
            case "message_start":
                about = dict(event["message"])
            case "content_block_start":
                coming[place] = _Coming(dict(event["content_block"]))
            case "content_block_delta" if place in coming:
                _grow(coming[place], event["delta"])
            case "content_block_stop" if place in coming:
                coming[place].whole = True
            case "message_delta":
                ended = (event.get("delta") or {}).get("stop_reason") or ended
                used = {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
                about["usage"] = {**(about.get("usage") or {}), **used}
            case "ping" | "message_stop":
                pass
            case _:
                strange = True
    if strange and not (about or coming):
        no_stream(PROVIDER)
    blocks = [block for _, part in sorted(coming.items()) for block in _kept(part)]
    kept = metadata_of(PROVIDER, about, response_id=about.get("id"), finish_reason=ended)
    return [answer(blocks, kept if ended else kept | {"stopped": True})]


def _grow(part: _Coming, delta: Item) -> None:
    block = part.block
    match delta:
        case {"type": "text_delta", "text": str() as text}:
            block["text"] = block.get("text", "") + text
        case {"type": "thinking_delta", "thinking": str() as thinking}:
            block["thinking"] = block.get("thinking", "") + thinking
        case {"type": "signature_delta", "signature": str() as signature}:
            block["signature"] = signature
        case {"type": "input_json_delta", "partial_json": str() as piece}:
            part.written += piece
        case {"type": "citations_delta", "citation": citation}:
            block["citations"] = [*(block.get("citations") or []), citation]
        case _:
            pass  # a kind that is not known yet adds nothing that could be told


def _kept(part: _Coming) -> list[Block]:
    block = part.block
    if block.get("type") != "tool_use" and part.written and "input" in block:
        block["input"] = object_of(part.written)
    seen = block_of(block)
    if isinstance(seen, ToolCall) and part.written:
        seen = seen.model_copy(update={"arguments": part.written})
    if part.whole:
        return [seen]
    return _broken_off(seen)


def _broken_off(block: Block) -> list[Block]:
    match block:
        case Text(text="") | Thinking(thinking="") | Opaque():
            return []
        case Thinking():
            return [block.model_copy(update={"stopped": True, "signature": None})]
        case ToolCall(arguments="{}"):
            return [block.model_copy(update={"stopped": True, "arguments": ""})]
        case Text() | ToolCall():
            return [block.model_copy(update={"stopped": True})]
    return [block]
