"""The values of chats: a chat, its messages, the runs that answer them, and the path that is shown."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memoranda.conversations.models import Content, LoadedConversation, Message
from memoranda.conversations.seeding import seed

NO_AGENT: Final = UUID(int=0)
"""Stands for no agent where an agent's id is part of a key."""

ChatRole = Literal["user", "assistant"]

MessageState = Literal["complete", "stopped", "failed"]
"""How far a message got: an answer that was stopped or failed is kept as far as it went."""


class ChatRunStatus(StrEnum):
    """Where a run of a chat stands. It is live until it has completed, was stopped, or failed."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    STOPPING = "stopping"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def live(self) -> bool:
        """Whether somebody may still answer with it."""
        return self not in {
            ChatRunStatus.COMPLETED,
            ChatRunStatus.STOPPED,
            ChatRunStatus.FAILED,
        }


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Chat(_Value):
    """A user's chat with an agent (or several, or none by name), which stands for one workflow of the host.

    The path that is shown ends at `active_leaf`. `revision` grows with each change of what is shown: who edits,
    regenerates or switches names the one that was seen.
    """

    id: UUID
    user_id: UUID
    agent_id: UUID | None
    workflow_id: str
    generation: int
    title: str | None
    active_leaf: UUID | None
    revision: int
    created_at: datetime
    updated_at: datetime


class ChatMessage(_Value):
    """One message of the tree, below its `parent_id`; `sequence` counts the chat's messages from 1.

    `run_id` is the run that it is the answer of; a person's message has none.
    """

    id: UUID
    chat_id: UUID
    parent_id: UUID | None
    sequence: int
    role: ChatRole
    content: Content
    client_message_id: str | None
    run_id: UUID | None
    state: MessageState
    created_at: datetime


class ChatRun(_Value):
    """The run that answers the message `message_id`; its id is that of a run among `runs`.

    `revision` is the chat's that began it. `reason` is why it waits, failed or was stopped, and `last_event` the
    number of its newest event.
    """

    id: UUID
    chat_id: UUID
    message_id: UUID
    answer_id: UUID | None
    revision: int
    status: ChatRunStatus
    reason: str | None
    last_event: int
    created_at: datetime
    picked_up_at: datetime | None
    seen_at: datetime
    ended_at: datetime | None


class ShownMessage(ChatMessage):
    """A message on the path that is shown, as `version` (from 1) among its `versions`, the oldest first."""

    version: int
    versions: list[UUID]


class Thread(_Value):
    """What is shown of a chat: the path to its active leaf, and the live run, if there is one.

    `earlier` counts the messages of the path before these. `last_run` is that of the message shown last: the one whose
    answer it is, or the newest that was to answer it, and so why it has no answer.
    """

    chat: Chat
    messages: list[ShownMessage]
    earlier: int
    run: ChatRun | None
    last_run: ChatRun | None


class Sent(_Value):
    """What a send, an edit or a regeneration made: the message, and the run that is to answer it."""

    chat: Chat
    message: ChatMessage
    run: ChatRun


class Answered(_Value):
    """What is there once a run has ended; without an answer, the path ends at the message that has none."""

    chat: Chat
    run: ChatRun
    answer: ChatMessage | None


class Prepared(_Value):
    """What an agent of a run begins from.

    `loaded` is its stored conversation, ready to be sent. `asked` is what of the path no run has saved for it yet: what
    was said where it took no part, the oldest left out beyond 1 MB, and at last the message that this run answers,
    with `notes` ahead of its own words.
    """

    run: ChatRun
    loaded: LoadedConversation
    asked: list[Message]
    notes: list[str]

    def request(self, system: str | Message | None = None) -> list[Message]:
        """The messages of the agent's first request: this list, with the answer behind it, is what is saved."""
        *earlier, last = self.asked
        return seed(system, [*self.loaded.messages, *earlier], last)


class AgentTurn(_Value):
    """What is to be an agent's stored conversation once its run has answered: the list that was sent, with its answer.

    It is all of the list, and not the new messages alone: what `prepare` gave, and what came after it. Without an
    `agent_id` it is the chat's own agent's. `fence` is the one that `prepare` answered. With `expected_digest`, the
    `loaded.digest` of `prepare`, it is saved only over that list.
    """

    agent_id: UUID | None = None
    messages: Sequence[Message]
    fence: int = Field(ge=0)
    expected_digest: str | None = None
