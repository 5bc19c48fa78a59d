"""The values of sessions: which one is meant, what it holds, and what an event changes."""

from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

State = dict[str, Any]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SessionName(_Value):
    """Which session is meant: an application's, for a person as the application calls it, by its own name."""

    application: str
    person: str
    name: str


class States(_Value):
    """State by whose it is: every session's of the application, every session's of the person, or this one's."""

    application: State = Field(default_factory=dict)
    person: State = Field(default_factory=dict)
    session: State = Field(default_factory=dict)


class SessionEvent(_Value):
    """One event, as the framework wrote it; `at` is when, by the framework's clock."""

    name: str
    at: float
    content: str


class Session(_Value):
    """A session as it stands. `revision` counts its events; `updated` is the time of the last one."""

    name: SessionName
    states: States
    events: list[SessionEvent]
    revision: int
    updated: float


class Seen(NamedTuple):
    """How somebody knew a session who appends to it: its revision or, without one, its time and last event."""

    revision: int | None
    updated: float
    last: str | None = None


class Appended(NamedTuple):
    """What an event did, and which one of the session's it is, counted from 1.

    `known` says that it was there already, and that nothing was done.
    """

    revision: int
    updated: float
    position: int
    known: bool
