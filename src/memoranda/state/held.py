"""A host's database behind its projections: looked at when it first answers, and asked from then on."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Concatenate, Final, ParamSpec, TypeVar

from memoranda.state import store
from memoranda.state.projections import HostState, Projection
from memoranda.state.store import Held
from memoranda.storage import StorageBusy, StorageUnavailable
from memoranda.storage.host import HostDatabase, HostMoved, HostReading
from memoranda.words.errors import Invalid, MemorandaError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

PAUSE_SECONDS: Final = 1.0
"""So long after it did not answer, a database that was never seen is left alone."""


class HeldHost:
    """The host's database. It may be away, also from the start: whoever asks then is told so.

    `fault` is why it could not be read when it was last asked; None where it could.
    """

    def __init__(self, state: HostState) -> None:
        self.database = HostDatabase.at(state.database)
        self.projections: Mapping[str, Projection] = {each.kind: each for each in state.projections}
        self.default_tenant = state.default_tenant
        self.fault: MemorandaError | None = None
        self._kinds: Mapping[str, Held] | None = None
        self._looking: asyncio.Task[Mapping[str, Held]] | None = None
        self._pause_until = 0.0

    async def look(self) -> None:
        """Check that all that is declared is there. Raises `Invalid`, `StorageUnavailable` and `StorageBusy`."""
        self._kinds = await self._asked(store.hold, tuple(self.projections.values()))

    async def kinds(self) -> Mapping[str, Held]:
        """The projections on the database as it is. Raises `StorageUnavailable` and `StorageBusy` while there is a reason to.

        What is declared and not there is `HostMoved`: whoever asks for rows can't correct it.
        """
        if self._kinds is not None:
            return self._kinds
        if self._looking is None:
            if self.fault is not None and time.monotonic() < self._pause_until:
                raise _told(self.fault)
            self._looking = asyncio.create_task(self._first_look())
        # Whoever gives up waiting ends no look that others wait for.
        return await asyncio.shield(self._looking)

    async def run(
        self, fn: Callable[Concatenate[HostReading, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a store function on a thread. Raises `StorageUnavailable` and `StorageBusy`.

        Tables that are others than they were are looked at anew at once, so that the first to ask hears what
        every later one does: which table or column is not there.
        """
        try:
            return await self._asked(fn, *args, **kwargs)
        except HostMoved:
            self._kinds, self._pause_until = None, 0.0
            await self.kinds()
            raise

    async def close(self) -> None:
        """Give connections and threads back."""
        if self._looking is not None:
            self._looking.cancel()
        await self.database.close()

    async def _first_look(self) -> Mapping[str, Held]:
        try:
            await self.look()
            return self._kinds or {}
        except Invalid as error:
            raise _told(error) from error
        finally:
            self._looking = None

    async def _asked(
        self, fn: Callable[Concatenate[HostReading, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        try:
            answer = await self.database.run(fn, *args, **kwargs)
        except MemorandaError as error:
            self._tell(error)
            raise
        self._tell(None)
        return answer

    def _tell(self, fault: MemorandaError | None) -> None:
        if fault is not None:
            self._pause_until = time.monotonic() + PAUSE_SECONDS
        if _state(fault) != _state(self.fault):
            if fault is None:
                logger.warning("The application's database answers again.")
            else:
                logger.warning(
                    "Sources of application state fail until they can be read. %s", fault.message
                )
        self.fault = fault


def _told(fault: MemorandaError) -> MemorandaError:
    """The fault as whoever asks for rows is told of it, who is not to blame for what was declared."""
    return HostMoved(fault.message, **fault.details) if isinstance(fault, Invalid) else fault


def _state(fault: MemorandaError | None) -> bool | None:
    """Whether the database is away or has to be corrected; None where it is neither."""
    return None if fault is None else is_away(fault)


def is_away(error: BaseException) -> bool:
    """Whether the database may be back by itself; else what is declared of it has to be corrected."""
    return isinstance(error, StorageUnavailable | StorageBusy)
