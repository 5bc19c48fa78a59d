"""The values of branches."""

from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict

MAIN: Final = "main"
"""The branch that a conversation begins as: the conversation of the key itself."""


class Branch(BaseModel):
    """One way in which a conversation goes on. It has `messages`, of which `turns` are a user's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    conversation_id: UUID
    messages: int
    turns: int
    created_at: datetime
