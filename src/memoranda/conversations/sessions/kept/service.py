"""The verbs of sessions as people see them: list, show, read events, and delete for good."""

from collections.abc import AsyncIterator, Collection
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, sees_user
from memoranda.conversations.histories.kept.service import read_json
from memoranda.conversations.owned import organization_of_host, user_of_host
from memoranda.conversations.sessions import store as sessions
from memoranda.conversations.sessions.kept import store
from memoranda.conversations.sessions.kept.models import (
    EventPage,
    KeptEvent,
    KeptSession,
    KeptState,
    ShownSession,
)
from memoranda.runs.store import record_activity
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor, read_named_cursor
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, check_storable
from memoranda.words.page import Page, cut_page, next_named
from memoranda.words.purged import RowsPurged
from memoranda.words.quotes import Quotes

MOST_LISTED: Final = 200
MOST_STATES: Final = 10
"""States that one page lists, since each may be as large as a conversation."""
PAGE_BYTES: Final = 1024 * 1024
"""Bytes after which a page of events ends; one that is larger stands alone."""
LAST_POSITION: Final = 2**31 - 1
PURGED: Final = "session_purged"
STATE_PURGED: Final = "session_state_purged"
_LISTING: Final = "sessions"
_STATES: Final = "session states"
_NOBODY: Final = UUID(int=0)


class QuotingState(NamedTuple):
    """A state that holds a text."""

    application: str
    person: str


@checks_shapes
class KeptSessions:
    """The sessions of agent frameworks, and what outlives them, for people.

    An owner sees those of all users and what an application keeps for everybody, a member its user's own. An
    agent's key is refused, since sessions name no agent.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def page(
        self,
        who: Principal,
        *,
        application: str | None = None,
        user_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[KeptSession]:
        """Sessions of the application and user named (all that the caller sees, without), the newest first.

        `limit` is 1 to 200. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_storable("application", application or "")
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        found = await self._storage.read(
            organization, store.page, application, user_of_host(who, user_id), before, limit + 1
        )
        return cut_page(_LISTING, found, limit)

    async def get(self, who: Principal, session_id: UUID) -> ShownSession:
        """A session with its own state. Raises `NotFound`."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, _seen, who, session_id)

    async def events(
        self, who: Principal, session_id: UUID, *, after: int = 0, limit: int = 100
    ) -> EventPage:
        """The events of a session in their order, from behind the position `after`.

        A page ends after `limit` events (1 to 200), or once it holds 1 MB. Raises `NotFound`.
        """
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        if not 0 <= after <= LAST_POSITION:
            raise Invalid(
                "after is the position of an event, or 0 for the beginning.", field="after"
            )
        return await self._storage.read(organization, _events, who, session_id, after, limit)

    async def purge(self, who: Principal, session_id: UUID) -> RowsPurged:
        """Delete a session for good, with its events; what its person keeps across sessions stays. Raises `NotFound`."""
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        rows = await self._storage.write(organization, _purge, who, session_id)
        return RowsPurged(rows=rows, scrubbed=await self._storage.scrub())

    async def states(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        limit: int = MOST_STATES,
        cursor: str | None = None,
    ) -> Page[KeptState]:
        """What outlives sessions, of the user named (all that the caller sees, without), by application and person.

        `limit` is 1 to 10. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_STATES)
        after = read_named_cursor(_STATES, cursor, 2)
        found = await self._storage.read(
            organization,
            store.states,
            user_of_host(who, user_id),
            ("", "") if after is None else (after[0], after[1]),
            limit + 1,
        )
        return Page(
            items=found[:limit],
            next_cursor=next_named(
                _STATES, found, limit, lambda each: (each.application, each.person)
            ),
        )

    async def purge_state(self, who: Principal, application: str, person: str = "") -> RowsPurged:
        """Delete for good what a person, or without one the application, keeps across sessions. Raises `NotFound`."""
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        check_storable("application", application)
        check_storable("person", person)
        rows = await self._storage.write(organization, _purge_state, who, application, person)
        return RowsPurged(rows=rows, scrubbed=await self._storage.scrub())

    async def quoting(
        self, organization_id: UUID, texts: Collection[str], but: UUID | None = None
    ) -> tuple[list[UUID], list[QuotingState]]:
        """The sessions and states that keep one of these texts; none of the user `but`.

        For whoever has the right to see them all: nothing is changed here.
        """
        quotes = Quotes(texts)
        if not quotes:
            return [], []
        found = [
            each.id
            async for each in self.kept(organization_id, None)
            if (but is None or each.user_id != but)
            and await self._storage.read(organization_id, _quotes, quotes, each)
        ]
        states = [
            QuotingState(each.application, each.person)
            async for each in self.kept_states(organization_id, None)
            if (but is None or each.user_id != but)
            and quotes.are_in([each.application, each.person, each.state])
        ]
        return found, states

    async def kept(self, organization_id: UUID, user_id: UUID | None) -> AsyncIterator[KeptSession]:
        """Every session of the user, or of anybody, the newest first, as they are when it is their turn."""
        before = None
        while some := await self._storage.read(
            organization_id, store.page, None, user_id, before, MOST_LISTED
        ):
            for each in some:
                yield each
            before = some[-1].id

    async def said(self, organization_id: UUID, session_id: UUID) -> AsyncIterator[KeptEvent]:
        """Every event of a session, in their order."""
        after: int | None = 0
        while after is not None:
            page = await self._storage.read(
                organization_id, _some_events, session_id, after, MOST_LISTED
            )
            for each in page.items:
                yield each
            after = page.next_after

    async def kept_states(
        self, organization_id: UUID, user_id: UUID | None
    ) -> AsyncIterator[KeptState]:
        """Every state of the user, or of anybody."""
        after = ("", "")
        while some := await self._storage.read(
            organization_id, store.states, user_id, after, MOST_STATES
        ):
            for each in some:
                yield each
            after = (some[-1].application, some[-1].person)


