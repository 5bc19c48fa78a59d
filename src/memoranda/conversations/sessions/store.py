"""The SQL of sessions: their events in order, and the three states that an event may change."""

import json
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.conversations.sessions.errors import (
    no_json,
    session_exists,
    session_too_large,
    session_went_on,
    unknown_session,
)
from memoranda.conversations.sessions.models import (
    Appended,
    Seen,
    Session,
    SessionEvent,
    SessionName,
    State,
    States,
)
from memoranda.conversations.sessions.times import from_number, to_number
from memoranda.storage import Row, Transaction, upsert
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import agent_session_events, agent_session_states, agent_sessions
from memoranda.words.ids import new_id

EVERYBODY: Final = ""
"""The person of an application's own state."""
ALL: Final = 2**31 - 1
s, e, k = agent_sessions.c, agent_session_events.c, agent_session_states.c

_COLUMNS: Final = (
    s.id,
    s.application,
    s.person,
    s.user_id,
    s.name,
    s.state,
    s.revision,
    s.bytes,
    s.updated,
)
FIND: Final = select(*_COLUMNS).where(
    s.application == bindparam("app"), s.person == bindparam("whose"), s.name == bindparam("named")
)
_OF_APPLICATION: Final = select(*_COLUMNS).where(s.application == bindparam("app"))
PAGE: Final = _OF_APPLICATION
PAGE_OF_PERSON: Final = _OF_APPLICATION.where(s.person == bindparam("whose"))
INSERT: Final = insert(agent_sessions)
GO_ON: Final = (
    update(agent_sessions)
    .where(s.id == bindparam("session"))
    .values(
        state=bindparam("new_state"),
        revision=s.revision + 1,
        bytes=bindparam("new_bytes"),
        updated=bindparam("new_time"),
    )
)
DELETE: Final = delete(agent_sessions).where(s.id == bindparam("session"))
ADD_EVENT: Final = insert(agent_session_events)
EVENT: Final = select(e.position, e.content).where(
    e.session_id == bindparam("session"), e.name == bindparam("named")
)
_EVENTS: Final = (
    select(e.name, e.at, e.content)
    .where(e.session_id == bindparam("session"))
    .order_by(e.position.desc())
    .limit(bindparam("most"))
)
EVENTS: Final = _EVENTS
EVENTS_SINCE: Final = _EVENTS.where(e.at >= bindparam("since"))
STATE: Final = select(k.state).where(
    k.application == bindparam("app"), k.person == bindparam("whose")
)
STATES: Final = select(k.person, k.state).where(k.application == bindparam("app"))
PUT_STATE: Final = upsert(
    agent_session_states,
    ["organization_id", "application", "person"],
    set_=["state", "updated_at"],
)
CLEAR_SESSIONS: Final = delete(agent_sessions).where(s.user_id == bindparam("user"))
CLEAR_STATES: Final = delete(agent_session_states).where(k.user_id == bindparam("user"))


def user_of(tx: Transaction, name: SessionName) -> UUID | None:
    """Whose session it is, if it is there."""
    row = _find(tx, name)
    return None if row is None else row.user_id


def find(
    tx: Transaction, name: SessionName, most: int | None, since: float | None
) -> Session | None:
    """The session with all its events, or those since then, or the last `most`."""
    row = _find(tx, name)
    if row is None:
        return None
    wanted = ALL if most is None else most
    if since is None:
        events = tx.all(EVENTS, session=row.id, most=wanted)
    else:
        events = tx.all(EVENTS_SINCE, session=row.id, most=wanted, since=to_number(since))
    shared = {person: state_of(tx, name.application, person) for person in (EVERYBODY, name.person)}
    return _session(row, shared, [_event(each) for each in reversed(events)])


def page(tx: Transaction, application: str, person: str | None) -> list[tuple[UUID, Session]]:
    """The sessions of the application, or of one of its people, without events, the last one that went on last."""
    if person is None:
        rows = tx.all(PAGE, app=application)
    else:
        rows = tx.all(PAGE_OF_PERSON, app=application, whose=person)
    if not rows:
        return []
    shared = {row.person: json.loads(row.state) for row in tx.all(STATES, app=application)}
    # Sorted here: databases differ in how they sort texts.
    rows.sort(key=lambda row: (row.updated, row.person, row.name))
    return [(row.user_id, _session(row, shared, [])) for row in rows]


def state_of(tx: Transaction, application: str, person: str) -> State:
    """What the application, or one of its people, keeps across sessions."""
    row = tx.one(STATE, app=application, whose=person)
    found: State = {} if row is None else json.loads(row.state)
    return found


