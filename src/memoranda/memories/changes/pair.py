"""How a write that needs two chains gets them: found without waiting, then held in the order of their ids.

Whoever holds several chains takes them in that order, so that no two writers wait for each other.
"""

from typing import NamedTuple
from uuid import UUID

from memoranda.memories.candidate import Candidate, Mark, mark_of
from memoranda.memories.heads import store as heads
from memoranda.memories.heads.store import head_of
from memoranda.storage import Row, Transaction
from memoranda.storage.errors import LostRace


class Holding(NamedTuple):
    """The chain that a write is about, and the one with a lower id that it holds already."""

    memory_id: UUID
    lower: UUID | None = None


def hold_lower(tx: Transaction, memory_id: UUID, wanted: Candidate | None) -> Holding:
    """Hold what `wanted` would meet, where its turn is before that of `memory_id`, which comes next."""
    if wanted is not None:
        other = _other(tx, wanted, mark_of(wanted.text), memory_id)
        if other is not None and other.id < memory_id:
            heads.wait(tx, other.id)
            return Holding(memory_id, other.id)
    return Holding(memory_id)


def hold_other(tx: Transaction, wanted: Candidate, mark: Mark, holding: Holding) -> Row | None:
    """The other chain that `wanted` meets: held, or one that says something still and refuses it.

    Where another writer has put one there whose turn was earlier, the whole write runs again.
    """
    held = {holding.memory_id, holding.lower}
    while True:
        other = _other(tx, wanted, mark, holding.memory_id)
        if other is None or other.id in held or head_of(other).holds(tx.now):
            return other
        if other.id < holding.memory_id:
            raise LostRace
        heads.wait(tx, other.id)
        held.add(other.id)


def _other(tx: Transaction, wanted: Candidate, mark: Mark, but: UUID) -> Row | None:
    """The other chain of the statement's key, or the one that has its text, as it is just now."""
    if wanted.subject_key is None:
        return heads.holder_of(tx, wanted.audience, mark, but=but)
    return heads.by_key(tx, wanted.audience.spelled, wanted.subject_key, but=but)
