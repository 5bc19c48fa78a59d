"""The verbs of sessions: make one, append an event, read, list and delete."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import MATRIX, Permission, sees_user, subject_of
from memoranda.access.store import add_user, find_user
from memoranda.conversations.owned import organization_of_host
from memoranda.conversations.sessions import store
from memoranda.conversations.sessions.errors import nobody_yet, unknown_session
from memoranda.conversations.sessions.models import (
    Appended,
    Seen,
    Session,
    SessionEvent,
    SessionName,
    State,
    States,
)
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_storable, text_input

LONGEST_NAME: Final = 500


@checks_shapes
class Sessions:
    """Keeps the sessions of agent frameworks: events as they were given, and state in three scopes.

    `person` is what an application calls its user: the id or external id of one here. One that is
    nobody yet becomes a user under that external id when a session is made, where the caller may make
    users. A session, and a state, holds at most `max_bytes`. Whoever may not see a session is answered as
    if it were not there; an agent's key is refused. Blanks around a name are no part of it.
    """

    def __init__(self, storage: Storage, *, max_bytes: int) -> None:
        self._storage = storage
        self._max_bytes = max_bytes

    async def create(
        self, who: Principal, name: SessionName, states: States, *, updated: float
    ) -> Session:
        """Make a session, with what its states are to begin with.

        Raises `SessionExists`, `NotFound` for a person who is nobody here, `ConversationTooLarge`,
        `Refused`, `Invalid` and `OverLimit` with the field.
        """
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        return await self._storage.write(
            organization,
            _create,
            who,
            _checked(name),
            states,
            updated=updated,
            most_bytes=self._max_bytes,
        )

    async def find(
        self,
        who: Principal,
        name: SessionName,
        *,
        limit: int | None = None,
        since: float | None = None,
    ) -> Session | None:
        """The session as it stands, with its events in order: all, those since then, or the last `limit`."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, _find, who, _bare(name), limit, since)

    async def page(
        self, who: Principal, application: str, *, person: str | None = None
    ) -> list[Session]:
        """The sessions that the caller may see, without events, the one that went on last at the end."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        named = _bare(SessionName(application=application, person=person or "", name=""))
        whose = None if person is None else named.person
        found = await self._storage.read(organization, store.page, named.application, whose)
        return [session for user_id, session in found if sees_user(who, user_id)]

    async def state(self, who: Principal, application: str, person: str) -> State:
        """What a person keeps across sessions, without any session."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        named = _bare(SessionName(application=application, person=person, name=""))
        return await self._storage.read(organization, _state, who, named.application, named.person)

    async def append(
        self,
        who: Principal,
        name: SessionName,
        event: SessionEvent,
        states: States,
        *,
        seen: Seen,
    ) -> Appended:
        """Add an event and change the states as it says, in one transaction.

        The same event again does nothing. Raises `SessionWentOn` where the session is not as `seen`
        by now, `NotFound`, `ConversationTooLarge`, and `Invalid`.
        """
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        check_storable("event", event.content)
        text_input("event.name", event.name, limit=LONGEST_NAME)
        return await self._storage.write(
            organization,
            _append,
            who,
            _bare(name),
            event,
            states,
            seen=seen,
            most_bytes=self._max_bytes,
        )

    async def delete(self, who: Principal, name: SessionName) -> None:
        """Delete a session with its events, if there is one."""
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        await self._storage.write(organization, _delete, who, _bare(name))


def _bare(name: SessionName) -> SessionName:
    """The name without blanks around its parts. Raises `Invalid` for a text that no row can have."""
    parts = dict(name)
    for field, text in parts.items():
        check_storable(field, text)
    return SessionName(**{field: text.strip() for field, text in parts.items()})


def _checked(name: SessionName) -> SessionName:
    return SessionName(
        application=text_input("application", name.application),
        person=text_input("person", name.person),
        name=text_input("name", name.name, limit=LONGEST_NAME),
    )


def _create(
    tx: Transaction,
    who: Principal,
    name: SessionName,
    states: States,
    *,
    updated: float,
    most_bytes: int,
) -> Session:
    user_id = _user(tx, who, name.person)
    return store.create(tx, name, user_id, states, updated=updated, most_bytes=most_bytes)


def _user(tx: Transaction, who: Principal, person: str) -> UUID:
    """Whom the application means, made where that is nobody yet."""
    tx.lock(f"person {person}")
    found = find_user(tx, person)
    if found is None:
        if Permission.MANAGE_ACCESS not in MATRIX[who.role]:
            raise nobody_yet(person)
        return add_user(tx, person, person).id
    subject_of(who, None, found.id)
    return found.id


def _sees(tx: Transaction, who: Principal, name: SessionName) -> bool:
    user_id = store.user_of(tx, name)
    return user_id is not None and sees_user(who, user_id)


def _find(
    tx: Transaction, who: Principal, name: SessionName, limit: int | None, since: float | None
) -> Session | None:
    return store.find(tx, name, limit, since) if _sees(tx, who, name) else None


def _state(tx: Transaction, who: Principal, application: str, person: str) -> State:
    found = find_user(tx, person)
    seen = found is not None and sees_user(who, found.id)
    return store.state_of(tx, application, person) if seen and person else {}


def _append(
    tx: Transaction,
    who: Principal,
    name: SessionName,
    event: SessionEvent,
    states: States,
    *,
    seen: Seen,
    most_bytes: int,
) -> Appended:
    if not _sees(tx, who, name):
        raise unknown_session(name)
    return store.append(tx, name, event, states, seen=seen, most_bytes=most_bytes)


def _delete(tx: Transaction, who: Principal, name: SessionName) -> None:
    if _sees(tx, who, name):
        store.remove(tx, name)
