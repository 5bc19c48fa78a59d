"""Memories as values, for tests of what is done with them."""

from datetime import UTC, datetime
from uuid import UUID

from memoranda.memories.models import Memory, MemoryStatus, Origin

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def a_memory(
    text: str, number: int = 1, *, title: str | None = None, pinned: bool = False
) -> Memory:
    """A memory that says `text`; `number` is its id, and a higher one is newer."""
    return Memory(
        id=UUID(int=number),
        user_id=None,
        agent_id=None,
        subject_key=None,
        status=MemoryStatus.ACTIVE,
        version=1,
        text=text,
        title=title,
        category=None,
        tags=(),
        pinned=pinned,
        origin=Origin.USER,
        author_user_id=None,
        author_agent_id=None,
        run_id=None,
        conversation_id=None,
        expires_at=None,
        created_at=THEN,
        recorded_at=THEN,
    )
