"""The chore of making vectors of what was said, a segment at a time."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import anyio
import numpy as np
from numpy.typing import NDArray

from memoranda.conversations.finding.vectors import store
from memoranda.conversations.finding.vectors.store import Making
from memoranda.search.embedders.asking import is_away
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.parts import Parts, embed_in_parts
from memoranda.search.embedders.port import Embedder
from memoranda.storage import Scope, Storage, Transaction
from memoranda.storage.signals import CONVERSATION_VECTORS, signal

LEASE: Final = timedelta(minutes=3)
PATIENCE_S: Final = 60.0
"""How long a segment may take: it ends long before its lease."""
REST_S: Final = 30.0
"""How long an embedder that is away is left alone."""


class ConversationEmbedding:
    """Has what was said embedded under the model that is set. Segments that lack vectors are the work.

    Where another model is set, it serves at once: what has no vector of it yet is found by its words
    until this has made one. Without an embedder there is nothing to do.
    """

    kind: Final = CONVERSATION_VECTORS

    def __init__(
        self,
        storage: Storage,
        embedders: Embedders | None,
        *,
        lease: timedelta = LEASE,
        rest_s: float = REST_S,
    ) -> None:
        self._storage = storage
        self._embedders = embedders
        self._lease = lease
        self._rest_s = rest_s
        self._rests_until = 0.0

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        """Embed one segment, or let the model that is set serve; whether there was anything to do."""
        if self._embedders is None or not isinstance(scope, UUID):
            return False
        live = self._embedders.live
        if not await self.waiting(scope):
            return False
        if await self._storage.read(scope, store.serving) != live.model:
            await self._storage.write(scope, store.serve, live.model)
            return True
        if self._rests_until > asyncio.get_running_loop().time():
            return False
        made = await self._storage.take(
            scope,
            partial(store.claim, model=live.model, worker_id=worker_id, lease=self._lease),
            give_back=partial(store.give_back, failed=False),
        )
        if made is None:
            return False
        await self._make(scope, live, made)
        return True

    async def waiting(self, scope: Scope) -> bool:
        """Whether a segment lacks vectors that can be made, or another model is to serve."""
        if self._embedders is None or not isinstance(scope, UUID):
            return False
        return await self._storage.read(scope, _waits, self._embedders.live.model)

    async def take_up(self, organization_id: UUID) -> int:
        """Raise the signal where there is work that nobody raised it for, as with another embedder; how often."""
        if not await self.waiting(organization_id):
            return 0
        await self._storage.write(organization_id, signal, CONVERSATION_VECTORS)
        return 1

    async def _make(self, scope: UUID, embedder: Embedder, made: Making) -> None:
        try:
            parts = await embed_in_parts(embedder, made.texts, within_s=PATIENCE_S)
            rows = _rows(embedder, parts, last=made.failures + 1 >= store.TRIES)
            if rows is not None:
                await self._storage.write(scope, store.keep, made, rows)
                return
            away = parts.failure is not None and is_away(parts.failure)
            if away:
                self._rests_until = asyncio.get_running_loop().time() + self._rest_s
            await self._storage.write(scope, store.give_back, made, failed=not away)
        except asyncio.CancelledError:
            # A worker that is stopped in order keeps nobody waiting for the end of its lease.
            with anyio.CancelScope(shield=True):
                await self._storage.write(scope, store.give_back, made, failed=False)
            raise


def _waits(tx: Transaction, live: str) -> bool:
    return store.lacking(tx) or store.serving(tx) not in {None, live}


def _rows(embedder: Embedder, parts: Parts, *, last: bool) -> NDArray[np.float32] | None:
    """A row for each text; None where one failed, unless this was the last try: then it is near nothing."""
    made = [row for row in parts.rows if row is not None]
    if len(made) == len(parts.rows):
        return np.stack(made)
    if not last or (parts.failure is not None and is_away(parts.failure)):
        return None
    nothing = np.zeros(len(made[0]) if made else embedder.dimensions, np.float32)
    return np.stack([nothing if row is None else row for row in parts.rows])
