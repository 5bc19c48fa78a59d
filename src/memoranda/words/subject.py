"""The subject: the four ids that every read is filtered by."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict


class ContextSubject(BaseModel):
    """For whom a brief is built. A null field names nobody; it is never a wildcard for a user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    organization_id: UUID
    user_id: UUID | None = None
    trigger_id: UUID | None = None
    agent_id: UUID | None = None
