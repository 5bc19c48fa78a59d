"""Results of tools are cut before they enter a transcript, and say how to get at the rest. Pure.

A cut falls between two graphemes and is never made twice: what is left is within the limit. The same
list object comes back where nothing is cut.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from memoranda.conversations.calls import RESULT, Block, blocks_of, results_of
from memoranda.conversations.models import Message
from memoranda.words.errors import Invalid
from memoranda.words.graphemes import boundary_before

RESULT_CHARS: Final = 100_000
"""The characters that a result may have unless another limit is set."""
LEAST_CHARS: Final = 300
"""No limit is lower: the note itself has to have room, and some of the result."""
_NOTE: Final = re.compile(
    r"\n\[… ([0-9]{1,18}) of ([0-9]{1,18}) characters left out\. [^\]\n]*\]\Z"
)


def cap_results(messages: list[Message], limit: int = RESULT_CHARS) -> list[Message]:
    """Cut every result to `limit` characters, of which the last are a note that asks for a narrower call.

    The texts of one result count together; what is no text is left alone. Raises `Invalid` for a
    limit below 300.
    """
    if limit < LEAST_CHARS:
        raise Invalid(f"A result's limit is {LEAST_CHARS} characters or more.", field="limit")
    return with_results(messages, lambda block: cut_result(block, limit))


def cut_result(block: Block, limit: int) -> Block:
    """A result of at most `limit` characters; the same block where it has no more."""
    content = block.get("content")
    if isinstance(content, str):
        return block if len(content) <= limit else {**block, "content": cut_text(content, limit)}
    texts = [part["text"] for part in _texts_of(content)]
    if sum(map(len, texts)) <= limit:
        return block
    return {**block, "content": _cut_parts(content, "\n".join(texts), limit)}


def chars_of(block: Block) -> int:
    """The characters of a result's texts."""
    content = block.get("content")
    if isinstance(content, str):
        return len(content)
    return sum(len(part["text"]) for part in _texts_of(content))


def cut_text(text: str, limit: int) -> str:
    """The beginning of a longer text, and the note; together at most `limit` characters.

    What an earlier cut left out counts as left out here too.
    """
    earlier = _NOTE.search(text)
    body = text[: earlier.start()] if earlier else text
    # A tool may write such a note itself: no text had fewer characters than are there.
    whole = max(int(earlier[2]), len(body)) if earlier else len(text)
    note = _note(whole, whole)
    kept = boundary_before(body, max(limit - len(note), 0))
    return body[:kept] + _note(whole - kept, whole)


def with_results(messages: list[Message], change: Callable[[Block], Block]) -> list[Message]:
    """The messages with each of their results changed; those that stay the same are the same objects."""
    changed = [_changed(message, change) for message in messages]
    same = all(one is other for one, other in zip(changed, messages, strict=True))
    return messages if same else changed


def _changed(message: Message, change: Callable[[Block], Block]) -> Message:
    if not results_of(message):
        return message
    before = blocks_of(message)
    after = [change(block) if block.get("type") == RESULT else block for block in before]
    if all(one is other for one, other in zip(after, before, strict=True)):
        return message
    return message.model_copy(update={"content": after})


def _texts_of(content: object) -> list[dict[str, Any]]:
    parts = content if isinstance(content, list) else []
    return [each for each in parts if isinstance(each, dict) and _is_text(each)]


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str)


def _cut_parts(content: Any, joined: str, limit: int) -> list[dict[str, Any]]:
    """One text in the place of the first, cut; what is no text stays where it is."""
    first = next(part for part in content if isinstance(part, dict) and _is_text(part))
    left = {**first, "text": cut_text(joined, limit)}
    return [
        left if part is first else part
        for part in content
        if part is first or not (isinstance(part, dict) and _is_text(part))
    ]


def _note(left_out: int, whole: int) -> str:
    return (
        f"\n[… {left_out} of {whole} characters left out. "
        "Ask for less at once to see them: narrow the call, or ask for a part.]"
    )
