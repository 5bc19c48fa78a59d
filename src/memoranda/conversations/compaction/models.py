"""The values of compactions: one attempt, and a message that one put away."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.models import StoredMessage

CompactionStatus = Literal["activated", "failed", "outdated"]
CompactionCause = Literal["asked", "window", "bytes"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Compaction(_Value):
    """One attempt to compact a conversation; it never changes once it is recorded.

    An `activated` one put `messages` of them away and has a `number`, counted from 1. One that
    `failed`, or was `outdated` because what it was made of had changed, left everything as it was and
    says why. Tokens are of the whole list, by the estimator that is set.
    """

    id: UUID
    conversation_id: UUID
    status: CompactionStatus
    cause: CompactionCause
    summarizer: str
    reason: str | None
    number: int | None
    messages: int
    tokens_before: int
    tokens_after: int
    created_at: datetime


class MaybeCompacted(_Value):
    """Whether earlier turns were to be compacted, and what came of it.

    `due` is null where the next request fits. Else it says what there is too much for, and there is
    either the attempt, or the `reason` why nothing could be compacted: the request is too large all the same.
    """

    due: CompactionCause | None
    compaction: Compaction | None
    reason: str | None


class ArchivedMessage(StoredMessage):
    """A message as it was before a compaction put it away, in the place where it stood."""

    id: UUID
    compaction_id: UUID
