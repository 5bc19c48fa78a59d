"""ADK's session service: sessions, their events and their state, as rows of a user."""

import asyncio
import json
from typing import Any, Final
from weakref import WeakValueDictionary

from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.conversations.sessions.errors import SessionExists, SessionWentOn
from memoranda.conversations.sessions.models import Appended, Seen, SessionEvent, SessionName
from memoranda.conversations.sessions.models import Session as Kept
from memoranda.conversations.sessions.service import Sessions
from memoranda.integrations.google_adk.states import as_text, joined, json_or_refused, parted
from memoranda.words.errors import NotFound

MARK: Final = "memoranda:"
"""What a session's mark begins with, followed by the revision that it was read at."""


class MemorandaSessionService(BaseSessionService):
    """Keeps sessions in Memoranda, as `who` (the owner, where nobody is named) and under its rights.

    A `user_id` of ADK's is the id or external id of a user here; one that is nobody yet becomes a user under that
    external id when a session is made; blanks around it are no part of it. An event and all that it changes of the state is one transaction. An event
    for a session that went on meanwhile is refused with ADK's `StaleSessionError`. Sessions are deleted with
    their user.
    """

    def __init__(self, memoranda: Memoranda, who: Principal | None = None) -> None:
        self._who = who or memoranda.owner
        self._sessions = Sessions(
            memoranda.storage, max_bytes=memoranda.settings.conversation_max_bytes
        )
        # Agents that work side by side share a session: each appends to what the one before it left.
        self._turns: WeakValueDictionary[SessionName, asyncio.Lock] = WeakValueDictionary()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """A new session with its first state. Raises ADK's `AlreadyExistsError`."""
        named = (session_id or "").strip() or platform_uuid.new_uuid()
        name = SessionName(application=app_name, person=user_id, name=named)
        try:
            made = await self._sessions.create(
                self._who, name, parted(state), updated=platform_time.get_time()
            )
        except SessionExists as error:
            raise AlreadyExistsError(f"Session with id {named} already exists.") from error
        return _shown(made)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """The session with its events, or those that `config` asks for; None where there is none."""
        asked = config or GetSessionConfig()
        found = await self._sessions.find(
            self._who,
            _name(app_name, user_id, session_id),
            limit=asked.num_recent_events,
            since=asked.after_timestamp,
        )
        return None if found is None else _shown(found)

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """The sessions of a user, or of all, without events, the one that went on last at the end."""
        found = await self._sessions.page(self._who, app_name, person=user_id)
        return ListSessionsResponse(sessions=list(map(_shown, found)))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its events, if there is one. The user's state stays, and the application's."""
        await self._sessions.delete(self._who, _name(app_name, user_id, session_id))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """What the user keeps across sessions, its keys without their prefix."""
        return await self._sessions.state(self._who, app_name, user_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Keep an event, and add it to the session that is given; a partial one is kept by nobody.

        The same event again does nothing. Raises ADK's `SessionNotFoundError` and `StaleSessionError`, and
        then the session that is given is as it was.
        """
        if event.partial:
            return event
        name = _name(session.app_name, session.user_id, session.id)
        async with self._turn(name):
            states = parted(event.actions.state_delta)
            try:
                done = await self._sessions.append(
                    self._who, name, _kept(event), states, seen=_seen(session)
                )
            except NotFound as error:
                raise SessionNotFoundError(f"Session {session.id} not found.") from error
            except SessionWentOn as error:
                raise StaleSessionError(error.message) from error
            if done.known and not _is_next(session, event, done):
                return event
            self._apply_temp_state(session, event)
            event = self._commit_event_to_session(session, self._trim_temp_delta_state(event))
            _mark(session, done.revision, done.updated)
        return event

    def _turn(self, name: SessionName) -> asyncio.Lock:
        lock = self._turns.get(name)
        if lock is None:
            self._turns[name] = lock = asyncio.Lock()
        return lock


def _name(application: str, person: str, name: str) -> SessionName:
    return SessionName(application=application, person=person, name=name.strip())


def _kept(event: Event) -> SessionEvent:
    """The event as JSON, without what is the invocation's alone."""
    delta = parted(event.actions.state_delta)
    written = event.model_copy(
        update={"actions": event.actions.model_copy(update={"state_delta": joined(delta)})}
    )
    with json_or_refused("event"):
        said = written.model_dump(mode="json", exclude_none=True, fallback=as_text)
    return SessionEvent(
        name=event.id or platform_uuid.new_uuid(),
        at=event.timestamp,
        content=json.dumps(said, ensure_ascii=False, separators=(",", ":")),
    )


def _is_next(session: Session, event: Event, done: Appended) -> bool:
    """Whether the event was kept, and the session that is given was not told: its answer got lost."""
    missing = all(each.id != event.id for each in session.events)
    return missing and done.position == done.revision == (_seen(session).revision or 0) + 1


def _shown(kept: Kept) -> Session:
    session = Session(
        id=kept.name.name,
        app_name=kept.name.application,
        user_id=kept.name.person,
        state=joined(kept.states),
        events=[Event.model_validate_json(each.content) for each in kept.events],
        last_update_time=kept.updated,
    )
    return _mark(session, kept.revision, kept.updated)


def _mark(session: Session, revision: int, updated: float) -> Session:
    session._storage_update_marker = f"{MARK}{revision}"  # noqa: SLF001 - ADK's services keep it on the session, and it has no public name
    session.last_update_time = updated
    return session


def _seen(session: Session) -> Seen:
    mark = session._storage_update_marker or ""  # noqa: SLF001 - ADK's services read it back from the session, and it has no public name
    revision = int(mark.removeprefix(MARK)) if mark.startswith(MARK) else None
    last = session.events[-1].id if session.events else None
    return Seen(revision, session.last_update_time, last)
