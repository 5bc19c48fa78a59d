"""Keeps the vectors of organizations in memory, and brings them up to date before each use."""

import asyncio
import logging
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self
from uuid import UUID

from memoranda.search.vectors.matrix import Snapshot, VectorMatrix
from memoranda.search.vectors.store import changes, rows_of, serving
from memoranda.storage import Storage, Transaction

logger = logging.getLogger(__name__)

PAGE: Final = 5_000
OLDEST: Final = timedelta(days=1)
"""What was not brought up to date for so long is read anew: rows of dropped items are kept for longer."""


class Known:
    """A matrix, since when its model serves, and how far its changes were read."""

    def __init__(self, model: str, since: datetime) -> None:
        self.matrix = VectorMatrix(model)
        self.since = since
        self.stamp = 0
        self.seen_at = since


class Seen(NamedTuple):
    """How far a matrix was read, when it was looked at: changes of it are not meant."""

    known: Known
    stamp: int

    @classmethod
    def of(cls, known: Known) -> Self:
        return cls(known, known.stamp)

    def is_all(self, tx: Transaction, collection: str) -> bool:
        """Whether nothing has changed since, as far as the transaction sees."""
        now, known = serving(tx, collection), self.known
        if now is None or now[:3] != (known.matrix.model, self.stamp, known.since):
            return False
        if tx.now - known.seen_at > OLDEST:
            return False
        known.seen_at = tx.now
        return True


class Held(NamedTuple):
    """All that was known at one moment, and how far that was read."""

    seen: Seen
    snapshot: Snapshot

    @classmethod
    def of(cls, known: Known) -> Self:
        return cls(Seen.of(known), known.matrix.snapshot())


class _Place:
    """An organization's place in the cache: what is known, and who finds out more."""

    def __init__(self) -> None:
        self.known: Known | None = None
        self.turn = asyncio.Lock()
        self.next: asyncio.Task[Held | None] | None = None


class VectorCache:
    """One matrix for each organization, of the model that serves it; the least used go first.

    Callers at the same time share one read, which goes on when a caller is cancelled.
    """

    def __init__(self, storage: Storage, collection: str, *, max_bytes: int) -> None:
        self._storage = storage
        self._collection = collection
        self._max_bytes = max_bytes
        self._places: OrderedDict[UUID, _Place] = OrderedDict()
        self._running: set[asyncio.Task[Held | None]] = set()
        self._too_large: set[UUID] = set()

    @property
    def nbytes(self) -> int:
        """About how much memory is in use between calls."""
        return sum(map(_size, self._places.values()))

    async def fresh(self, organization_id: UUID) -> Snapshot | None:
        """Return everything that was committed before the call; None where no model serves yet."""
        held = await self.brought_up(organization_id)
        return held.snapshot if held else None

    async def brought_up(self, organization_id: UUID) -> Held | None:
        """As `fresh`, with how far it was read."""
        place = self._places.setdefault(organization_id, _Place())
        self._places.move_to_end(organization_id)
        if place.next is None:
            place.next = asyncio.create_task(self._bring_up_to_date(organization_id, place))
            self._running.add(place.next)
            place.next.add_done_callback(self._done)
        return await asyncio.shield(place.next)

    def held(self, organization_id: UUID) -> Held | None:
        """Return what was known at the last call; None where that was nothing, or is just being read."""
        place = self._places.get(organization_id)
        if place is None or place.known is None:
            return None
        self._places.move_to_end(organization_id)
        return Held.of(place.known)

    def evict(self, organization_id: UUID) -> None:
        """Forget an organization's matrix."""
        self._places.pop(organization_id, None)

    async def close(self) -> None:
        """Let go of everything, and of reads that are under way."""
        self._places.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _bring_up_to_date(self, organization_id: UUID, place: _Place) -> Held | None:
        async with place.turn:
            # Who calls from here on may have written what this read does not see, so the next is theirs.
            place.next = None
            known, place.known = place.known, None
            place.known = await self._storage.read(
                organization_id, read_on, self._collection, known
            )
            held = Held.of(place.known) if place.known else None
        self._make_room(organization_id)
        return held

    def _make_room(self, organization_id: UUID) -> None:
        room = self._max_bytes - self.nbytes
        for other, place in list(self._places.items()):
            if room >= 0:
                return
            room += _size(place)
            self.evict(other)
            if other == organization_id and other not in self._too_large:
                self._too_large.add(other)
                logger.warning(
                    "The vectors of organization %s do not fit into vector_cache_mb, "
                    "so that each search reads them again.",
                    other,
                )

    def _done(self, task: asyncio.Task[Held | None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, also where every caller has gone away


def read_on(tx: Transaction, collection: str, known: Known | None) -> Known | None:
    """Bring what is known up to date, or read it anew; None where no model serves."""
    now = serving(tx, collection)
    if now is None:
        return None
    if (
        known is None
        or (known.matrix.model, known.since) != (now.model, now.since)
        or tx.now - known.seen_at > OLDEST
    ):
        known = Known(now.model, now.since)
        known.matrix.expect(rows_of(tx, collection, now.model))
    # In one view of the rows each item comes once, so those that are read anew replace none.
    take_in = known.matrix.apply if known.stamp else known.matrix.add
    while known.stamp < now.stamp:
        found = changes(tx, collection, now.model, known.stamp, PAGE)
        take_in(found)
        known.stamp = found.last if len(found.vectors) == PAGE else now.stamp
    known.seen_at = tx.now
    return known


def _size(place: _Place) -> int:
    return place.known.matrix.nbytes if place.known else 0
