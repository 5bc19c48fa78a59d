"""What routes share: lists, and the cursors, times and numbers that requests are read with."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Generic, TypeVar

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict

LARGEST: Final = 2**31 - 1
"""The largest number that a column of the database holds."""


class Body(BaseModel):
    """What a request's body is read into: it knows its fields, and refuses any other."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Entry = TypeVar("Entry")


class Listing(BaseModel, Generic[Entry]):
    """All of a list that has an end of its own."""

    model_config = ConfigDict(frozen=True)

    items: list[Entry]

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        """A listing of revisions is a `RevisionListing` in the description."""
        return f"{params[0].__name__}{cls.__name__}"


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError("Input is outside of the years that can be kept") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with its zone, kept in UTC."""

Cursor = Annotated[str | None, Query(description="Go on where a page ended: its next_cursor.")]
