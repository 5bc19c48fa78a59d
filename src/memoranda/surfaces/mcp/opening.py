"""Opens the product beside the protocol: no handshake waits for it, and a failure is told to who asks."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.words.errors import MemorandaError, Unavailable

if TYPE_CHECKING:
    from memoranda.access.models import Principal
    from memoranda.app import Memoranda

logger: Final = logging.getLogger(__name__)

AGAIN_AFTER_S: Final = 1.0
"""How long a failure to open stands before the next who asks has it tried again."""
PRODUCT: Final = "memoranda.app"


class Opened(NamedTuple):
    """The opened product, and in whose name it is used where no key says so."""

    memoranda: "Memoranda"
    who: "Principal"


Open = Callable[[], AbstractAsyncContextManager[Opened]]


class Opening:
    """Keeps the product open from when it is first needed until `close`."""

    def __init__(self, open_: Open) -> None:
        self._open = open_
        self._found: asyncio.Future[Opened] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._failed_at: float | None = None
        self._closing = asyncio.Event()

    def begin(self) -> None:
        """Open it, unless it is open, is being opened, or has just failed to."""
        fresh = self._found is None
        stale = self._failed_at is not None and time.monotonic() > self._failed_at + AGAIN_AFTER_S
        if (fresh or stale) and not self._closing.is_set():
            self._failed_at = None
            self._found = asyncio.get_running_loop().create_future()
            self._keeping = asyncio.create_task(self._keep(self._found))

    async def opened(self) -> Opened:
        """The product, once it is open. Raises the `MemorandaError` that keeps it shut."""
        self.begin()
        if self._found is None:
            raise Unavailable("The server is stopping; nothing waits for it. Try again soon.")
        return await asyncio.shield(self._found)

    async def close(self) -> None:
        """Close it in order."""
        self._closing.set()
        if self._keeping is not None:
            await self._keeping

    async def _keep(self, found: "asyncio.Future[Opened]") -> None:
        try:
            # What it is made of takes long to load, and the handshake is not to wait for it.
            await asyncio.to_thread(import_module, PRODUCT)
            async with self._open() as opened:
                found.set_result(opened)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - whoever asks for the product is told
            self._fail(found, error)

    def _fail(self, found: "asyncio.Future[Opened]", error: Exception) -> None:
        if found.done():
            logger.error("The database was not closed as it should be (%s).", type(error).__name__)
            return
        self._failed_at = time.monotonic()
        if not isinstance(error, MemorandaError):
            error = Unavailable(f"The database can't be opened ({type(error).__name__}).")
        logger.error("%s", error.message)
        found.set_exception(error)
        found.exception()  # it is told to who asks, and nobody may
