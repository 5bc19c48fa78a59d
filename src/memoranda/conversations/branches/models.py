"""The values of branches."""

from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict

MAIN: Final = "main"
"""The branch that a conversation begins as: the conversation of the key itself."""


class KeptBranch(BaseModel):
    """A branch as people see it: `id` is its conversation's, and its key is that of the one that was branched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UUID
    workflow_id: str
    generation: int
    name: str
    user_id: UUID | None
    agent_id: UUID | None
    messages: int
    created_at: datetime


class Branch(BaseModel):
    """One way in which a conversation goes on. It has `messages`, of which `turns` are a user's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    conversation_id: UUID
    messages: int
    turns: int
    created_at: datetime
