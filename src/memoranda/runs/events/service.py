"""The verbs of events: read them, follow them, and wake whoever follows."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.runs.events import store
from memoranda.runs.events.feed import Feed
from memoranda.runs.events.models import Event, EventPage, Mark, Reset, Stretch
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count

MOST_LISTED: Final = 500
AT_ONCE: Final = 100
"""Events that are read at once for somebody who follows."""
KEPT_FOR: Final = timedelta(days=30)
PRUNED_AT_ONCE: Final = 1_000
_OWN_ALONE: Final = {"conversation.updated", "chat.updated"}
"""Of what is of no user, no member may know: it is not everybody's."""
_ALL_OF_IT: Final = {Role.OWNER, Role.READ_ONLY}


@checks_shapes
class Events:
    """What changed in an organization, for whoever wants to be told.

    Events are numbered in the order of their commits, and told in it, each once, to whom
    its audience covers. `poll` is how long a change of another process may go unnoticed,
    and `pause` how often somebody who follows is told a `Mark`.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        poll: timedelta = timedelta(seconds=1),
        pause: timedelta = timedelta(seconds=15),
    ) -> None:
        self._storage = storage
        self._poll = poll.total_seconds()
        self._pause = pause.total_seconds()
        self._feeds: dict[UUID, Feed] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.closed = asyncio.Event()

    def wake(self, organization_id: UUID) -> None:
        """Say that something may have been committed there; costs next to nothing and never fails."""
        feed = self._feeds.get(organization_id)
        if feed is not None:
            feed.wake()

    async def close(self) -> None:
        """End whatever is followed, at once."""
        self.closed.set()
        for organization_id in list(self._feeds):
            self._end(organization_id)
        while self._ending:
            await asyncio.wait(self._ending)

    async def page(self, who: Principal, after: int | None, *, limit: int = 100) -> EventPage:
        """What came after that number and `who` may know of, out of the next `limit` events (1 to 500).

        None is the present: nothing came after it, and the page says its number.
        """
        organization = organization_for(who, Permission.READ_MEMORIES)
        check_count("limit", limit, most=MOST_LISTED)
        found = await self._storage.read(organization, _page, after, limit)
        return EventPage(
            items=[event for event in found.events if hears(who, event)],
            number=found.end,
            more=found.end < found.last,
            reset=not found.whole,
        )

    def follow(
        self, who: Principal, after: int | None = None
    ) -> AsyncGenerator[Event | Mark | Reset, None]:
        """All that comes after that number, or from now on, as it comes, until `close`.

        The first thing told says that it has begun: a `Mark`, or a `Reset`. Each event of
        which `who` may know is told once, in order, and only once it is committed. Close the
        generator to stop. Raises `Refused`.
        """
        return self._follow(who, organization_for(who, Permission.READ_MEMORIES), after)

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of the events of more than 30 days ago; how many, and 0 when none is left."""
        return await self._storage.write(organization_id, _prune)

    async def _follow(
        self, who: Principal, organization: UUID, after: int | None
    ) -> AsyncGenerator[Event | Mark | Reset, None]:
        place, whole = await self._storage.read(organization, _begin, after)
        yield Mark(place) if whole else Reset(place)
        if self.closed.is_set():
            return
        with self._feed(organization) as feed:
            marked = _now()
            while not feed.closed:
                found = feed.after(place) or await self._read(organization, feed, place)
                for event in found.events:
                    if hears(who, event):
                        yield event
                place = found.end
                if not found.whole:
                    yield Reset(place)
                if found.end == found.last:
                    await feed.beyond(place, marked + self._pause - _now())
                if _now() - marked >= self._pause:
                    yield Mark(place)
                    marked = _now()

    async def _read(self, organization: UUID, feed: Feed, place: int) -> Stretch:
        """What came after `place`, for somebody who is far behind."""
        try:
            return await self._storage.read(organization, store.after, place, AT_ONCE)
        except Exception as error:  # noqa: BLE001 - whatever broke, whoever follows only hears later
            feed.failed(error)
            await asyncio.sleep(self._poll)
            return Stretch((), place, place)

    @contextmanager
    def _feed(self, organization: UUID) -> Iterator[Feed]:
        """The organization's feed, which lives as long as somebody follows."""
        feed = self._feeds.get(organization)
        if feed is None:
            feed = self._feeds[organization] = Feed(
                partial(self._storage.read, organization, store.last),
                lambda number: self._storage.read(organization, store.after, number, AT_ONCE),
                self._poll,
            )
        feed.followers += 1
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers and self._feeds.get(organization) is feed:
                self._end(organization)

    def _end(self, organization: UUID) -> None:
        """Close a feed without waiting for it: whoever leaves may be on its way out of a cancelled task."""
        ending = asyncio.create_task(self._feeds.pop(organization).close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def hears(who: Principal, event: Event) -> bool:
    """Whether `who` may know of a change of what is for that user and agent: as for memories, and of
    conversations its own alone.
    """
    if who.role in _ALL_OF_IT:
        return True
    if event.type in _OWN_ALONE:
        return sees(who, user_id=event.user_id, agent_id=event.agent_id)
    subject = subject_of(who)
    return event.user_id in {None, subject.user_id} and (
        subject.agent_id is None or event.agent_id in {None, subject.agent_id}
    )


def _page(tx: Transaction, after: int | None, most: int) -> Stretch:
    return store.after(tx, store.last(tx) if after is None else after, most)


def _begin(tx: Transaction, after: int | None) -> tuple[int, bool]:
    """Where somebody begins who has seen everything up to `after`, and whether nothing since is gone."""
    if after is None:
        return store.last(tx), True
    found = store.after(tx, after, 1)
    return (after, True) if found.whole else (found.end, False)


def _prune(tx: Transaction) -> int:
    return store.prune(tx, tx.now - KEPT_FOR, PRUNED_AT_ONCE)


def _now() -> float:
    return asyncio.get_running_loop().time()
