"""The values of threads: what is told of one, of its checkpoints, and of what a checkpoint is made of."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GraphThread(_Value):
    """A thread of a graph: for whom it is kept, how many checkpoints it has, and the bytes of all that it holds.

    Without a checkpoint it holds what tasks wrote on the way to the first one, and has no times.
    """

    thread_id: str
    user_id: UUID | None
    agent_id: UUID | None
    checkpoints: int
    bytes: int
    first_at: datetime | None
    last_at: datetime | None


class CheckpointSummary(_Value):
    """A checkpoint without what it is made of.

    `bytes` are those of its state and metadata. What its `channels` held is kept once for all checkpoints.
    """

    namespace: str
    checkpoint_id: str
    parent_id: str | None
    run_id: str | None
    channels: int
    bytes: int
    created_at: datetime


class CheckpointPart(_Value):
    """A part that the host serialized, or a piece of it: from the byte `begin` on, of `bytes` in all.

    `format` is what its serializer calls it. `body` is the piece exactly, in base64, and `text` what of it
    can be read.
    """

    name: str
    format: str
    bytes: int
    begin: int
    body: str
    text: str


class ShownCheckpoint(_Value):
    """A checkpoint with its parts: its state and metadata, what its channels held, and what tasks wrote since.

    `bytes` are those of all parts. One that is long goes on at `next_after`, which is None at the end.
    """

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    run_id: str | None
    bytes: int
    created_at: datetime
    parts: list[CheckpointPart]
    next_after: int | None
