"""The server of one client that has started it, on standard input and output."""

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

import anyio

from memoranda.surfaces.mcp.door import Room
from memoranda.surfaces.mcp.opening import PRODUCT, Open, Opened, Opening
from memoranda.surfaces.mcp.pipes import STDIN, claim_output, pipes
from memoranda.surfaces.mcp.server import make_server
from memoranda.words.errors import Unavailable

if TYPE_CHECKING:
    from memoranda.access.models import Principal
    from memoranda.surfaces.mcp.door import Context
    from memoranda.tools.models import ToolOffer

KEY_PATIENCE_S: Final = 10.0
"""How long a list of tools waits for the database, which alone knows what a key may call."""

CATALOG: Final = "memoranda.surfaces.mcp.catalog"


class OwnDoor:
    """Lets in the one client that there is: as the database's owner, or as its key says, request by request."""

    def __init__(self, opening: Opening, key: str | None) -> None:
        self._opening = opening
        self._key = key

    def greeted(self) -> None:
        """Begin to open what will be asked for."""
        self._opening.begin()

    async def enter(self, _: "Context") -> Room:
        """Open the product if need be, and ask anew what the key opens."""
        opened = await self._opening.opened()
        who = await self._who(opened)
        return Room(who, opened.memoranda.tools)

    async def offers(self, context: "Context") -> "Sequence[ToolOffer]":
        """What the caller may call. An owner may call everything, so that no database is asked.

        While none can be, a key is offered everything too, and told at its calls what keeps them
        from being done: most clients ask for this list but once.
        """
        self._opening.begin()
        if self._key is None:
            return await asyncio.to_thread(_everything)
        try:
            with anyio.fail_after(KEY_PATIENCE_S):
                room = await self.enter(context)
                return await room.tools.offers(room.who)
        except (TimeoutError, Unavailable):
            return await asyncio.to_thread(_everything)

    async def _who(self, opened: Opened) -> "Principal":
        if self._key is None:
            return opened.who
        return await opened.memoranda.access.authenticate(self._key)


def _everything() -> "Sequence[ToolOffer]":
    """What there is, as an owner is offered it. It takes long to load what says so."""
    import_module(PRODUCT)  # first, as the opening does beside it: neither then finds half of it
    found: Sequence[ToolOffer] = import_module(CATALOG).catalog()
    return found


def serve_stdio(open_: Open, *, key: str | None = None) -> None:
    """Serve until the client leaves or a signal ends it. Nothing but messages goes to standard output."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="memoranda: %(message)s")
    sink = claim_output()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(open_, key, sink))


async def _serve(open_: Open, key: str | None, sink: int) -> None:
    opening = Opening(open_)
    server = make_server(OwnDoor(opening, key))
    try:
        with anyio.CancelScope() as scope:
            _stop_on_signals(scope)
            async with pipes(STDIN, sink) as (inbound, outbound):
                await server.run(inbound, outbound, server.create_initialization_options())
    finally:
        await opening.close()


def _stop_on_signals(scope: anyio.CancelScope) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Where a loop hears no signals, they end the process as they do by default.
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, scope.cancel)
