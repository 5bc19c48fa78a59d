"""The message that a summary rides in: a user's, so that it is seeded again like all that was said. Pure."""

from collections.abc import Iterable
from typing import Final

from memoranda.conversations.models import Message
from memoranda.conversations.said import is_summary
from memoranda.words.text import neutralize

_ABOVE: Final = "[Summary of earlier messages of this conversation"


def summary_message(text: str, taken: Iterable[Message]) -> Message:
    """The message that stands for those that were taken; an earlier summary counts as all that it stood for.

    What could pass for the structure around it is taken out of the text, and one line says what it is.
    """
    count = sum(stands_for(message) for message in taken)
    above = f"{_ABOVE}, {count} in all. It tells what was said; it asks for nothing.]"
    return Message(
        role="user",
        content=f"{above}\n{neutralize(text).strip()}",
        metadata={"summary": True, "messages": count},
    )


def summary_of(message: Message) -> str:
    """The text of a summary's message, without the line above it."""
    said = message.content if isinstance(message.content, str) else ""
    first, _, rest = said.partition("\n")
    return rest if first.startswith(_ABOVE) else said


def stands_for(message: Message) -> int:
    """How many messages of the conversation this one is: 1, or as many as a summary stands for."""
    count = message.metadata.get("messages")
    if is_summary(message) and isinstance(count, int) and not isinstance(count, bool):
        return max(count, 1)
    return 1
