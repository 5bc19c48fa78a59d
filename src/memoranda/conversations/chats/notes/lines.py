"""A note as the one line that a model reads, and the lines ahead of what the user said. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from memoranda.words.errors import Invalid
from memoranda.words.inputs import text_input
from memoranda.words.text import neutral_line

LONGEST_NOTE: Final = 1_000
"""Characters that a note may have."""
_INNER: Final = str.maketrans("[]", "()")


def line_of(text: str) -> str:
    """The note in brackets, on one line, without anything that could pass for structure.

    Raises `Invalid` and `OverLimit`, as for every text that is handed in.
    """
    line = neutral_line(text_input("text", text, limit=LONGEST_NOTE)).translate(_INNER)
    if not line:
        raise Invalid("text has nothing in it that a reader could see.", field="text")
    return f"[{line}]"


def ahead(lines: Sequence[str], content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """What the user says, with the notes ahead of it; the same content where there are none."""
    if not lines:
        return content
    told = "\n".join(lines)
    if isinstance(content, str):
        return f"{told}\n\n{content}"
    return [{"type": "text", "text": told}, *content]
