"""Which items' texts may hold given letters, as far as a process has it in memory."""

from typing import Final, NamedTuple
from uuid import UUID

from memoranda.search.vectors.cache import Seen
from memoranda.search.vectors.lettering.store import unsettled
from memoranda.search.vectors.matrix import Snapshot
from memoranda.search.vectors.store import serving
from memoranda.storage import Transaction

FEW: Final = 2_000
"""Below so many items, to look at every text takes no longer than to ask what has changed."""
SHARE: Final = 32
"""A look-up by id takes as long as ten to twenty texts that are looked at one after the other."""


class Holders(NamedTuple):
    """What a process knew when it looked, which each transaction makes up for by what it sees itself."""

    collection: str
    seen: Seen
    snapshot: Snapshot

    def among(self, tx: Transaction, folded: str) -> list[UUID] | None:
        """Return items with all those among them whose present text holds these folded letters.

        None where to look at every text is as good or better: among few, and where many may hold
        them, as they may a single letter. And where an item may have a text that no row is of.
        """
        size = len(self.snapshot.rows)
        if size < FEW:
            return None
        most = size // SHARE
        items = self.snapshot.may_hold(folded, most)
        if items is None:
            return None
        now, known = serving(tx, self.collection), self.seen.known
        if (
            now is None
            or not now.whole
            or (now.model, now.since) != (self.snapshot.model, known.since)
        ):
            return None
        more = unsettled(tx, self.collection, now, self.seen.stamp, most)
        return None if more is None else list(more.union(items))
