"""The values of notes."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Note(BaseModel):
    """One note of a chat: a line that the next run is told, ahead of what the user says.

    A newer note of the same `key` takes the place of one that no run was given. `claimed_by` is the run
    that is being told, and `told_at` when its answer was kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID
    chat_id: UUID
    key: str
    line: str
    claimed_by: UUID | None
    told_at: datetime | None
    created_at: datetime
