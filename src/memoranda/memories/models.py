"""The values of memories: a memory as it stands, and a revision of it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class MemoryStatus(StrEnum):
    """Where a memory stands for the people who see it."""

    ACTIVE = "active"
    FORGOTTEN = "forgotten"


class Origin(StrEnum):
    """How a revision came about."""

    USER = "user"
    AGENT = "agent"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Memory(_Value):
    """A memory as its newest revision has it. `id` names the whole chain.

    `created_at` is the time of the first revision and `recorded_at` of the newest;
    `version` counts revisions from 1. A forgotten memory has no text.
    """

    id: UUID
    user_id: UUID | None
    agent_id: UUID | None
    subject_key: str | None
    status: MemoryStatus
    version: int
    text: str | None
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    pinned: bool
    origin: Origin
    author_user_id: UUID | None
    author_agent_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    expires_at: datetime | None
    created_at: datetime
    recorded_at: datetime


class Revision(_Value):
    """One state of a memory, never changed after. A tombstone has `forgotten_at` and no text."""

    id: UUID
    memory_id: UUID
    version: int
    supersedes_id: UUID | None
    text: str | None
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    expires_at: datetime | None
    origin: Origin
    author_user_id: UUID | None
    author_agent_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    forgotten_at: datetime | None
    created_at: datetime