def create(
    tx: Transaction,
    name: SessionName,
    user_id: UUID,
    states: States,
    *,
    updated: float,
    most_bytes: int,
) -> Session:
    """Make a session, and change the states beside it. Raises `SessionExists`, `ConversationTooLarge`."""
    _lock(tx, name, states)
    if _find(tx, name) is not None:
        raise session_exists(name)
    _put_shared(tx, name, user_id, states, most_bytes)
    tx.run(
        INSERT,
        id=new_id(),
        **dict(name),
        user_id=user_id,
        state=_written(states.session, most_bytes),
        updated=to_number(updated),
        created_at=tx.now,
    )
    made = find(tx, name, 0, None)
    if made is None:
        raise AssertionError("a session that was just made is there")
    return made


def append(
    tx: Transaction,
    name: SessionName,
    event: SessionEvent,
    states: States,
    *,
    seen: Seen,
    most_bytes: int,
) -> Appended:
    """Add an event, and change the states as it says: all of it or nothing.

    An event that is there, word for word, is left. Whoever knows no revision is up to date by the session's
    time or, as clocks' numbers are rounded on their way, by its last event. Raises `SessionWentOn`, `NotFound`, `ConversationTooLarge`.
    """
    _lock(tx, name, states)
    row = _find(tx, name)
    if row is None:
        raise unknown_session(name)
    updated = from_number(row.updated)
    for each in tx.all(EVENT, session=row.id, named=event.name):
        if each.content == event.content:
            return Appended(row.revision, updated, each.position, known=True)
    if seen.revision is None:
        behind = updated > seen.updated and _last(tx, row) != seen.last
    else:
        behind = row.revision != seen.revision
    if behind:
        raise session_went_on(name, row.revision)
    size = row.bytes + len(event.content.encode())
    if size > most_bytes:
        raise session_too_large("session", size, most_bytes)
    _put_shared(tx, name, row.user_id, states, most_bytes)
    added = {**dict(event), "at": to_number(event.at)}
    tx.run(ADD_EVENT, id=new_id(), session_id=row.id, position=row.revision + 1, **added)
    tx.run(
        GO_ON,
        session=row.id,
        new_state=_written(json.loads(row.state) | states.session, most_bytes),
        new_bytes=size,
        new_time=to_number(event.at),
    )
    return Appended(row.revision + 1, event.at, row.revision + 1, known=False)


def remove(tx: Transaction, name: SessionName) -> None:
    """Delete a session with its events, if it is there. What its person keeps across sessions stays."""
    row = _find(tx, name)
    if row is not None:
        drop(tx, row.id)


def drop(tx: Transaction, session_id: UUID) -> None:
    """Delete that session with its events, and have its traces taken out of the files."""
    if tx.run(DELETE, session=session_id):
        signal(tx, SCRUB)


def clear_user(tx: Transaction, user_id: UUID) -> None:
    """Delete all sessions of a user, and what they kept across them, and have the traces taken out of the files."""
    gone = tx.run(CLEAR_SESSIONS, user=user_id)
    if gone + tx.run(CLEAR_STATES, user=user_id):
        signal(tx, SCRUB)


def _find(tx: Transaction, name: SessionName) -> Row | None:
    return tx.one(FIND, app=name.application, whose=name.person, named=name.name)


def _last(tx: Transaction, row: Row) -> str | None:
    """The name of the last event, if there is any."""
    return next((each.name for each in tx.all(EVENTS, session=row.id, most=1)), None)


def _lock(tx: Transaction, name: SessionName, states: States) -> None:
    """Hold what is to be changed, always in this order."""
    if states.application:
        tx.lock(f"state of application {name.application}")
    if states.person:
        tx.lock(f"state of {json.dumps([name.application, name.person])}")
    tx.lock(f"session {json.dumps([name.application, name.person, name.name])}")


def _put_shared(
    tx: Transaction, name: SessionName, user_id: UUID, states: States, most_bytes: int
) -> None:
    for person, user, changes in (
        (EVERYBODY, None, states.application),
        (name.person, user_id, states.person),
    ):
        if changes:
            merged = state_of(tx, name.application, person) | changes
            tx.run(
                PUT_STATE,
                application=name.application,
                person=person,
                user_id=user,
                state=_written(merged, most_bytes),
                updated_at=tx.now,
            )


def _written(state: State, most_bytes: int) -> str:
    """Escaped to the last character that a text column might not take. Raises `Invalid` for what is no JSON."""
    try:
        text = json.dumps(state)
    except (TypeError, ValueError, RecursionError) as error:
        raise no_json() from error
    if len(text) > most_bytes:
        raise session_too_large("state", len(text), most_bytes)
    return text


def _session(row: Row, shared: dict[str, State], events: list[SessionEvent]) -> Session:
    return Session(
        name=SessionName(application=row.application, person=row.person, name=row.name),
        states=States(
            application=shared.get(EVERYBODY, {}),
            person=shared.get(row.person, {}),
            session=json.loads(row.state),
        ),
        events=events,
        revision=row.revision,
        updated=from_number(row.updated),
    )


def _event(row: Row) -> SessionEvent:
    return SessionEvent(name=row.name, at=from_number(row.at), content=row.content)
