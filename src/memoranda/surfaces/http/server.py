"""Serves the HTTP application, by default to this machine alone."""

import asyncio
import ipaddress
import signal
from typing import Final

import uvicorn

from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.app import create_app
from memoranda.surfaces.http.errors import UnsafeBind

GRACE_SECONDS: Final = 10
"""How long open requests may take to end once the server is told to stop."""


def serve(settings: Settings) -> None:
    """Open the database and serve until a signal says to stop; with `settings.worker`, work as well.

    Raises `UnsafeBind` for an address that other machines can reach without a secret, and
    whatever opening the database raises.
    """
    check_bind(settings)
    asyncio.run(_serve(settings))


def check_bind(settings: Settings) -> None:
    """Refuse to listen where other machines can reach us, unless a secret was set for that."""
    if is_loopback(settings.host) or settings.secret is not None:
        return
    raise UnsafeBind(
        f"{settings.host} can be reached from other machines, and keys would travel to it in the "
        "open. Put a proxy with TLS in front and set MEMORANDA_SECRET to a long random text, or "
        "listen on 127.0.0.1.",
        host=settings.host,
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`; a name but `localhost` is never sure to be."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _serve(settings: Settings) -> None:
    async with Memoranda.open(settings=settings) as memoranda:
        app = create_app(memoranda, work=settings.worker)
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            access_log=False,  # addresses hold names that people chose, and logs hold no text
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        # The server raises the signal that stopped it once more; the database still has to be closed.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        await uvicorn.Server(config).serve()
