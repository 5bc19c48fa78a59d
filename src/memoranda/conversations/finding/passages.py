"""Messages to the passages that are searched, and what a segment holds of them. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np

from memoranda.conversations.models import StoredMessage
from memoranda.conversations.said import UNSAID, is_summary, words_of
from memoranda.search.document import Passage
from memoranda.words.graphemes import boundary_before

COLLECTION: Final = "conversations"
"""What the index of words keeps what was said under."""
FULL: Final = 64
"""A segment with so many passages is left as it is, and the next message begins another."""
LONGEST: Final = 1_200
"""Characters of a passage; a longer message is several, cut where it pauses."""
MOST_PARTS: Final = 128
"""Passages of one message; what it says beyond them is not found."""
LONGEST_TOLD: Final = 200
"""Characters of who spoke and when; what a message tells of these beyond them is not read."""

_ID: Final = 16
_PART: Final = np.dtype("<u2")
_PAUSES: Final = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"[.!?。！？]\s*"))
_SPACE: Final = re.compile(r"\s+")


class Place(NamedTuple):
    """Which part of which message a passage is; `message_id` is of its row, and parts count from 0."""

    message_id: UUID
    part: int


class Row(NamedTuple):
    """A message as it stands in its row."""

    id: UUID
    message: StoredMessage


class Segment(NamedTuple):
    """Passages in their order with their places, and the positions that they cover, silent messages included.

    `full` says that nothing is to be added.
    """

    passages: list[Passage]
    places: list[Place]
    first_position: int
    last_position: int
    full: bool


def passages_of(message: StoredMessage) -> list[Passage]:
    """What is searched of a message; nothing of instructions, and nothing of a summary.

    A message that says in its metadata who spoke (`name`) and when (`at`) is found by these; without
    `at`, by the day on which it was stored.
    """
    if message.role in UNSAID or is_summary(message):
        return []
    name, at = name_of(message), at_of(message) or message.ts.isoformat()
    return [Passage(part, speaker=name, at=at) for part in parts_of(words_of(message.content))]


def name_of(message: StoredMessage) -> str | None:
    """Who spoke, where the message says so."""
    return _told(message, "name")


def at_of(message: StoredMessage) -> str | None:
    """When it was said, where the message says so: an older conversation may have been brought in later."""
    return _told(message, "at")


def parts_of(text: str) -> list[str]:
    """Cut a text into parts of at most `LONGEST` characters, where it pauses if it does."""
    left = text.strip()
    parts: list[str] = []
    while left and len(parts) < MOST_PARTS:
        end = len(left) if len(left) <= LONGEST else _end(left[:LONGEST])
        parts.append(left[:end].strip())
        left = left[end:].lstrip()
    return parts


def segment(rows: Iterable[Row], first_position: int) -> Segment | None:
    """Take whole messages until the segment is full; None where none of them says anything."""
    passages: list[Passage] = []
    places: list[Place] = []
    last = first_position
    for row in rows:
        found = passages_of(row.message)
        places += [Place(row.id, part) for part in range(len(found))]
        passages += found
        last = row.message.position
        if len(passages) >= FULL:
            return Segment(passages, places, first_position, last, full=True)
    return Segment(passages, places, first_position, last, full=False) if passages else None


def pack_places(places: Sequence[Place]) -> bytes:
    """The ids one after the other, then the parts as little-endian numbers of two bytes."""
    parts = np.array([place.part for place in places], _PART)
    return b"".join(place.message_id.bytes for place in places) + parts.tobytes()


def unpack_places(packed: bytes, first: int = 0, last: int | None = None) -> list[Place]:
    """What was packed, or a slice of it."""
    count = len(packed) // (_ID + _PART.itemsize)
    wanted = range(count)[first:last]
    parts = np.frombuffer(packed, _PART, count, count * _ID)[first:last].tolist()
    ids = (UUID(bytes=packed[_ID * place : _ID * (place + 1)]) for place in wanted)
    return [Place(message_id, part) for message_id, part in zip(ids, parts, strict=True)]


def _told(message: StoredMessage, key: str) -> str | None:
    value = message.metadata.get(key)
    if not isinstance(value, str):
        return None
    # It is searched with every part of the message.
    told = value.strip()
    return told[: boundary_before(told, LONGEST_TOLD)].rstrip() or None


def _end(text: str) -> int:
    """Where to cut: at the last pause in the second half, the longest kind of pause first."""
    for pause in (*_PAUSES, _SPACE):
        ends = [found.end() for found in pause.finditer(text, len(text) // 2)]
        if ends:
            return ends[-1]
    return len(text)
