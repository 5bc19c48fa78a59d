"""The values of feedback."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Rating(StrEnum):
    """What a user thinks of an answer."""

    UP = "up"
    DOWN = "down"


class Feedback(BaseModel):
    """What one user thinks of one answer, by now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chat_id: UUID
    message_id: UUID
    user_id: UUID
    rating: Rating
    comment: str | None
    created_at: datetime
    updated_at: datetime
