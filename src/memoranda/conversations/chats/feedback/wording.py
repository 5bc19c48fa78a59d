"""What an agent is told of a rating. Pure."""

from typing import Final

from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.chats.models import ChatMessage
from memoranda.conversations.chats.notes.lines import LONGEST_NOTE, line_of
from memoranda.conversations.said import words_of
from memoranda.words.graphemes import boundary_before
from memoranda.words.text import neutral_line

SHOWN: Final = 80
"""Characters of the answer by which it is known."""
_SAID: Final = {Rating.UP: "good", Rating.DOWN: "not good"}


def told(answer: ChatMessage, rating: Rating, comment: str | None, *, own: bool) -> str:
    """The line that the next run reads. Whoever is not the chat's user goes without a name."""
    by = "The user" if own else "Somebody else"
    said = f'{by} rated the answer "{_beginning(answer)}" as {_SAID[rating]}'
    line = f"{said}." if comment is None else f"{said}, and says: {neutral_line(comment)}"
    return line_of(line[: boundary_before(line, LONGEST_NOTE)])


def _beginning(answer: ChatMessage) -> str:
    line = neutral_line(words_of(answer.content))
    kept = boundary_before(line, SHOWN)
    return line if kept == len(line) else f"{line[:kept]}…"
