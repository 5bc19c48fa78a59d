"""What every format is read into: entries that say something, and lines that can't be read. Pure."""

from collections.abc import Iterator
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from memoranda.words.ref import ResourceRef


class State(IntEnum):
    """What an entry is to become; taken in this order.

    What is forgotten comes first: it takes no room, and meets no live memory of the same text that
    the same file holds.
    """

    FORGOTTEN = 0
    ACTIVE = 1
    PROPOSED = 2


class Named(NamedTuple):
    """Whom a file means: by an id, or else by one of the names that a host may know."""

    id: str | None = None
    names: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """What a person would look for."""
        return next(iter(self.names), self.id) or ""


class Entry(NamedTuple):
    """One memory as a file has it, nothing of it checked.

    `stated` says that the file means everybody where it names no user. `labels` may name a user or
    an agent among other things. `as_written` says that blanks at the text's ends belong to it. `how` is what
    reading it has changed.
    """

    line: int
    text: str
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    pinned: bool = False
    attribute: str | None = None
    about: ResourceRef | None = None
    user: Named | None = None
    agent: Named | None = None
    stated: bool = False
    labels: tuple[str, ...] = ()
    state: State = State.ACTIVE
    created_at: datetime | None = None
    as_written: bool = False
    how: tuple[str, ...] = ()


class Unread(NamedTuple):
    """A line that is no entry, and why."""

    line: int
    code: str
    detail: str


class Passed(NamedTuple):
    """A line that is no memory, and is passed over; `why` is a word for it."""

    line: int
    why: str


Read: TypeAlias = Iterator[Entry | Unread | Passed]
