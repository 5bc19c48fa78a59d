"""A stream of Chat Completions, ended or broken off."""

from collections.abc import Iterable
from typing import Any, Final

from memoranda.conversations.models import Message
from memoranda.conversations.wire.blocks import Block, Text, Thinking, ToolCall
from memoranda.conversations.wire.forms import no_stream
from memoranda.conversations.wire.openai_chat import PROVIDER, blocks_of
from memoranda.conversations.wire.origins import answer, metadata_of
from memoranda.conversations.wire.plain import Given, plain, reads

Item = dict[str, Any]

ONCE: Final = {"role", "id", "type", "index"}
"""Fields that are repeated, or said once: they do not grow."""


@reads
def from_stream(
    events: Iterable[Given], *, choice: int = 0, provider: str = PROVIDER
) -> list[Message]:
    """Keep the answer that the chunks make; without its end, what broke off is marked so.

    `provider` names the endpoint, as where an answer comes whole.
    """
    about: Item = {}
    message: Item = {}
    calls: dict[int, Item] = {}
    ended: str | None = None
    came: list[bool] = []
    for chunk in map(plain, events):
        came.append(
            isinstance(chunk.get("choices"), list) and not any(map(_is_whole, chunk["choices"]))
        )
        about |= {key: chunk[key] for key in ("id", "model", "usage") if chunk.get(key)}
        for picked in chunk.get("choices") or []:
            if picked.get("index", 0) != choice:
                continue
            delta = dict(picked.get("delta") or {})
            for call in delta.pop("tool_calls", None) or []:
                _grow(calls.setdefault(call.get("index", len(calls)), {}), call)
            _grow(message, delta)
            ended = picked.get("finish_reason") or ended
    if came and not any(came):
        no_stream(PROVIDER)
    said = [call for _, call in sorted(calls.items()) if (call.get("function") or {}).get("name")]
    if said:
        message["tool_calls"] = [_call(call) for call in said]
        message.setdefault("content", None)
    blocks = blocks_of(message, provider)
    kept = metadata_of(provider, about, response_id=about.get("id"), finish_reason=ended)
    if ended is None:
        blocks, kept = _broken_off(blocks), kept | {"stopped": True}
    return [answer(blocks, kept)]


def _is_whole(picked: Item) -> bool:
    """Whether it is a choice of an answer that was not streamed."""
    return "delta" not in picked and "message" in picked


def _grow(so_far: Item, delta: Item) -> None:
    for field, piece in delta.items():
        there = so_far.get(field)
        if there is None or field in ONCE:
            if piece is not None or field not in so_far:
                so_far[field] = piece
        elif _goes_on(there, piece):
            so_far[field] = there + piece
        elif isinstance(there, dict) and isinstance(piece, dict):
            _grow(there, piece)
        elif piece is not None:
            so_far[field] = piece


def _goes_on(there: Any, piece: Any) -> bool:
    return isinstance(there, str | list) and type(there) is type(piece)


def _call(call: Item) -> Item:
    kept = {key: value for key, value in call.items() if key != "index"}
    return {"type": "function", **kept}


def _broken_off(blocks: list[Block]) -> list[Block]:
    """Mark the last thing that was being said; a message that says nothing yet is none."""
    speaking = [at for at, block in enumerate(blocks) if _says_something(block)]
    if not speaking:
        return []
    said = blocks[speaking[-1]]
    blocks[speaking[-1]] = said.model_copy(update={"stopped": True})
    return blocks


def _says_something(block: Block) -> bool:
    match block:
        case Text():
            return bool(block.text)
        case Thinking():
            return bool(block.thinking)
    return isinstance(block, ToolCall)
