"""The values of tools: what can be called, what a call asks for, and how it is answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.access.models import Principal
from memoranda.access.rates.models import Rate
from memoranda.memories.models import Memory

if TYPE_CHECKING:
    from memoranda.storage import Transaction

ARGUMENT_BYTES: Final = 64 * 1024
"""How large the arguments of a call may be, as JSON, unless a tool says otherwise."""


class Effect(StrEnum):
    """Whether a tool changes anything."""

    READS = "reads"
    WRITES = "writes"


class Decision(StrEnum):
    """What a policy says of a call: done at once, put before a person first, or refused."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Input(BaseModel):
    """Arguments as a model gives them: nothing unknown is ignored, and no type is guessed.

    No field of it may name an organization, a user, an agent or a space.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Answer(BaseModel):
    """What a tool answers, as JSON of this shape."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Course(NamedTuple):
    """In the course of what a call is made; kept as given."""

    run_id: UUID | None = None
    conversation_id: UUID | None = None


class Outcome(StrEnum):
    """What became of a call that was to change something."""

    DONE = "done"
    PROPOSED = "proposed"
    WAITING = "waiting"
    KNOWN = "known"
    DROPPED = "dropped"
    DENIED = "denied"
    FAILED = "failed"


class Written(Answer):
    """What came of a call that was to change something: ids and versions, and what to do next.

    It holds no text, because it is kept for when the same call comes again.
    """

    outcome: Outcome
    message: str
    memory_id: UUID | None = None
    version: int | None = None
    proposal_id: UUID | None = None
    approval_id: UUID | None = None


Write = Callable[["Transaction", Principal, Any, Course], Written]
Foresee = Callable[["Transaction", Principal, Any], None]
Read = Callable[[Principal, Any, Course], Awaitable[Answer]]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One thing that a model can call.

    A tool that reads has `read`. One that writes has `write`, which is part of a transaction,
    and perhaps `ask`, which in such a transaction puts what was asked for before a person in a
    way of its own; without it the call itself waits, once `foresee` has raised nothing: what no
    person's word could make done. `about` names the memory that a call is about, and `expects` the version
    of it that a call names, if it names one. Without `in_spaces`
    it needs more than a space has, and none may be published with it. `unsaid` is what an agent may do
    with it of which nobody has decided, where that is not the default of its effect. `offered` says whether a
    caller is told of it, given what the policy says; a call of one that is not is decided all the same.
    `argument_bytes` is how large its arguments may be, as JSON, and `counts_as` what the calls of one that
    writes are counted with.
    """

    name: str
    description: str
    input: type[Input]
    answer: type[Answer]
    read: Read | None = None
    write: Write | None = None
    ask: Write | None = None
    foresee: Foresee = lambda *_: None
    about: Callable[[Any], UUID | None] = lambda _: None
    expects: Callable[[Any], int | None] = lambda _: None
    in_spaces: bool = True
    unsaid: Decision | None = None
    offered: Callable[[Principal, Decision], bool] = lambda *_: True
    argument_bytes: int = ARGUMENT_BYTES
    counts_as: Rate = Rate.MEMORY_WRITES

    @property
    def effect(self) -> Effect:
        """Whether it changes anything."""
        return Effect.READS if self.write is None else Effect.WRITES

    @property
    def rate(self) -> Rate:
        """What its calls are counted with, where callers are counted."""
        return Rate.LISTS if self.effect is Effect.READS else self.counts_as

    @property
    def default(self) -> Decision:
        """What an agent may do with it of which nobody has decided."""
        return self.unsaid or DEFAULTS[self.effect]


class Call(NamedTuple):
    """One call, its arguments checked."""

    tool: Tool
    who: Principal
    arguments: Input
    course: Course
    key: str | None


class Refusal(Answer):
    """Why a call was not done, in words that a model can act on. `details` is what the code promises."""

    code: str
    kind: str
    message: str
    retryable: bool
    details: Mapping[str, Any]


class ToolResult(Answer):
    """How a call ended: either `answer` or `refusal` is there.

    `replayed` says that this very call was answered before, and nothing was done again.
    """

    tool: str
    answer: Mapping[str, Any] | None
    refusal: Refusal | None
    replayed: bool = False


class ToolOffer(Answer):
    """A tool as it is offered to a caller, with what the caller's policy says of it."""

    name: str
    description: str
    effect: Effect
    decision: Decision
    input_schema: Mapping[str, Any]
    answer_schema: Mapping[str, Any]


class ToolPolicy(Answer):
    """What one agent may do with one tool. `set_at` is None for a default that nobody has set."""

    agent_id: UUID
    tool: str
    decision: Decision
    set_by: UUID | None
    set_at: datetime | None


class ApprovalStatus(StrEnum):
    """Where a call stands that was put before a person."""

    WAITING = "waiting"
    APPROVED = "approved"
    DENIED = "denied"
    FAILED = "failed"


class Approval(Answer):
    """A call that waits for a person, or that one has decided. Only a waiting one has its arguments.

    `memory` is what it is about, as it stands now, for the person who decides. `answer` is what was done (`Written`), and of a failed one why it was not (`Refusal`).
    """

    id: UUID
    tool: str
    status: ApprovalStatus
    arguments: Mapping[str, Any] | None
    answer: Mapping[str, Any] | None
    user_id: UUID | None
    agent_id: UUID | None
    space_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    memory_id: UUID | None
    decided_by: UUID | None
    decided_at: datetime | None
    created_at: datetime
    memory: Memory | None = None


class ToolCall(Answer):
    """A line of the journal: ids, counts and codes, never what was said."""

    id: UUID
    tool: str
    outcome: str
    code: str | None
    user_id: UUID | None
    agent_id: UUID | None
    space_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    memory_id: UUID | None
    version: int | None
    proposal_id: UUID | None
    approval_id: UUID | None
    items: int | None
    milliseconds: int
    created_at: datetime


ResetPolicy = Literal["keep", "clear"]
"""What becomes of a space's memories where its workflow is reset: they stay, or are forgotten."""


class ToolSpace(Answer):
    """A node of a workflow that calls tools: which ones, and for which agent. Its memories are its own.

    `name` spells both ids as one text; its memories carry it. `reset_policy` says whether they
    outlive a reset of the workflow.
    """

    id: UUID
    name: str
    workflow_id: str
    node_id: str
    agent_id: UUID | None
    tools: list[str]
    reset_policy: ResetPolicy
    created_at: datetime
    published_at: datetime


DEFAULTS: Final[Mapping[Effect, Decision]] = {
    Effect.READS: Decision.ALLOW,
    Effect.WRITES: Decision.ASK,
}
"""What an agent may do with a tool of which nobody has decided. A person may do everything."""
