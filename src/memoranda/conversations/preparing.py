"""Messages as they are given, checked and written for their rows. Pure."""

from collections.abc import Sequence
from typing import Final

from memoranda.conversations.content import (
    check_content,
    check_metadata,
    written,
    written_metadata,
)
from memoranda.conversations.digests import measured
from memoranda.conversations.errors import too_large
from memoranda.conversations.models import Message
from memoranda.conversations.rows.store import Written
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_count

MOST_APPENDED: Final = 1_000
"""Messages that one append may bring."""
LARGEST_APPEND: Final = 8_000_000
"""Bytes that one append may bring, as JSON in UTF-8."""
MOST_SAVED: Final = 100_000
"""Messages that a conversation may be saved with."""


def turn_of(messages: Sequence[Message]) -> list[Written]:
    """A turn, at least one message. Raises `Invalid` at the very place, and `OverLimit`."""
    check_count("messages", len(messages), most=MOST_APPENDED)
    turn = _written(messages)
    size = size_of(turn)
    if size > LARGEST_APPEND:
        raise OverLimit(
            f"messages has {size} bytes and may have {LARGEST_APPEND}: append less at a time.",
            field="messages",
            limit=LARGEST_APPEND,
        )
    return turn


def list_of(messages: Sequence[Message], most_bytes: int) -> list[Written]:
    """A whole list, which may be empty. Raises `Invalid`, and `ConversationTooLarge`."""
    if len(messages) > MOST_SAVED:
        raise Invalid(
            f"messages has {len(messages)} and may have {MOST_SAVED}: compact the conversation.",
            field="messages",
        )
    made = _written(messages)
    size = size_of(made)
    if size > most_bytes:
        raise too_large(size, most_bytes)
    return made


def size_of(messages: Sequence[Written]) -> int:
    """The bytes of all of them."""
    return sum(each.bytes for each in messages)


def _written(messages: Sequence[Message]) -> list[Written]:
    return [_write(f"messages.{place}", message) for place, message in enumerate(messages)]


def _write(field: str, message: Message) -> Written:
    check_content(f"{field}.content", message.content)
    if message.metadata:
        check_metadata(f"{field}.metadata", message.metadata)
    content, metadata = written(message.content), written_metadata(message.metadata)
    digest, size = measured(message.role, content, metadata)
    return Written(message.role, content, metadata, message.pinned, size, digest)
