"""The values of runs: a run, a line of its log, and one thing that happened."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class RunStatus(StrEnum):
    """Where a run stands. A new one is running."""

    RUNNING = "running"


class LogLevel(StrEnum):
    """How much a line of a run's log matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Run(_Value):
    """One run of an agent, for the subject that it was started for."""

    id: UUID
    agent_id: UUID | None
    user_id: UUID | None
    trigger_id: UUID | None
    parent_id: UUID | None
    status: RunStatus
    input: Any
    created_at: datetime


class RunLog(_Value):
    """One line of a run's log: ids and counts, never text that a person wrote."""

    id: UUID
    run_id: UUID
    level: LogLevel
    step: str
    metadata: dict[str, Any]
    created_at: datetime


class Activity(_Value):
    """One thing that happened in the organization; `subject_id` is the row that it happened to."""

    id: UUID
    type: str
    user_id: UUID | None
    agent_id: UUID | None
    subject_id: UUID | None
    metadata: dict[str, Any]
    created_at: datetime
