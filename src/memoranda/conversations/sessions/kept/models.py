"""The values of sessions as people see them, and of what outlives them."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.sessions.models import State


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeptSession(_Value):
    """A session without what was said: the application, what that calls its user, and whom it means.

    It has so many `events`, which hold so many `bytes`. `updated` is by the framework's own clock.
    """

    id: UUID
    application: str
    person: str
    name: str
    user_id: UUID
    events: int
    bytes: int
    updated: float
    created_at: datetime


class ShownSession(KeptSession):
    """A session with the state that is its own."""

    state: State


class KeptEvent(_Value):
    """An event as the framework wrote it, at its position; `at` is when, by the framework's clock."""

    position: int
    name: str
    at: float
    content: str


class EventPage(_Value):
    """Events in their order. There are more behind the position `next_after`, where it is one."""

    items: list[KeptEvent]
    next_after: int | None


class KeptState(_Value):
    """State that outlives sessions: of one of an application's people or, with no `person` and user, of all of it."""

    application: str
    person: str
    user_id: UUID | None
    state: State
    updated_at: datetime
