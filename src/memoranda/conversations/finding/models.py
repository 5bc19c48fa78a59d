"""What a search over conversations answers."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.models import Role


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Why(_Value):
    """Why a message was found.

    `words` are those of the query that it holds, as they were typed, and `nearby` others that the
    messages around it hold. `meaning` is how near it is in meaning, from 0 to 1; None where that
    was not compared.
    """

    words: list[str]
    nearby: list[str]
    meaning: float | None


class FoundMessage(_Value):
    """A message that answers, and where it stands. `score` is above 0 and at most 1.

    Of a long message, `text` is the part that answers best. `ts` is when it was stored; `name` and
    `at` are what its metadata says of who spoke, and when. A `compacted` one is no longer in the list
    that is sent: a summary stands for it.
    """

    conversation_id: UUID
    workflow_id: str | None
    generation: int
    agent_id: UUID | None
    user_id: UUID | None
    position: int
    role: Role
    name: str | None
    at: str | None
    ts: datetime
    text: str
    score: float
    why: Why
    compacted: bool


class ConversationAnswer(_Value):
    """Results, best first, and what was not looked at.

    `semantic` says whether meaning was compared, and `model` by which embedder; `words_alone` counts
    the searched passages that have no vector of it (yet). `waiting` counts messages that are too new to
    be found, and `left_out` segments of old conversations that were more than one search looks at.
    """

    results: list[FoundMessage]
    semantic: bool
    model: str | None
    words_alone: int
    waiting: int
    left_out: int
