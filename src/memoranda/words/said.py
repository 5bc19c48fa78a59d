"""How an error repeats what a caller gave in the place of something else: never a long text, and never a credential."""

from typing import Final

from memoranda.words.secrets.scan import find_secret
from memoranda.words.text import neutral_line

LONGEST_SHOWN: Final = 40


def quoted(text: str) -> str | None:
    """The text in quotes, on one line; None where it is empty, longer than a name, or looks like a credential."""
    is_short = 0 < len(text) <= LONGEST_SHOWN
    return repr(neutral_line(text)) if is_short and find_secret(text) is None else None
