"""What a message says in words: to the eye, to a search and to a brief alike. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from memoranda.conversations.models import Content, Message

UNSAID: Final = frozenset({"system", "developer"})
"""Roles whose messages tell an agent what to do; nobody said them in the conversation."""


def is_summary(message: Message) -> bool:
    """Whether the message stands for others, which a compaction took out of the list."""
    return message.metadata.get("summary") is True


def words_of(content: Content) -> str:
    """The words of a message: its texts and what tools answered.

    Blocks that hold none (thinking, calls, pictures, provider state) are left out.
    """
    if isinstance(content, str):
        return content
    return "\n".join(word for block in content for word in _of_block(block))


def _of_block(block: dict[str, Any]) -> Iterator[str]:
    said = block.get("text", block.get("content"))
    if isinstance(said, str):
        yield said
    elif isinstance(said, list):
        for part in said:
            if isinstance(part, dict):
                yield from _of_block(part)
