"""Takes a batch of entries in, all of it in one transaction."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from memoranda.access.models import Principal
from memoranda.memories import store as memories
from memoranda.memories.changes.statement import ending, meet, say
from memoranda.memories.changes.store import Change, settle
from memoranda.memories.heads import store as heads
from memoranda.memories.heads.store import head_of
from memoranda.memories.proposals import inbox
from memoranda.memories.transfer.deciding import Decision, Desk
from memoranda.memories.transfer.entry import State
from memoranda.memories.transfer.plan import Item, Piece
from memoranda.memories.transfer.seen import Seen
from memoranda.memories.ways import Ways
from memoranda.storage import Transaction
from memoranda.storage.errors import LostRace

FORGOTTEN: Final = "import of forgotten memories"
"""What everybody holds, before all else, who takes in what is forgotten."""


class Batch(NamedTuple):
    """What became of some entries, and what has been seen since."""

    decisions: list[Decision]
    seen: Seen


def look(tx: Transaction, items: Sequence[Item], seen: Seen, ways: Ways) -> Batch:
    """What would become of these entries. Writes nothing."""
    return _decided(tx, items, seen, ways, dry=True)


def take(tx: Transaction, items: Sequence[Item], seen: Seen, ways: Ways) -> Batch:
    """Take memories in: all of these that can be, or none where another writer gets in between.

    The chains that are added to are held in the order of their ids, and what all writers share
    comes last and once, as in every write.
    """
    if any(item.state is State.FORGOTTEN for item in items):
        # Of what is forgotten there may be several alike, so that no constraint parts two imports.
        tx.lock(FORGOTTEN)
    batch = _decided(tx, items, seen, ways, dry=False)
    memories.hold(tx, [each for decision in batch.decisions for each in decision.touched])
    changes: list[Change] = []
    for decision in batch.decisions:
        for piece in decision.takes:
            changes += _said(tx, piece, forgotten=decision.state is State.FORGOTTEN)
    if changes:
        settle(tx, changes, ways)
    return batch


def propose(tx: Transaction, who: Principal, item: Item, seen: Seen, ways: Ways) -> Batch:
    """Take one proposal in."""
    batch = _decided(tx, [item], seen, ways, dry=False)
    for piece in batch.decisions[0].takes:
        if inbox.propose(tx, who, piece.candidate, ways).outcome != "waiting":
            raise LostRace
    return batch


def _decided(tx: Transaction, items: Sequence[Item], seen: Seen, ways: Ways, *, dry: bool) -> Batch:
    fork = seen.fork()
    desk = Desk(tx, items, fork, ways.limits, dry=dry)
    return Batch([desk.decide(item) for item in items], fork)


def _said(tx: Transaction, piece: Piece, *, forgotten: bool) -> list[Change]:
    met = meet(tx, piece.candidate, piece.mark)
    if met.row is not None and head_of(met.row).holds(tx.now):
        raise LostRace  # another writer has said something here since it was looked up
    memory, change = say(tx, piece.candidate, piece.mark, met)
    if not forgotten:
        return [change]
    held = heads.held(tx, memory.id)
    return [change, ending(tx, held, piece.candidate.author, "forgotten", None)]
