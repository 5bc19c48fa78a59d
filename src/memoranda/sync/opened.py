"""What every verb of the synchronous face goes through: the product, opened on the loop of a thread of its own."""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Protocol, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from memoranda import app
from memoranda.settings import Settings
from memoranda.state.projections import HostState
from memoranda.words.given import check_verbs

T = TypeVar("T")


class Caller(Protocol):
    """Runs a verb on the loop of the opened product, and waits for it."""

    def __call__(self, verb: Callable[[app.Memoranda], Awaitable[T]], /) -> T:
        """What the verb answers. Raises what it raises, and RuntimeError while nothing is open."""


class Room:
    """The verbs of one subsystem, as an attribute of the face."""

    def __init_subclass__(cls) -> None:
        check_verbs(cls)

    def __init__(self, call: Caller) -> None:
        self._call = call


class Opened:
    """Opens and closes the product, and calls what is asked of it."""

    def __init_subclass__(cls) -> None:
        check_verbs(cls)

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        state: HostState | None = None,
    ) -> None:
        self._opening = partial(app.Memoranda.open, url, settings=settings, state=state)
        self._stack = ExitStack()
        self._opened: tuple[BlockingPortal, app.Memoranda] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal: BlockingPortal = stack.enter_context(start_blocking_portal())
            opened = stack.enter_context(
                portal.wrap_async_context_manager(portal.call(self._opening))
            )
            self._opened = portal, opened
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened = None
        self._stack.__exit__(kind, error, traceback)

    def lend(self, use: Callable[[app.Memoranda], Awaitable[T]]) -> T:
        """Run something of one's own on the loop of the opened product, which it is given, and wait for it.

        For what this face has no verb for. Raises what it raises, and RuntimeError while nothing is open.
        """
        return self._call(use)

    def _call(self, verb: Callable[[app.Memoranda], Awaitable[T]], /) -> T:
        """Run a verb on the loop of the opened product, and wait for it."""
        if self._opened is None:
            raise RuntimeError(
                "Memoranda is not open: use it within `with Memoranda(…) as memoranda:`."
            )
        portal, opened = self._opened
        return portal.call(verb, opened)


check_verbs(Opened)
