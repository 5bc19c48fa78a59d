"""A page: a part of a list that is too long to be given out at once, and where the next part begins."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.words.cursor import make_cursor, make_named_cursor

T = TypeVar("T")


class Listed(Protocol):
    """A row that a list can go on from."""

    @property
    def id(self) -> UUID:
        """The row's id: lists page in the order of their ids."""


Row = TypeVar("Row", bound=Listed)


class Page(BaseModel, Generic[T]):
    """A part of a list. `next_cursor` asks for the next part, and is null at the end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: list[T]
    next_cursor: str | None

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        """A page of memories is a `MemoryPage` where it is described to others."""
        return f"{params[0].__name__}{cls.__name__}"


def cut_page(
    listing: str, rows: Sequence[Row], limit: int
) -> "Page[Row]":  # quoted: a model can't check the bound of Row
    """The first `limit` of `rows`, of which the caller read one more to see whether there are more."""
    items = list(rows[:limit])
    more = len(rows) > limit
    return Page(items=items, next_cursor=make_cursor(listing, items[-1].id) if more else None)


def next_named(
    listing: str, rows: Sequence[T], limit: int, named: Callable[[T], Sequence[str]]
) -> str | None:
    """Where a list of rows without an id goes on, by what `named` tells of the last one that is given out.

    The caller read one more than `limit` of `rows`; None where that found no more.
    """
    return make_named_cursor(listing, named(rows[limit - 1])) if len(rows) > limit else None
