"""A stream of Gemini's `generate_content`, ended or broken off."""

from collections.abc import Callable, Iterable
from typing import Any

from memoranda.conversations.models import Message
from memoranda.conversations.wire.blocks import Block, Text, Thinking
from memoranda.conversations.wire.forms import no_stream
from memoranda.conversations.wire.gemini import ANSWERS, PROVIDER, blocks_of, fresh_call_id
from memoranda.conversations.wire.gemini_parts import spelled
from memoranda.conversations.wire.origins import answer, metadata_of
from memoranda.conversations.wire.plain import Given, plain, reads

Item = dict[str, Any]


@reads
def from_stream(
    chunks: Iterable[Given], *, make_id: Callable[[], str] = fresh_call_id
) -> list[Message]:
    """Keep the answer that the chunks make; without its end, what broke off is marked so.

    Texts in a row are one, but for a part with a signature, which has to stay a part of its own.
    """
    about: Item = {}
    parts: list[Item] = []
    ended: str | None = None
    came: list[bool] = []
    for chunk in chunks:
        body = spelled(plain(chunk, nulls=False))
        came.append(not ANSWERS.isdisjoint(body))
        about |= {
            key: body[key] for key in ("modelVersion", "usageMetadata", "responseId") if key in body
        }
        for candidate in (body.get("candidates") or [])[:1]:
            ended = candidate.get("finishReason") or ended
            for part in (candidate.get("content") or {}).get("parts") or []:
                _add(parts, part)
    if came and not any(came):
        no_stream(PROVIDER)
    blocks = [block for part in parts for block in blocks_of(part, make_id)]
    kept = metadata_of(
        PROVIDER,
        {"model": about.get("modelVersion"), "usage": about.get("usageMetadata")},
        response_id=about.get("responseId"),
        finish_reason=ended,
    )
    if ended is None:
        blocks, kept = _broken_off(blocks), kept | {"stopped": True}
    return [answer(blocks, kept)]


def _add(parts: list[Item], part: Item) -> None:
    plain_text = set(part) <= {"text", "thought"} and "text" in part
    last = parts[-1] if parts else {}
    if plain_text and last.keys() == part.keys() and last.get("thought") == part.get("thought"):
        parts[-1] = {**last, "text": last["text"] + part["text"]}
    else:
        parts.append(part)


def _broken_off(blocks: list[Block]) -> list[Block]:
    """Calls come whole, so what breaks off is a text or a thought."""
    last = blocks[-1] if blocks else None
    if isinstance(last, Text) or (isinstance(last, Thinking) and last.signature is None):
        return [*blocks[:-1], last.model_copy(update={"stopped": True})]
    return blocks
