"""The values of namespaces: what is told of one, and of the items in it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GraphNamespace(_Value):
    """A namespace that holds items: its labels, for whom it is kept, how many items it has, and their bytes."""

    namespace: list[str]
    user_id: UUID | None
    agent_id: UUID | None
    items: int
    bytes: int
    updated_at: datetime


class ItemSummary(_Value):
    """An item without its value, which has so many `bytes` as JSON."""

    id: UUID
    namespace: list[str]
    key: str
    user_id: UUID | None
    agent_id: UUID | None
    bytes: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


class ShownItem(ItemSummary):
    """An item with its value."""

    value: dict[str, Any]
