"""Values that the API alone has; all others are those of the library."""

from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.models import Conversation
from memoranda.files.models import FileSummary
from memoranda.instructions.models import FileReport
from memoranda.knowledge.models import SourceStatus

Entry = TypeVar("Entry")


class Value(BaseModel):
    """A value that never changes."""

    model_config = ConfigDict(frozen=True)


class Listing(Value, Generic[Entry]):
    """All of a list that has an end of its own."""

    items: list[Entry]


class Subject(Value):
    """For whom a brief is built, within the organization of the key."""

    agent_id: UUID | None = None
    user_id: UUID | None = None
    trigger_id: UUID | None = None


class Answered(Value):
    """What a tool answered. `replayed` says that this very call was answered before, and nothing was done again."""

    tool: str
    answer: dict[str, Any]
    replayed: bool


class Cleared(Value):
    """The conversation as it is after it was cleared; None where there was none."""

    conversation: Conversation | None


class WrittenFile(FileSummary):
    """A file that was just written, and how much of it reaches agents by now."""

    load: FileReport


class SourceTaken(Value):
    """A document that was taken, and waits to be read."""

    id: UUID
    status: SourceStatus


class Forgotten(Value):
    """How many memories were forgotten."""

    forgotten: int


class Health(Value):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(Value):
    """The process can serve. `application_database` says how the application's own was found, where there is one."""

    status: Literal["ready"] = "ready"
    application_database: Literal["answers", "away"] | None = None
