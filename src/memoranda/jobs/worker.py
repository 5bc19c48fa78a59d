"""Takes in waiting documents, organization after organization, until it is stopped."""

import asyncio
import logging
from datetime import timedelta
from typing import Final

from memoranda.knowledge.service import Knowledge
from memoranda.storage import PLATFORM, Scope, Storage
from memoranda.storage.signals import KNOWLEDGE, Signal, settle, signals
from memoranda.words.ids import new_id

logger = logging.getLogger(__name__)

LEASE: Final = timedelta(seconds=60)
"""How long the work of a worker that died waits before another takes it over."""


class Worker:
    """One worker: it takes one document at a time, and holds it by a lease that it renews.

    Any number of workers, in any number of processes, share the work: a document
    is with one of them at a time, and what a killed one held is another's once its
    lease is over. `poll` is how long an idle worker waits before it looks again.
    """

    def __init__(
        self,
        storage: Storage,
        knowledge: Knowledge,
        *,
        poll: timedelta = timedelta(seconds=1),
        lease: timedelta = LEASE,
    ) -> None:
        self.id = new_id()
        self._storage = storage
        self._knowledge = knowledge
        self._poll = poll
        self._lease = lease
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Look for work now. For callers on the worker's own event loop."""
        self._woken.set()

    async def run(self) -> None:
        """Work until cancelled. A fault is logged and tried again; it never ends the worker."""
        while True:
            try:
                worked = await self._pass()
            except Exception as error:  # noqa: BLE001 - whatever broke, the next document must not wait for ever
                # The type alone: an error's message may quote what somebody wrote.
                logger.error("Worker %s was interrupted: %s.", self.id, type(error).__name__)  # noqa: TRY400 - a traceback would quote
                worked = False
            if not worked:
                await self._idle()

    async def drain(self, scope: Scope | None = None) -> None:
        """Work until nothing waits in `scope`, or anywhere, for another try and with another worker included."""
        while raised := await self._raised(scope):
            if not await self._serve(raised):
                await self._idle()

    async def _pass(self) -> bool:
        self._woken.clear()
        return await self._serve(await self._raised())

    async def _raised(self, scope: Scope | None = None) -> list[Signal]:
        raised = await self._storage.read(PLATFORM, signals, KNOWLEDGE)
        return [signal for signal in raised if scope is None or signal.scope == scope]

    async def _serve(self, raised: list[Signal]) -> bool:
        """Take one document of each scope that has some, so that nobody waits for all of another's.

        Whether anything came of it: a document was taken, or a signal seen through.
        """
        worked = False
        for signal in raised:
            if await self._take_one(signal.scope):
                worked = True
            elif not await self._knowledge.waiting(signal.scope):
                await self._storage.write(PLATFORM, settle, KNOWLEDGE, signal)
                worked = True
        return worked

    async def _take_one(self, scope: Scope) -> bool:
        source_id = await self._knowledge.claim(scope, self.id, self._lease)
        if source_id is None:
            return False
        await self._knowledge.ingest(scope, source_id, self.id)
        return True

    async def _idle(self) -> None:
        try:
            async with asyncio.timeout(self._poll.total_seconds()):
                await self._woken.wait()
        except TimeoutError:
            pass
