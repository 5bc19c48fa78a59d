"""What the journal says of a call. Pure."""

from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.tools.models import Outcome, Written

UNKNOWN: Final = "-"
"""The tool of a call that named none: what it did name is the caller's own text."""


class Ending(StrEnum):
    """How a call ended."""

    DONE = "done"
    ASKED = "asked"
    REPLAYED = "replayed"
    REFUSED = "refused"
    FAILED = "failed"


class Line(NamedTuple):
    """A line as it is written: all of a `ToolCall` but its id and its time."""

    tool: str
    outcome: Ending
    code: str | None
    user_id: UUID | None
    agent_id: UUID | None
    space_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    memory_id: UUID | None
    milliseconds: int
    version: int | None = None
    proposal_id: UUID | None = None
    approval_id: UUID | None = None
    items: int | None = None

    def of(self, written: Written) -> "Line":
        """The line with what was written."""
        nothing_new = written.outcome in {Outcome.KNOWN, Outcome.DROPPED}
        return self._replace(
            code=str(written.outcome) if nothing_new else None,
            memory_id=written.memory_id or self.memory_id,
            version=written.version,
            proposal_id=written.proposal_id,
            approval_id=written.approval_id,
        )
