"""The chore of reading what was said into the index of words, segment by segment."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import anyio

from memoranda.conversations.finding import store
from memoranda.conversations.finding.store import Work
from memoranda.search.document import index_document
from memoranda.storage import Scope, Storage
from memoranda.storage.signals import CONVERSATIONS, signal

LEASE: Final = timedelta(minutes=2)
"""How long a conversation is held; each segment renews it."""
WORTH_S: Final = 1.0
"""How long one conversation is read before others have their turn."""


class ConversationIndexing:
    """Lets searches find what was said, and clears what was taken out. Marks are the work; any number share it.

    A segment is read outside of any transaction, and written whole in one.
    """

    kind: Final = CONVERSATIONS

    def __init__(self, storage: Storage, *, lease: timedelta = LEASE) -> None:
        self._storage = storage
        self._lease = lease

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        """Read some of the conversation that has waited longest, or clear some rows; whether there was any."""
        if not isinstance(scope, UUID):
            return False
        work = await self._storage.take(
            scope,
            partial(store.claim, worker_id=worker_id, lease=self._lease),
            give_back=store.hand_back,
        )
        if work is None:
            return await self._storage.write(scope, store.clear_some)
        try:
            await self._read(scope, work)
        except asyncio.CancelledError:
            # A worker that is stopped in order keeps nobody waiting for the end of its lease.
            with anyio.CancelScope(shield=True):
                await self._storage.write(scope, store.hand_back, work)
            raise
        return True

    async def waiting(self, scope: Scope) -> bool:
        """Whether a conversation waits to be read, with another worker included, or rows wait to be cleared."""
        return isinstance(scope, UUID) and await self._storage.read(scope, store.waiting)

    async def take_up(self, organization_id: UUID) -> int:
        """Raise the signal where something waits that nobody raised it for, as after an upgrade; how often."""
        if not await self.waiting(organization_id):
            return 0
        await self._storage.write(organization_id, signal, CONVERSATIONS)
        return 1

    async def _read(self, scope: UUID, work: Work) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        while clock() < began + WORTH_S:
            piece = await self._storage.read(scope, store.next_piece, work.conversation_id)
            if piece is None:
                break
            indexed = await asyncio.to_thread(index_document, piece.segment.passages)
            if not await self._storage.write(scope, store.put, work, piece, indexed, self._lease):
                return
            if not piece.segment.full:
                break
        else:
            await self._storage.write(scope, store.hand_back, work)
            return
        await self._storage.write(scope, store.finish, work)
