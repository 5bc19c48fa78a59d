"""How calls become verbs of a room: asked, paged through, read line by line, or followed."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from memoranda.client.awaited.asking import Asking
from memoranda.client.call import Call
from memoranda.client.errors import going_round
from memoranda.client.signatures import named, shown_as
from memoranda.client.streams import Message
from memoranda.memories.models import Memory, MemoryPage
from memoranda.words.given import checked
from memoranda.words.page import Page

P = ParamSpec("P")
T = TypeVar("T")
G = TypeVar("G")


class Room:
    """Verbs that belong together."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking


class Asked(Generic[P, T]):
    """A verb that makes the call, and answers what is answered."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self.make = checked(make)

    def __set_name__(self, room: type, name: str) -> None:
        """Be called as the room calls it."""
        self.make = named(self.make, room, name)

    @overload
    def __get__(self, room: None, kind: type[Room]) -> Self: ...

    @overload
    def __get__(self, room: Room, kind: type[Room]) -> Callable[P, Awaitable[T]]: ...

    def __get__(self, room: Room | None, kind: type[Room]) -> Self | Callable[P, Awaitable[T]]:
        """The verb of this room."""
        if room is None:
            return self
        asking = room.asking

        async def ask(*args: P.args, **kwargs: P.kwargs) -> T:
            return await asking.ask(self.make(*args, **kwargs))

        return shown_as(ask, self.make)


class Pages(Generic[P, G, T]):
    """A list that comes in pages: called, it answers one; `each` goes through all that follow too."""

    def __init__(self, asking: Asking, make: Callable[P, Call[G]]) -> None:
        self._asking = asking
        self._make = make

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> G:
        """One page."""
        return await self._asking.ask(self._make(*args, **kwargs))

    async def each(self, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        """One after the other, page by page, from the page that is named or the first.

        Raises `UnexpectedAnswer` where a page leads back to one that was read.
        """
        call = self._make(*args, **kwargs)
        begun = {call.query.get("cursor")}
        while True:
            page = await self._asking.ask(call)
            if not isinstance(page, Page):
                raise TypeError("What is paged through answers pages.")
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            if page.next_cursor in begun:
                raise going_round()
            begun.add(page.next_cursor)
            call = call.after(page.next_cursor)


class Paged(Generic[P, G, T]):
    """A verb that answers a page, and has `each` for all of them."""

    @overload
    def __init__(
        self: "Paged[P, MemoryPage, Memory]", make: Callable[P, Call[MemoryPage]]
    ) -> None: ...

    @overload
    def __init__(self: "Paged[P, Page[T], T]", make: Callable[P, Call[Page[T]]]) -> None: ...

    def __init__(self, make: Callable[..., Call[Any]]) -> None:
        self.make: Callable[P, Call[G]] = checked(make)

    def __set_name__(self, room: type, name: str) -> None:
        """Be called as the room calls it."""
        self.make = named(self.make, room, name)

    @overload
    def __get__(self, room: None, kind: type[Room]) -> Self: ...

    @overload
    def __get__(self, room: Room, kind: type[Room]) -> Pages[P, G, T]: ...

    def __get__(self, room: Room | None, kind: type[Room]) -> Self | Pages[P, G, T]:
        """The verb of this room."""
        if room is None:
            return self
        pages: Pages[P, G, T] = Pages(room.asking, self.make)
        return shown_as(pages, self.make)


class Lined(Generic[P]):
    """A verb that answers the lines of what may be long, as they come."""

    def __init__(self, make: Callable[P, Call[str]]) -> None:
        self.make = checked(make)

    def __set_name__(self, room: type, name: str) -> None:
        """Be called as the room calls it."""
        self.make = named(self.make, room, name)

    @overload
    def __get__(self, room: None, kind: type[Room]) -> Self: ...

    @overload
    def __get__(self, room: Room, kind: type[Room]) -> Callable[P, AsyncGenerator[str, None]]: ...

    def __get__(
        self, room: Room | None, kind: type[Room]
    ) -> Self | Callable[P, AsyncGenerator[str, None]]:
        """The verb of this room."""
        if room is None:
            return self
        asking = room.asking

        def lines(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[str, None]:
            return asking.lines(self.make(*args, **kwargs))

        return shown_as(lines, self.make, AsyncGenerator[str, None])


class Followed(Generic[P, T]):
    """A verb that answers what a stream tells, as it tells it, for as long as somebody listens."""

    def __init__(self, make: Callable[P, Call[str]], told: Callable[[Message], T]) -> None:
        self.make = checked(make)
        self._told = told

    def __set_name__(self, room: type, name: str) -> None:
        """Be called as the room calls it."""
        self.make = named(self.make, room, name)

    @overload
    def __get__(self, room: None, kind: type[Room]) -> Self: ...

    @overload
    def __get__(self, room: Room, kind: type[Room]) -> Callable[P, AsyncGenerator[T, None]]: ...

    def __get__(
        self, room: Room | None, kind: type[Room]
    ) -> Self | Callable[P, AsyncGenerator[T, None]]:
        """The verb of this room."""
        if room is None:
            return self
        asking, told = room.asking, self._told

        async def follow(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
            async with aclosing(asking.messages(self.make(*args, **kwargs))) as messages:
                async for message in messages:
                    yield told(message)

        return shown_as(follow, self.make, AsyncGenerator[T, None])
