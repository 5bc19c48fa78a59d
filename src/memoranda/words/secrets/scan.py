"""Looks for a credential in a text, however its letters are spelled. Pure; no part of what is found is told."""

import re
import unicodedata
from itertools import pairwise
from typing import Final, NamedTuple

from memoranda.words.secrets.formats import FORMATS, Format

# In one row, because most texts hold none of them, and every memory is looked through.
_HINTS: Final = tuple((hint, each) for each in FORMATS for hint in each.hints)

# Nobody sees these within a word. Line ends stay: a line's number is told.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Words of examples. A random text holds one of them once in ten thousand times.
_MADE_UP: Final = re.compile(
    "example|placeholder|your|xxxx|change.?me|replace|redacted|insert|dummy|sample|secret|token|goes",
    re.IGNORECASE,
)
_LONG_RUN: Final = 6
"""Characters that follow each other in the alphabet, as in abcdef, or are one and the same."""


class Secret(NamedTuple):
    """What kind of credential a text seems to hold, in words too, and in which line. Never the value."""

    kind: str
    called: str
    line: int


def find_secret(text: str) -> Secret | None:
    """The first kind of credential that the text seems to hold, or None.

    It looks at a copy: normalized (NFKC), so that full-width letters are letters, and without
    characters that nobody sees, so that they part no credential.
    """
    seen = text if text.isascii() and text.isprintable() else _plain(text)
    tried: Format | None = None
    for hint, each in _HINTS:
        if hint not in seen or each is tried:
            continue
        tried = each
        for match in each.pattern.finditer(seen):
            if _is_random(match["secret"], each.fewest):
                return Secret(each.kind, each.called, seen.count("\n", 0, match.start()) + 1)
    return None


def _plain(text: str) -> str:
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)))


def _is_random(secret: str, fewest: int) -> bool:
    """Whether it looks dealt out by a machine, as no placeholder and no word does."""
    if len(set(secret)) < fewest or _MADE_UP.search(secret) or _is_counted(secret):
        return False
    return any(each.isdigit() for each in secret) or _is_mixed(secret)


def _is_mixed(secret: str) -> bool:
    """Whether letters alone are set as no word is: in capitals without a gap, or a good part of them here and there."""
    if secret.isalnum() and secret.isupper():
        return True
    capitals = sum(each.isupper() for each in secret)
    return capitals * 4 >= len(secret) and sum(each.islower() for each in secret) >= 4


def _is_counted(secret: str) -> bool:
    """Whether it goes through the alphabet or the digits, or repeats itself, as examples do."""
    steps = [ord(after) - ord(before) for before, after in pairwise(secret)]
    run = 1
    for before, after in pairwise(steps):
        run = run + 1 if after == before and after in {-1, 0, 1} else 1
        if run >= _LONG_RUN - 1:
            return True
    return False
