"""The values of conversations: a conversation, and what is said in it."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

Role = Literal["system", "developer", "user", "assistant", "tool"]

Content = str | list[dict[str, Any]]
"""A text, or ordered blocks; a block is a JSON object whose keys keep their order."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(_Value):
    """One message to store. Its content comes back exactly as it was given."""

    role: Role
    content: Content


class StoredMessage(Message):
    """A message in its place: positions count from 1. `ts` is when it was stored, for the eye alone."""

    position: int
    ts: datetime


class Conversation(_Value):
    """An ordered list of `length` messages, one per (workflow, generation, agent) where a workflow is named."""

    id: UUID
    workflow_id: str | None
    generation: int
    agent_id: UUID | None
    user_id: UUID | None
    length: int
    created_at: datetime
    updated_at: datetime
