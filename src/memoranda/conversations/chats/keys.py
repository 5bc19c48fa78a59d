"""The keys of notes that the product itself leaves. Pure."""

from typing import Final
from uuid import UUID

_RATING: Final = "rating of "
_ID: Final = len(str(UUID(int=0)))


def key_of(message_id: UUID, user_id: UUID) -> str:
    """The key of the note about this user's rating of this answer: a newer one of the same user takes its place."""
    return f"{_RATING}{message_id} by {user_id}"


def answer_of(key: str) -> UUID | None:
    """The answer that a note under the key is about; None where it is about no rating."""
    return UUID(key[len(_RATING) :][:_ID]) if is_of_rating(key) else None


def is_of_rating(key: str) -> bool:
    """Whether a note under the key is about a rating."""
    return key.startswith(_RATING)