def _seen(tx: Transaction, who: Principal, session_id: UUID) -> ShownSession:
    found = store.shown(tx, session_id)
    if found is None or not sees_user(who, found.user_id):
        raise NotFound(
            f"There is no session {session_id}: list those that there are.",
            session_id=str(session_id),
        )
    return found


def _events(tx: Transaction, who: Principal, session_id: UUID, after: int, most: int) -> EventPage:
    _seen(tx, who, session_id)
    return _some_events(tx, session_id, after, most)


def _some_events(tx: Transaction, session_id: UUID, after: int, most: int) -> EventPage:
    items: list[KeptEvent] = []
    size = 0
    for each in store.events(tx, session_id, after):
        size += len(each.content.encode())
        if len(items) == most or (items and size > PAGE_BYTES):
            return EventPage(items=items, next_after=items[-1].position)
        items.append(each)
    return EventPage(items=items, next_after=None)


def _purge(tx: Transaction, who: Principal, session_id: UUID) -> int:
    rows = 1 + _seen(tx, who, session_id).events
    sessions.drop(tx, session_id)
    by = {"user_id": who.user_id, "agent_id": who.agent_id}
    record_activity(tx, PURGED, subject_id=session_id, rows=rows, **by)
    return rows


def _purge_state(tx: Transaction, who: Principal, application: str, person: str) -> int:
    whose = store.whose_state(tx, application, person)
    if whose is None or not sees_user(who, whose[0] or _NOBODY):
        raise NotFound(
            f"There is no such state of the application {application[:80]!r}: list those that there are.",
            application=application[:80],
        )
    rows = store.remove_state(tx, application, person)
    record_activity(tx, STATE_PURGED, user_id=who.user_id, agent_id=who.agent_id, rows=rows)
    return rows


def _quotes(tx: Transaction, quotes: Quotes, session: KeptSession) -> bool:
    there = store.shown(tx, session.id)
    if there is None:
        return False
    named = [there.application, there.person, there.name, there.state]
    return quotes.are_in(named) or any(
        quotes.are_in([each.name, read_json(each.content)])
        for each in store.events(tx, session.id, 0)
    )
