"""The values of runs: a run, a line of its log, and one thing that happened."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.words.ref import ResourceRef, parse_refs


class RunStatus(StrEnum):
    """Where a run stands. A new one is running; one that is neither running nor waiting has ended."""

    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether a run of this status never changes again."""
        return self not in {RunStatus.RUNNING, RunStatus.WAITING}


class LogLevel(StrEnum):
    """How much a line of a run's log matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunResult(_Value):
    """What a completed run says that it came to, and the rows that it came to, without labels."""

    summary: str | None = None
    refs: list[ResourceRef] = []


class Run(_Value):
    """One run of an agent, for the subject that it was started for.

    `stage` counts from 0, and one more begins each time that the run goes on after a wait. One that is
    not `whole` is told as later runs are told of it: without its input, and not whom it was for. One that
    answers in a chat names it, and since when its answer is on a branch that was left, if it is.
    """

    id: UUID
    agent_id: UUID | None
    user_id: UUID | None
    trigger_id: UUID | None
    parent_id: UUID | None
    status: RunStatus
    stage: int = 0
    input: Any
    result: RunResult | None = None
    waiting_reason: str | None = None
    failure_reason: str | None = None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None = None
    chat_id: UUID | None = None
    left_at: datetime | None = None
    whole: bool = True

    @property
    def entities(self) -> list[ResourceRef]:
        """The rows that the run is about: the well-formed `refs` of its input, which stays as it is."""
        refs = self.input.get("refs") if isinstance(self.input, dict) else None
        return parse_refs(refs)[0]


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
