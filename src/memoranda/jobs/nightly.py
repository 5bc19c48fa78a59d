"""What is done once a night for every organization: one of all workers does it, at a set time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import anyio

from memoranda.access.store import organizations_after
from memoranda.jobs.schedule import store
from memoranda.storage import PLATFORM, Scope, Storage, Transaction
from memoranda.words.errors import Unavailable

logger = logging.getLogger(__name__)

NAME: Final = "nightly"
LEASE: Final = timedelta(minutes=5)
"""How long the turn of a worker that died waits before another takes it over."""
LOOK: Final = timedelta(minutes=1)
"""How often a worker looks at the schedule, at the least."""
LISTED: Final = 100
MOST_ROUNDS: Final = 10_000


class Step(NamedTuple):
    """One thing to do for an organization: `run` does some of it and answers how much.

    With `again`, it is run until there was nothing left, and with `platform` for the platform's own
    rows too. What it does has to be such that two workers may do it at once, and one that was killed
    may be followed by another.
    """

    name: str
    run: Callable[[Any], Awaitable[int]]
    again: bool = False
    platform: bool = False


class Nightly:
    """Runs each step for each organization once a night, at `at` in UTC.

    Any number of workers share one schedule: the turn is one worker's, held by a lease that
    it renews, and another's once the lease of a killed one is over. A night that nobody was
    there for is made up for by the first who is. A step that breaks is logged, and the
    others are run all the same. Steps of `first` are run by every worker, once, when it begins.
    """

    def __init__(
        self,
        storage: Storage,
        steps: Sequence[Step],
        *,
        at: time,
        first: Sequence[Step] = (),
        lease: timedelta = LEASE,
        look: timedelta = LOOK,
    ) -> None:
        self._storage = storage
        self._steps = steps
        self._first = first
        self._at = at
        self._lease = lease
        self.look = look
        self._scheduled = False

    async def serve(self, worker_id: UUID) -> timedelta:
        """Take the turn if it is due, and see it through; how long not to look again."""
        due = await self._due()
        if due.at <= due.now:
            if await self._storage.take(
                PLATFORM,
                partial(store.take, name=NAME, worker_id=worker_id, lease=self._lease),
                give_back=lambda tx, _: store.hand_back(tx, NAME, worker_id),
            ):
                await self._see_through(worker_id)
            due = await self._due()
        waits_for = max(due.at, due.held_until or due.at)
        return max(timedelta(0), min(self.look, waits_for - due.now))

    async def begin(self) -> None:
        """Run each first step for each organization: for what can't wait until the night."""
        if self._first:
            for step in self._first:
                if step.platform:
                    await self._run_step(step, PLATFORM)
            async for organization_id in self._organizations():
                for step in self._first:
                    await self._run_step(step, organization_id)

    async def _due(self) -> store.Due:
        if not self._scheduled:
            await self._storage.write(PLATFORM, self._schedule)
            self._scheduled = True
        return await self._storage.read(PLATFORM, store.due, NAME)

    def _schedule(self, tx: Transaction) -> None:
        store.add(tx, NAME, next_time(self._at, tx.now))

    async def _see_through(self, worker_id: UUID) -> None:
        beat = asyncio.create_task(self._hold(worker_id))
        try:
            async for organization_id in self._organizations():
                for step in self._steps:
                    if beat.done():  # the turn is another's, who begins from the beginning
                        return
                    await self._run_step(step, organization_id)
            await self._storage.write(PLATFORM, self._finish, worker_id)
        except BaseException:
            # A worker that is stopped in order keeps nobody waiting for the end of its lease.
            with anyio.CancelScope(shield=True), suppress(Unavailable):
                await self._storage.write(PLATFORM, store.hand_back, NAME, worker_id)
            raise
        finally:
            beat.cancel()

    async def _run_step(self, step: Step, scope: Scope) -> None:
        try:
            for _ in range(MOST_ROUNDS):
                if not (await step.run(scope) and step.again):
                    break
        except Exception as error:  # noqa: BLE001 - of all kinds: one organization's fault must not take the night from the others
            # The type alone: an error's message may quote what somebody wrote.
            kind = type(error).__name__
            logger.warning("Nightly %s of %s broke: %s.", step.name, scope, kind)

    async def _organizations(self) -> AsyncIterator[UUID]:
        """Every organization there is, page by page, those that are made meanwhile too."""
        last: UUID | None = None
        while page := await self._storage.read(PLATFORM, organizations_after, last, LISTED):
            for organization in page:
                yield organization.id
            last = page[-1].id

    async def _hold(self, worker_id: UUID) -> None:
        """Renew the lease until another has the turn."""
        held = True
        while held:
            await asyncio.sleep(self._lease.total_seconds() / 6)
            # One lost heartbeat is no lost turn: the next comes long before the lease ends.
            with suppress(Exception):
                held = await self._storage.write(PLATFORM, store.hold, NAME, worker_id, self._lease)

    def _finish(self, tx: Transaction, worker_id: UUID) -> None:
        store.finish(tx, NAME, worker_id, next_time(self._at, tx.now))


def next_time(at: time, now: datetime) -> datetime:
    """The first moment after `now` at which it is `at` o'clock in UTC."""
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today > now else today + timedelta(days=1)
