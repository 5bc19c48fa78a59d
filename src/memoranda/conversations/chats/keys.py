"""The keys of notes that the product itself leaves. Pure."""

from uuid import UUID


def key_of(message_id: UUID) -> str:
    """The key of the note about a rating of this answer: a newer rating takes its place."""
    return f"rating of {message_id}"
