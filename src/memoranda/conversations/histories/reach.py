"""Which entries of a tree nothing leads to any more. Pure."""

from collections.abc import Iterable, Mapping
from uuid import UUID


def unreached(parents: Mapping[UUID, UUID | None], tips: Iterable[UUID]) -> list[UUID]:
    """The entries (each with the one before it) that no tip and nothing before a tip is."""
    reached: set[UUID] = set()
    for tip in tips:
        at: UUID | None = tip
        while at is not None and at not in reached:
            reached.add(at)
            at = parents.get(at)
    return [entry for entry in parents if entry not in reached]
