"""The values of histories as people see them."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeptHistory(_Value):
    """A history without what was said: whose it is, and what the framework calls it. Without a `user_id` it is the organization's.

    `scope` is by what a host lists histories.
    """

    id: UUID
    name: str
    user_id: UUID | None
    scope: str | None
    revision: str
    updated_at: datetime


class ShownHistory(KeptHistory):
    """A history with its record as the framework wrote it, and the names of its newest entry and of left branches' last."""

    record: str
    tips: list[str]


class KeptEntry(_Value):
    """An entry as the framework wrote it, and the name of the one before it, if there is one."""

    id: UUID
    name: str
    parent: str | None
    content: str
    created_at: datetime
