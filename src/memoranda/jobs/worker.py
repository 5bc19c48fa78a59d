"""Does the work that waits, kind by kind and organization by organization, until it is stopped."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Protocol, TypeVar
from uuid import UUID

import anyio

from memoranda.jobs.bell import Bell
from memoranda.jobs.chores import Chore
from memoranda.jobs.nightly import Nightly
from memoranda.storage import PLATFORM, Scope, Storage
from memoranda.storage.signals import Signal, settle, signals_of
from memoranda.words.ids import new_id

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Round(Protocol):
    """What a worker does again and again by the clock, whether or not work waits."""

    @property
    def look(self) -> timedelta:
        """How long not to look again where a round broke."""

    async def serve(self, worker_id: UUID, /) -> timedelta:
        """Go round once; how long not to do it again."""


class Worker:
    """One worker: of each kind of work it does one piece at a time, held by a lease.

    Any number of workers, in any number of processes, share the work: a piece is with one
    of them at a time, and what a killed one held is another's once its lease is over. No
    kind waits for another, and no organization for all of another's. `poll` is how long an
    idle worker waits before it looks again. `rounds` are what it does besides, by the clock.
    """

    def __init__(
        self,
        storage: Storage,
        chores: Sequence[Chore],
        nightly: Nightly | None = None,
        *,
        poll: timedelta = timedelta(seconds=1),
        bell: Bell | None = None,
        rounds: Sequence[Round] = (),
    ) -> None:
        self.id = new_id()
        self._storage = storage
        self._chores = chores
        self._nightly = nightly
        self._rounds = rounds if nightly is None else (nightly, *rounds)
        self._poll = poll.total_seconds()
        self._begun = False
        self._bell = bell or Bell()

    def wake(self) -> None:
        """Look for work now. For callers on the worker's own event loop."""
        self._bell.ring()

    async def run(self) -> None:
        """Work until cancelled. A fault is logged and tried again; it never ends the worker."""
        async with anyio.create_task_group() as tasks:
            for chore in self._chores:
                tasks.start_soon(self._keep_serving, chore)
            if self._nightly is not None:
                tasks.start_soon(self._keep_beginning, self._nightly)
            for each in self._rounds:
                tasks.start_soon(self._keep_going, each)
            await asyncio.Event().wait()

    async def drain(
        self,
        scope: Scope | None = None,
        *,
        kind: str | None = None,
        idle: timedelta | None = None,
    ) -> bool:
        """Work until nothing waits in `scope`, or anywhere, for another try and with another worker included.

        With `kind`, only work of that kind counts and is done. With `idle`, this ends, and answers
        False, once there was nothing to do for so long: what is left is with another worker, or
        waits for another try. A fault is raised.
        """
        if self._nightly is not None and scope is None and kind is None:
            await self._begin(self._nightly)
        clock = asyncio.get_running_loop().time
        worked_at = clock()
        chores = [chore for chore in self._chores if kind in {None, chore.kind}]
        while True:
            woken = self._bell.next
            found = await self._raised(*chores)
            raised = [
                (chore, signal)
                for chore in chores
                for signal in found[chore.kind]
                if scope is None or signal.scope == scope
            ]
            if not raised:
                return True
            if any([await self._serve(chore, signal) for chore, signal in raised]):
                worked_at = clock()
            elif idle is not None and clock() - worked_at >= idle.total_seconds():
                return False
            else:
                await self._idle(woken)

    async def _keep_beginning(self, nightly: Nightly) -> None:
        while not self._begun:
            await self._attempt(self._begin(nightly))
            if not self._begun:
                await asyncio.sleep(nightly.look.total_seconds())

    async def _begin(self, nightly: Nightly) -> None:
        """Once for each worker, see to what only a start can bring, as an upgrade does."""
        if not self._begun:
            await nightly.begin()
            self._begun = True
            self.wake()

    async def _keep_serving(self, chore: Chore) -> None:
        while True:
            woken = self._bell.next
            if not await self._attempt(self._pass(chore)):
                await self._idle(woken)

    async def _pass(self, chore: Chore) -> bool:
        """Do one piece in each scope that has some; whether anything came of it.

        What breaks in one scope is logged, and keeps no other one waiting.
        """
        worked = False
        for signal in (await self._raised(chore))[chore.kind]:
            worked |= bool(await self._attempt(self._serve(chore, signal)))
        return worked

    async def _raised(self, *chores: Chore) -> dict[str, list[Signal]]:
        kinds = [chore.kind for chore in chores]
        return await self._storage.read(PLATFORM, signals_of, kinds)

    async def _serve(self, chore: Chore, signal: Signal) -> bool:
        """Whether a piece was done, or the signal seen through."""
        if await chore.serve(signal.scope, self.id):
            return True
        if await chore.waiting(signal.scope):
            return False
        await self._storage.write(PLATFORM, settle, chore.kind, signal)
        return True

    async def _keep_going(self, each: Round) -> None:
        while True:
            pause = await self._attempt(each.serve(self.id))
            seconds = (each.look if pause is None else pause).total_seconds()
            await asyncio.sleep(max(seconds, self._poll))

    async def _attempt(self, piece: Awaitable[T]) -> T | None:
        """What a piece of work came to; None where it broke, which is logged and tried again later."""
        try:
            return await piece
        except Exception as error:  # noqa: BLE001 - of all kinds: no fault may end the worker, or keep other work waiting
            self._interrupted(error)
            return None

    def _interrupted(self, error: Exception) -> None:
        # The type alone: an error's message may quote what somebody wrote.
        logger.error("Worker %s was interrupted: %s.", self.id, type(error).__name__)

    async def _idle(self, woken: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._poll):
                await woken.wait()
        except TimeoutError:
            pass


@asynccontextmanager
async def at_work(worker: Worker | None) -> AsyncIterator[None]:
    """Let the worker run beside whoever is within, if there is to be one."""
    if worker is None:
        yield
        return
    # No task group: it would wrap what is raised within.
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
