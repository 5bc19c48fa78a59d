"""The values of events: one change, and what else somebody who follows them is told."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Event(_Value):
    """One change that is committed; `metadata` is ids, counts and fixed words, never text that a person wrote.

    `number` counts the organization's events from 1 without a gap. `user_id` and
    `agent_id` are whom the changed thing is for; unset means everybody.
    """

    number: int
    type: str
    user_id: UUID | None
    agent_id: UUID | None
    metadata: dict[str, Any]
    created_at: datetime


class Mark(NamedTuple):
    """Everything up to `number` was told: whoever comes back goes on after it."""

    number: int


class Reset(NamedTuple):
    """Some of what came after the number that was given is gone, so it can't be told.

    Whoever follows loads anew what it shows; what comes after `number` is told.
    """

    number: int


class EventPage(_Value):
    """What came after a number, in order. The next page is what came after `number`.

    `more` says that it is there already; `reset` is the meaning of `Reset`.
    """

    items: list[Event]
    number: int
    more: bool
    reset: bool


class Stretch(NamedTuple):
    """The events after one number up to another, `end`, as far as anybody may be told of them.

    `last` is the newest number that the organization has. When they are not `whole`, some
    are gone: there are no events then, and `end` is where to go on.
    """

    events: tuple[Event, ...]
    end: int
    last: int
    whole: bool = True
