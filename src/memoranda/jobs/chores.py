"""What a worker does, kind by kind: each chore knows the rows that wait for it, and no other."""

import time
from datetime import timedelta
from typing import Final, Protocol
from uuid import UUID

from memoranda.knowledge.ingest import LEASE
from memoranda.knowledge.service import Knowledge
from memoranda.storage import Scope, Storage
from memoranda.storage.signals import KNOWLEDGE, SCRUB


class Chore(Protocol):
    """One kind of work that waits in an organization's rows.

    Whoever leaves work raises the signal of its `kind`; the worker then asks the chore to
    serve that scope, again and again, until nothing is waiting there.
    """

    @property
    def kind(self) -> str:
        """The signal that says where it waits."""

    async def serve(self, scope: Scope, worker_id: UUID, /) -> bool:
        """Take one piece of work of the scope and see it through; whether there was one to take."""

    async def waiting(self, scope: Scope, /) -> bool:
        """Whether any waits in the scope, for another try and with another worker included."""


class TakingIn:
    """Brings one waiting document at a time to its end, under a lease that is renewed."""

    kind: Final = KNOWLEDGE

    def __init__(self, knowledge: Knowledge, *, lease: timedelta = LEASE) -> None:
        self._knowledge = knowledge
        self._lease = lease

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        """Claim the document that has waited longest and take it in."""
        source_id = await self._knowledge.claim(scope, worker_id, self._lease)
        if source_id is None:
            return False
        await self._knowledge.ingest(scope, source_id, worker_id)
        return True

    async def waiting(self, scope: Scope) -> bool:
        """Whether a document waits, or is with a worker."""
        return await self._knowledge.waiting(scope)


class Sweeping:
    """Ends documents that waited for over an hour, so that none waits for ever without a word.

    It looks once a minute at the most, and first a minute after its worker began: what a
    worker that comes late can still take in is not given up.
    """

    kind: Final = KNOWLEDGE
    RESTS: Final = timedelta(minutes=1)

    def __init__(self, knowledge: Knowledge, *, rests: timedelta = RESTS) -> None:
        self._knowledge = knowledge
        self._rests = rests.total_seconds()
        self._began = time.monotonic()
        self._looked: dict[Scope, float] = {}

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        """End one that is overdue, unless it was looked for a moment ago; whether there was one."""
        now = time.monotonic()
        if now < self._looked.get(scope, self._began) + self._rests:
            return False
        if await self._knowledge.give_up_overdue(scope, worker_id):
            return True
        self._looked[scope] = now
        return False

    async def waiting(self, scope: Scope) -> bool:
        """Whether a document waits, or is with a worker."""
        return await self._knowledge.waiting(scope)


class Scrubbing:
    """Takes the last traces of rows that were deleted for good out of the database's files.

    One scrub is for all organizations. It holds up writers, so that after each there is a rest
    of many times as long; who erases something by hand does not wait for that.
    """

    kind: Final = SCRUB
    RESTS: Final = 20

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._rested_at = time.monotonic()

    async def serve(self, _scope: Scope, _worker_id: UUID) -> bool:
        """Scrub, unless it rests or has to wait for a reader."""
        began = time.monotonic()
        if began < self._rested_at:
            return False
        done = await self._storage.scrub()
        ended = time.monotonic()
        self._rested_at = ended + (ended - began) * self.RESTS
        return done

    async def waiting(self, _scope: Scope) -> bool:
        """Whether it has to be tried again: asked only where it could not be done."""
        return True
