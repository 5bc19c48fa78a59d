"""The keys of notes that the product itself leaves. Pure."""

from typing import Final
from uuid import UUID

_RATING: Final = "rating of "


def key_of(message_id: UUID) -> str:
    """The key of the note about a rating of this answer: a newer rating takes its place."""
    return f"{_RATING}{message_id}"


def is_of_rating(key: str) -> bool:
    """Whether a note under the key is about a rating."""
    return key.startswith(_RATING)
