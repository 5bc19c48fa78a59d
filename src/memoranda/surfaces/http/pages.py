"""What routes share: lists, and the cursors, times and numbers that requests are read with."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Generic, TypeVar

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Strict

from memoranda.words.inputs import is_written_time

LARGEST: Final = 2**31 - 1
"""The largest number that a column of the database holds."""

Number = Annotated[int, Strict()]
"""A whole number that the body writes as one: neither a text nor true."""

Flag = Annotated[bool, Strict()]
"""true or false, and nothing that could be taken for either."""


class Body(BaseModel):
    """What a request's body is read into: it knows its fields, and refuses any other.

    Its numbers and flags are `Number` and `Flag`, since pydantic by itself reads "5" as 5.
    """

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
        raise ValueError("This is outside of the years that can be kept.") from None


def _written(time: object) -> object:
    if not is_written_time(time):
        raise ValueError(
            "This must be a date and time with its zone, such as 2027-01-31T09:00:00Z."
        )
    return time


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc), BeforeValidator(_written)]
"""A time with its zone, kept in UTC."""

Cursor = Annotated[str | None, Query(description="Go on where a page ended: its next_cursor.")]
