"""What a write does to a chain: pure, decided from the newest revision alone."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN
from memoranda.words.errors import Conflict, DuplicateMemory


class Head(NamedTuple):
    """A chain's newest revision. `live` is False when it is a tombstone."""

    memory_id: UUID
    revision_id: UUID
    version: int
    live: bool
    expires_at: datetime | None
    created_at: datetime
    pinned: bool = False

    def holds(self, now: datetime) -> bool:
        """Whether it still says something: an expired memory holds its text no longer."""
        return self.live and (self.expires_at is None or self.expires_at > now)

    def followed_by(
        self,
        revision_id: UUID,
        *,
        live: bool = True,
        expires_at: datetime | None = None,
        pinned: bool = False,
    ) -> "Head":
        """The head once `revision_id` is added. Versions give the order, never a clock."""
        return self._replace(
            revision_id=revision_id,
            version=self.version + 1,
            live=live,
            expires_at=expires_at,
            pinned=pinned,
        )


def first(
    memory_id: UUID,
    revision_id: UUID,
    *,
    expires_at: datetime | None,
    now: datetime,
    pinned: bool = False,
) -> Head:
    """The head of a chain that begins."""
    return Head(memory_id, revision_id, 1, True, expires_at, now, pinned)


def parent_of_next(head: Head | None, *, same_text: bool, now: datetime) -> Head | None:
    """What a new statement comes after, where `head` is the chain of its key or of its text.

    None begins a chain. A tombstone and an expired memory say nothing any more, so
    any statement may follow them. Raises `DuplicateMemory` when nothing would change.
    """
    if head is not None and same_text and head.holds(now):
        raise said_already(head)
    return head


def said_already(head: Head) -> DuplicateMemory:
    """The refusal that names the memory which says it."""
    return DuplicateMemory(
        f"This is remembered already, as memory {head.memory_id}. Say something else, or leave it.",
        memory_id=str(head.memory_id),
        version=head.version,
    )


def parent_of_tombstone(head: Head) -> Head:
    """What a tombstone comes after. Raises `Conflict` when the memory is forgotten already."""
    if not head.live:
        raise Conflict(
            f"Memory {head.memory_id} is forgotten already. Its history shows when.",
            memory_id=str(head.memory_id),
            version=head.version,
        )
    return head


def restorable_until(forgotten_at: datetime, expires_at: datetime | None) -> datetime:
    """Until when a forgotten memory may be restored: 30 days, or until what it said would have expired."""
    kept = forgotten_at + KEPT_WHEN_FORGOTTEN
    return kept if expires_at is None else min(kept, expires_at)
