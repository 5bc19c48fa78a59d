"""The values of conversations: a conversation, and what is said in it."""

from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["system", "developer", "user", "assistant", "tool"]

Content = str | list[dict[str, Any]]
"""A text, or ordered blocks; a block is a JSON object whose keys keep their order."""

LAST_GENERATION: Final = 2**31 - 1


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ConversationKey(_Value):
    """What names a conversation: a host's workflow, which of its generations, and the agent (or none)."""

    workflow_id: str
    generation: int = Field(default=1, ge=1, le=LAST_GENERATION)
    agent_id: UUID | None = None


class Message(_Value):
    """One message to store. Its content and metadata come back exactly as they were given.

    `metadata` is what is known of it besides, such as the provider that it came from. A
    `pinned` message survives every compaction.
    """

    role: Role
    content: Content
    metadata: dict[str, Any] = Field(default_factory=dict)
    pinned: bool = False


class StoredMessage(Message):
    """A message in its place: positions count from 1, grow, and are never given twice.

    `ts` is when it was stored, for the eye alone: it is in no digest.
    """

    position: int
    ts: datetime


class MessagePage(_Value):
    """A part of a conversation's messages. `next_after` is the position to go on after, and null at the end."""

    items: list[StoredMessage]
    next_after: int | None


class Conversation(_Value):
    """An ordered list of `length` messages, one per (workflow, generation, agent) where a workflow is named.

    `bytes` is what the messages hold together. `fence` grows with each clearing: a save names
    the fence that it was loaded at. `length` and `digest` together name the exact list.
    """

    id: UUID
    workflow_id: str | None
    generation: int
    agent_id: UUID | None
    user_id: UUID | None
    length: int
    bytes: int
    fence: int
    digest: str
    created_at: datetime
    updated_at: datetime


class LoadedConversation(_Value):
    """What a run begins from: the messages, and the `fence` that its save has to name.

    `messages` are ready to be sent: calls that broke off are answered, and results are cut and
    cleared to their budgets. `length` and `digest` are those of the list as it is stored;
    without a `conversation` there is nothing yet, and they are 0 and "".
    """

    conversation: Conversation | None
    messages: list[Message]
    fence: int
    length: int
    digest: str


class WorkflowGeneration(_Value):
    """The generation of a workflow that goes on: older ones have ended, and later ones not begun."""

    workflow_id: str
    generation: int


class WorkflowReset(_Value):
    """What a reset did: the generation that goes on from here, and what it cleared away."""

    workflow_id: str
    generation: int
    conversations: int
    spaces_cleared: list[str]
    memories_forgotten: int


class Purged(_Value):
    """How many conversations went for good.

    `scrubbed` is False where the last traces still wait to leave the database's files: a
    worker, or the next purge, finishes that.
    """

    conversations: int
    scrubbed: bool


ChangeAction = Literal[
    "created", "appended", "saved", "cleared", "reset", "purged", "compacted", "moved"
]
"""What became of a conversation; one was moved when its chat went to another branch."""


class ConversationChange(_Value):
    """What listeners are told once a change is committed; `conversation` is what it is by then.

    After a purge it is what it was.
    """

    action: ChangeAction
    conversation: Conversation
