"""Makes what an entry says fit for a memory, and says what was changed; or why it can't be one. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from memoranda.memories.candidate import (
    LONGEST_CATEGORY,
    LONGEST_TAG,
    MOST_TAGS,
    attribute_input,
    check_secrets,
    expiry_input,
    memory_text,
)
from memoranda.memories.transfer.entry import Entry
from memoranda.memories.transfer.limits import MOST_PIECES
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import SHORT_TEXT
from memoranda.words.text import clean

# Where a sentence ends: after its mark and what closes it, or at the end of a line. Scripts without
# spaces need none behind it.
_ENDS: Final = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？｡])[”’」』）]*\s*|\s*\n\s*")
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_LONGEST_CLUSTER: Final = 32
_LONGEST_SECRET: Final = 4_096
"""Characters in which a credential ends that begins before a cut."""


class Fitted(NamedTuple):
    """What is to be remembered: one text or several, and what was changed on the way."""

    texts: tuple[str, ...]
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    expires_at: datetime | None
    attribute: str | None
    how: tuple[str, ...]


def fit(entry: Entry, text_chars: int) -> Fitted:
    """What the entry can be remembered as. Raises `Invalid`, `OverLimit` and `SecretFound` where it can't be."""
    text, how = clean(entry.text), list(entry.how)
    if text != entry.text:
        how.append("cleaned")
    as_written = entry.as_written and len(text) <= text_chars
    if not as_written and text.strip() != text:
        how.append("trimmed")
    attribute = attribute_input(entry.attribute)
    texts: Sequence[str] = [text if as_written else text.strip()]
    _check_secrets(entry, texts[0], text_chars)
    if len(texts[0]) > text_chars:
        texts = _split(texts[0], text_chars)
        how.append("split")
        if attribute is not None:  # the parts would take each other's place
            attribute = None
            how.append("attribute_left_out")
    title = _cut(entry.title, SHORT_TEXT, "title_cut", how)
    category = _cut(entry.category, LONGEST_CATEGORY, "category_cut", how)
    return Fitted(
        texts=tuple(memory_text(each, text_chars, as_written=as_written) for each in texts),
        title=title,
        category=category,
        tags=_tags(entry.tags, how),
        expires_at=expiry_input(entry.expires_at),
        attribute=attribute,
        how=tuple(dict.fromkeys(how)),
    )


def _check_secrets(entry: Entry, text: str, text_chars: int) -> None:
    """Before anything is cut, because half of a credential is not known for one; beyond that, nothing is kept."""
    check_secrets(
        text[: text_chars * MOST_PIECES],
        entry.title and entry.title[: SHORT_TEXT + _LONGEST_SECRET],
        entry.category and entry.category[: LONGEST_CATEGORY + _LONGEST_SECRET],
        [tag[: LONGEST_TAG + _LONGEST_SECRET] for tag in entry.tags],
        entry.attribute,
    )


def _cut(text: str | None, limit: int, name: str, how: list[str]) -> str | None:
    cleaned = clean(text).strip() if text is not None else ""
    if len(cleaned) > limit:
        how.append(name)
        cleaned = cleaned[: _place(cleaned, limit)].rstrip()
    return cleaned or None


def _tags(tags: Sequence[str], how: list[str]) -> tuple[str, ...]:
    cut: list[str] = []
    kept = [_cut(tag, LONGEST_TAG, "tags_cut", cut) for tag in tags]
    once = tuple(dict.fromkeys(tag for tag in kept if tag))
    if cut or len(once) > MOST_TAGS:
        how.append("tags_cut")
    return once[:MOST_TAGS]


def _split(text: str, limit: int) -> list[str]:
    """The text in pieces that end with a sentence, or else a word. Raises `OverLimit` for a document."""
    if len(text) > limit * MOST_PIECES:
        raise OverLimit(
            f"text has {len(text)} characters, as a document has: add it with memoranda knowledge add.",
            field="text",
            limit=limit * MOST_PIECES,
        )
    pieces: list[str] = []
    at = 0
    while at < len(text):
        end = at + limit
        if end < len(text):
            end = _sentence_end(text, at, end) or _word_end(text, at, end) or _place(text, end, at)
        piece = text[at:end].strip()
        if _says(piece, limit):
            pieces.append(piece)
        at = end
    if len(pieces) > MOST_PIECES:
        raise OverLimit(f"text is more than {MOST_PIECES} memories: shorten it.", field="text")
    return pieces


def _says(piece: str, limit: int) -> bool:
    try:
        return bool(memory_text(piece, limit))
    except Invalid:
        return False


def _sentence_end(text: str, at: int, most: int) -> int | None:
    ends = [end for end in _found(text, at, most) if end > at]
    return ends[-1] if ends else None


def _found(text: str, at: int, most: int) -> Iterator[int]:
    """Where sentences end within what fits; the space behind a sentence need not fit."""
    for found in _ENDS.finditer(text, at, most + 1):
        if text[at : found.end()].rstrip() and len(text[at : found.end()].rstrip()) <= most - at:
            yield found.end()


def _word_end(text: str, at: int, most: int) -> int | None:
    for place in range(most, at, -1):
        if text[place].isspace():
            return place
    return None


def _place(text: str, most: int, least: int = 0) -> int:
    """Where to cut within a word: not between a letter and its marks, as far as one can tell."""
    for place in range(most, max(least, most - _LONGEST_CLUSTER), -1):
        here, before = text[place], text[place - 1]
        bound = unicodedata.combining(here) or here in _JOINERS or before == "\u200d"
        if not bound and not "\U0001f3fb" <= here <= "\U0001f3ff":
            return place
    return most
