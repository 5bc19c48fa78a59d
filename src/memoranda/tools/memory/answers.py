"""What the memory tool answers."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memoranda.memories.models import FoundMemory, Memory, Origin
from memoranda.tools.models import Answer


class ToolMemory(Answer):
    """A memory as a model is shown it. `score` and `matched` say why it was found.

    `space` names the workflow's node that keeps it for itself, if one does. `branch_left` says that it was
    remembered on a branch of its chat that was left since: it may not hold any more.
    """

    id: UUID
    version: int
    content: str
    title: str | None
    category: str | None
    tags: list[str]
    attribute: str | None
    pinned: bool
    origin: Origin
    space: str | None
    expires_at: datetime | None
    created_at: datetime
    recorded_at: datetime
    branch_left: bool = False
    score: float | None = None
    matched: list[str] | None = None

    @classmethod
    def of(cls, memory: Memory) -> "ToolMemory":
        """What a model is shown of `memory`."""
        return cls(
            id=memory.id,
            version=memory.version,
            content=memory.text or "",
            title=memory.title,
            category=memory.category,
            tags=list(memory.tags),
            attribute=None if memory.subject_key is None else memory.subject_key.split(":")[-1],
            pinned=memory.pinned,
            origin=memory.origin,
            space=memory.space,
            expires_at=memory.expires_at,
            created_at=memory.created_at,
            recorded_at=memory.recorded_at,
            branch_left=memory.branch_left,
        )

    @classmethod
    def found(cls, found: FoundMemory) -> "ToolMemory":
        """The same, with the reason why it was found: the words that it holds, and `meaning`."""
        matched = [*found.match.words, *(["meaning"] if found.match.meaning is not None else [])]
        return cls.of(found.memory).model_copy(
            update={"score": round(found.match.score, 3), "matched": matched}
        )

    @property
    def size(self) -> int:
        """About how many characters of an answer it takes."""
        return len(self.model_dump_json())


class Listed(Answer):
    """Memories, the newest first."""

    memories: list[ToolMemory]
    next_cursor: str | None


class Recalled(Answer):
    """Memories that have to do with a question, the best first.

    `semantic` is false where they were found by words alone; `pending_vectors` counts what you
    have just remembered and what is found by words alone for a moment more.
    """

    memories: list[ToolMemory]
    semantic: bool
    pending_vectors: int
    next_cursor: str | None


def fitting(memories: Sequence[ToolMemory], chars: int) -> list[ToolMemory]:
    """As many from the beginning as have room in `chars`, and at least one: each is whole."""
    room = chars
    kept: list[ToolMemory] = []
    for memory in memories:
        room -= memory.size
        if room < 0 and kept:
            break
        kept.append(memory)
    return kept
