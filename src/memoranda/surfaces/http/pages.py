"""Parts of long lists, and the times and numbers that requests are read with."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Generic, Protocol, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict

LARGEST: Final = 2**31 - 1
"""The largest number that a column of the database holds."""


class Body(BaseModel):
    """What a request's body is read into: it knows its fields, and refuses any other."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Listed(Protocol):
    """A row that a list can go on after."""

    @property
    def id(self) -> UUID:
        """The row's id, which sorts by the time it was made."""


Item = TypeVar("Item", bound=Listed)
Entry = TypeVar("Entry")


class Page(BaseModel, Generic[Entry]):
    """A part of a list; `next_cursor` asks for the next part, and is null at the end."""

    model_config = ConfigDict(frozen=True)

    items: list[Entry]
    next_cursor: UUID | None


class Listing(BaseModel, Generic[Entry]):
    """All of a list that has an end of its own."""

    model_config = ConfigDict(frozen=True)

    items: list[Entry]


def page_of(
    items: Sequence[Item], limit: int
) -> "Page[Item]":  # quoted: the bound of Item is nothing that a model can check
    """The page that `items` are; a full one may have another behind it."""
    full = len(items) >= limit
    return Page(items=list(items), next_cursor=items[-1].id if full and items else None)


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError("Input is outside of the years that can be kept") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with its zone, kept in UTC."""

After = Annotated[
    UUID | None, Query(alias="cursor", description="Go on where a page ended: its next_cursor.")
]
