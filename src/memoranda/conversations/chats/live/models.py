"""The values of a run that is followed: what its host tells, the numbered events, and the state folded from them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from memoranda.conversations.chats.models import ChatMessage, ChatRunStatus


class RunEventType(StrEnum):
    """What an event of a run says. A host tells the first four; the product writes the others itself."""

    TEXT = "text.delta"
    REASONING = "reasoning.delta"
    TOOL_STARTED = "tool.started"
    TOOL_FINISHED = "tool.finished"
    STATUS = "status"
    MESSAGE = "message"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TextDelta(_Value):
    """More of the answer's text."""

    type: Literal["text.delta"] = "text.delta"
    text: str


class ReasoningDelta(_Value):
    """More of what the model thinks, as far as it may be shown."""

    type: Literal["reasoning.delta"] = "reasoning.delta"
    text: str


class ToolStarted(_Value):
    """A call that is being run from now on, with its arguments as the model wrote them."""

    type: Literal["tool.started"] = "tool.started"
    call_id: str
    name: str
    arguments: str = ""


class ToolFinished(_Value):
    """The end of a call; `result` is what may be shown of what it came to."""

    type: Literal["tool.finished"] = "tool.finished"
    call_id: str
    result: str = ""
    is_error: StrictBool = False


NewEvent = Annotated[
    TextDelta | ReasoningDelta | ToolStarted | ToolFinished, Field(discriminator="type")
]
"""What a host tells of its run."""


class RunEvent(_Value):
    """One event of a run, numbered from 1 without a gap; `data` is what its type says."""

    sequence: int
    type: RunEventType
    data: dict[str, Any]
    created_at: datetime


class RunState(_Value):
    """What a run's events came to, up to the one of number `sequence`.

    `blocks` are the answer so far, in the order in which it was made: texts, thoughts, calls and what
    they came to. `message` is the answer as the chat keeps it, from when it is kept.
    """

    sequence: int = 0
    status: ChatRunStatus = ChatRunStatus.QUEUED
    reason: str | None = None
    blocks: list[dict[str, Any]] = []
    message: ChatMessage | None = None


class RunSnapshot(RunState):
    """The state of one run of a chat: whoever has it goes on with the events after `sequence`."""

    run_id: UUID
    chat_id: UUID


class RunEvents(_Value):
    """Events of a run in their order. `last` is the newest number that the run has, and `status` how it stands.

    Where some of those asked for are gone, `snapshot` is the state before the first of `items`.
    """

    items: list[RunEvent]
    last: int
    status: ChatRunStatus
    snapshot: RunSnapshot | None = None


class RunEnd(_Value):
    """The run has ended, and all that it told is told; `sequence` is the number of its last event."""

    sequence: int
    status: ChatRunStatus


class Heard(_Value):
    """What a host is answered that tells of its run: the newest number, and whether it is to stop."""

    run_id: UUID
    sequence: int
    status: ChatRunStatus
    stop: bool


MOST_AT_ONCE: Final = 500
"""Events that a host may tell at once."""
LONGEST_TEXT: Final = 100_000
"""Characters that one event's text may have."""
