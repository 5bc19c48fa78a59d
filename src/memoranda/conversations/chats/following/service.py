"""The verbs of a run that goes on: tell of it, look at it, follow it, stop it, and end what nobody finishes."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.conversations.chats.following import changing, reading
from memoranda.conversations.chats.following import store as listing
from memoranda.conversations.chats.following.ears import Ears
from memoranda.conversations.chats.live import store
from memoranda.conversations.chats.live.models import (
    Heard,
    NewEvent,
    RunEnd,
    RunEvent,
    RunEvents,
    RunSnapshot,
)
from memoranda.conversations.chats.live.patience import PATIENCE, Patience
from memoranda.conversations.chats.live.telling import told
from memoranda.conversations.chats.models import ChatRun, ChatRunStatus
from memoranda.conversations.listeners import Woken, nobody
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 1_000
AT_ONCE: Final = 200
"""Events that are read at once for somebody who follows."""
KEPT_FOR: Final = timedelta(days=1)
"""How long the events of a run that ended can be asked for one by one; its state stays."""
PRUNED_AT_ONCE: Final = 1_000
_LISTING: Final = "chat runs"

Told: TypeAlias = RunSnapshot | RunEvent | RunEnd | None
"""What somebody who follows a run is told; None is that nothing happened for a while."""


@checks_shapes
class LiveRuns:
    """The runs of chats while they go on.

    A host tells of its run in events; whoever may read the chat looks at what they came to, or follows them
    one by one. `changed` is called with the organization after each commit that ends or stops a run.
    `pause` is how often somebody who follows is told that nothing happened.
    """

    def __init__(
        self,
        storage: Storage,
        changed: Woken = nobody,
        *,
        patience: Patience = PATIENCE,
        ears: Ears | None = None,
        pause: timedelta = timedelta(seconds=15),
    ) -> None:
        self._storage = storage
        self._changed = changed
        self._patience = patience
        self._ears = ears or Ears()
        self._pause = pause.total_seconds()

    def wake(self, run_id: UUID) -> None:
        """Say that something was committed that is told of the run; costs next to nothing and never fails."""
        self._ears.wake(run_id)

    async def emit(
        self,
        who: Principal,
        run_id: UUID,
        events: Sequence[NewEvent | Mapping[str, Any]] = (),
        *,
        after: int | None = None,
    ) -> Heard:
        """Tell what happened in a run that was picked up, at most 500 events; all of them or none.

        Told without events, it says that the run lives. The answer says whether it is to stop. With `after`, they are
        told only where that is the newest event: what was told already, and whose answer was lost, is not told again,
        and another raises `Conflict` with the `sequence` that the run has. Raises `NotFound`, `Conflict` for events of a run
        that waits to be picked up or has ended, and `OverLimit`.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        if after is not None and after < 0:
            raise Invalid("after counts events: it is 0 or more.", field="after")
        heard = await self._storage.write(
            organization, changing.emit, who, run_id, told(events), after
        )
        self._ears.wake(run_id)
        return heard

    async def page(
        self,
        who: Principal,
        *,
        status: ChatRunStatus = ChatRunStatus.QUEUED,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ChatRun]:
        """The runs that stand so, of the chats of the user and agent named (all that the caller sees, without), the oldest first.

        Those that wait to be picked up, where no `status` is named. `limit` is 1 to 1,000. Raises `Invalid` for a
        cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        after = read_cursor(_LISTING, cursor)
        subject = subject_of(who, agent_id, user_id)
        if who.role is Role.AGENT and subject.user_id is None:
            return Page(items=[], next_cursor=None)  # every chat is a user's, and it acts for none
        found = await self._storage.read(
            organization,
            listing.page,
            status,
            user_id=subject.user_id,
            agent_id=subject.agent_id,
            after=after,
            most=limit + 1,
        )
        return cut_page(_LISTING, found, limit)

    async def snapshot(self, who: Principal, run_id: UUID) -> RunSnapshot:
        """What the run came to by now, to go on from with the events after its `sequence`. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, reading.snapshot, who, run_id)

    async def events(
        self, who: Principal, run_id: UUID, *, after: int = 0, limit: int = 100
    ) -> RunEvents:
        """The run's events after that number, at most `limit` (1 to 1,000).

        Where those are gone, or the number is none that the run has given out, the answer begins with a snapshot.
        Raises `NotFound`.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        return await self._storage.read(organization, reading.events, who, run_id, after, limit)

    def follow(
        self, who: Principal, run_id: UUID, after: int | None = None
    ) -> AsyncGenerator[Told, None]:
        """What the run tells after that number, as it comes; once it has ended and all is told, a `RunEnd`.

        Without a number, and where what comes after it is gone, the first is a snapshot to go on from.
        None is that nothing happened for a while. Close the generator to stop. Raises `NotFound`.
        """
        return self._follow(
            who, organization_for(who, Permission.READ_CONVERSATIONS), run_id, after
        )

    async def _follow(
        self, who: Principal, organization: UUID, run_id: UUID, after: int | None
    ) -> AsyncGenerator[Told, None]:
        place = -1 if after is None else after
        clock = asyncio.get_running_loop().time
        told_at = clock()
        with self._ears.open(run_id) as ear:
            while not self._ears.closed.is_set():
                ear.clear()
                found = await self._storage.read(
                    organization, reading.events, who, run_id, place, AT_ONCE
                )
                if found.snapshot is not None:
                    yield found.snapshot
                    place = found.snapshot.sequence
                for event in found.items:
                    yield event
                    place = event.sequence
                if found.items or found.snapshot:
                    told_at = clock()
                if place < found.last:
                    continue
                if not found.status.live:
                    yield RunEnd(sequence=place, status=found.status)
                    return
                if clock() - told_at >= self._pause:
                    yield None
                    told_at = clock()
                await self._ears.beyond(ear)

    async def stop(self, who: Principal, run_id: UUID) -> ChatRun:
        """Let the run end. One that nobody picked up has ended; another stops, which its host sees in what it is answered.

        One that stops or has ended is answered as it is. Raises `NotFound`.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        run = await self._storage.write(organization, changing.stop, who, run_id)
        self._told(organization, run_id)
        return run

    async def end_overdue(self, organization_id: UUID) -> bool:
        """End the runs that nobody will finish, and keep how far each had come; whether any run was live."""
        standing = await self._storage.read(organization_id, store.live)
        for run in standing:
            if await self._storage.write(
                organization_id, changing.end_overdue, run.run_id, self._patience
            ):
                self._told(organization_id, run.run_id)
        return bool(standing)

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of the events of runs that ended more than a day ago; 0 when none is left."""
        return await self._storage.write(organization_id, self._prune)

    def _told(self, organization_id: UUID, run_id: UUID) -> None:
        self._ears.wake(run_id)
        self._changed(organization_id)

    @staticmethod
    def _prune(tx: Transaction) -> int:
        return store.prune(tx, tx.now - KEPT_FOR, PRUNED_AT_ONCE)
