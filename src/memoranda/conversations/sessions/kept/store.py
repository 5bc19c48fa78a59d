"""The SQL of sessions as people see them: lists, events, what outlives sessions, and their end."""

import json
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, func, or_, select

from memoranda.conversations.sessions.kept.models import (
    KeptEvent,
    KeptSession,
    KeptState,
    ShownSession,
)
from memoranda.conversations.sessions.models import State
from memoranda.conversations.sessions.times import from_number
from memoranda.storage import Row, Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import agent_session_events, agent_session_states, agent_sessions
from memoranda.words.text import clean

NEWEST: Final = UUID(int=2**128 - 1)
AT_ONCE: Final = 20
"""Events that are in memory together while all are read."""
s, e, k = agent_sessions.c, agent_session_events.c, agent_session_states.c
_COLUMNS: Final = (
    s.id,
    s.application,
    s.person,
    s.name,
    s.user_id,
    s.revision,
    s.bytes,
    s.updated,
    s.created_at,
)
PAGE: Final = (
    select(*_COLUMNS)
    .where(s.id < bindparam("before"))
    .order_by(s.id.desc())
    .limit(bindparam("most"))
)
_OF_APPLICATION: Final = s.application == bindparam("app")
_OF_USER: Final = s.user_id == bindparam("user")
PAGE_OF_APPLICATION: Final = PAGE.where(_OF_APPLICATION)
PAGE_OF_USER: Final = PAGE.where(_OF_USER)
PAGE_OF_BOTH: Final = PAGE.where(_OF_APPLICATION, _OF_USER)
COUNT: Final = select(func.count(), func.coalesce(func.sum(s.revision), 0)).select_from(
    agent_sessions
)
COUNT_OF_USER: Final = COUNT.where(_OF_USER)
COUNT_STATES: Final = select(func.count()).select_from(agent_session_states)
COUNT_STATES_OF_USER: Final = COUNT_STATES.where(k.user_id == bindparam("user"))
SHOWN: Final = select(*_COLUMNS, s.state).where(s.id == bindparam("session"))
EVENTS: Final = (
    select(e.position, e.name, e.at, e.content)
    .where(e.session_id == bindparam("session"), e.position > bindparam("after"))
    .order_by(e.position)
    .limit(bindparam("most"))
)
_STATES: Final = (
    select(k.application, k.person, k.user_id, k.state, k.updated_at)
    .where(
        or_(
            k.application > bindparam("after_app"),
            and_(k.application == bindparam("after_app"), k.person > bindparam("after_person")),
        )
    )
    .order_by(k.application, k.person)
    .limit(bindparam("most"))
)
STATES: Final = _STATES
STATES_OF_USER: Final = _STATES.where(k.user_id == bindparam("user"))
_THE_STATE: Final = (k.application == bindparam("app"), k.person == bindparam("whose"))
STATE: Final = select(k.user_id).where(*_THE_STATE)
REMOVE_STATE: Final = delete(agent_session_states).where(*_THE_STATE)


def page(
    tx: Transaction, application: str | None, user_id: UUID | None, before: UUID | None, most: int
) -> list[KeptSession]:
    """Sessions of the application and user that are named, the newest first."""
    asked: dict[str, Any] = {"before": before or NEWEST, "most": most}
    if application is None:
        statement = PAGE if user_id is None else PAGE_OF_USER
    else:
        statement = PAGE_OF_APPLICATION if user_id is None else PAGE_OF_BOTH
    rows = tx.all(statement, app=application, user=user_id, **asked)
    return [KeptSession(**_fields(row)) for row in rows]


def count(tx: Transaction, user_id: UUID | None) -> tuple[int, int, int]:
    """How many sessions, events and states there are, of the user or of anybody."""
    if user_id is None:
        found, states = tx.one(COUNT), tx.one(COUNT_STATES)
    else:
        found, states = (
            tx.one(COUNT_OF_USER, user=user_id),
            tx.one(COUNT_STATES_OF_USER, user=user_id),
        )
    if found is None or states is None:
        raise AssertionError("counts count")
    return int(found[0]), int(found[1]), int(states[0])


def shown(tx: Transaction, session_id: UUID) -> ShownSession | None:
    """The session with the state that is its own."""
    row = tx.one(SHOWN, session=session_id)
    return None if row is None else ShownSession(**_fields(row), state=_state(row.state))


def events(tx: Transaction, session_id: UUID, after: int) -> Iterator[KeptEvent]:
    """All events of the session in their order, from behind a position."""
    while rows := tx.all(EVENTS, session=session_id, after=after, most=AT_ONCE):
        for row in rows:
            yield KeptEvent(**{**row._asdict(), "at": from_number(row.at)})
        after = rows[-1].position


def states(
    tx: Transaction, user_id: UUID | None, after: tuple[str, str], most: int
) -> list[KeptState]:
    """What outlives sessions, of the user that is named or of anybody, from behind an application's person."""
    asked = {"after_app": after[0], "after_person": after[1], "most": most}
    if user_id is None:
        rows = tx.all(STATES, **asked)
    else:
        rows = tx.all(STATES_OF_USER, user=user_id, **asked)
    return [KeptState(**{**row._asdict(), "state": _state(row.state)}) for row in rows]


def whose_state(tx: Transaction, application: str, person: str) -> tuple[UUID | None] | None:
    """Whose state it is, in a tuple; None where it is not there."""
    row = tx.one(STATE, app=application, whose=person)
    return None if row is None else (row.user_id,)


def remove_state(tx: Transaction, application: str, person: str) -> int:
    """Delete a state, and have its traces taken out of the files; how many there were."""
    gone = tx.run(REMOVE_STATE, app=application, whose=person)
    if gone:
        signal(tx, SCRUB)
    return gone


def _fields(row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: value for name, value in row._asdict().items() if name not in {"revision", "state"}
    }
    return {**fields, "events": row.revision, "updated": from_number(row.updated)}


def _state(written: str) -> State:
    """State that any wire can hold: half of a surrogate pair, which a framework may keep, is no character."""
    state: State = json.loads(written)
    if "\\ud" in written.lower():
        state = json.loads(clean(json.dumps(state, ensure_ascii=False)))
    return state
