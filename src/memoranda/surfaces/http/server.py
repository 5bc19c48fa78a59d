"""The server of the HTTP application: where it may listen, and how it stops."""

import socket

import uvicorn

from memoranda.runs.events.service import Events
from memoranda.settings import Settings
from memoranda.surfaces.http.errors import UnsafeBind
from memoranda.words.hosts import is_loopback


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


class Server(uvicorn.Server):
    """Ends what is streamed as soon as it stops, where it would else wait for clients to leave."""

    def __init__(self, config: uvicorn.Config, events: Events) -> None:
        super().__init__(config)
        self._events = events

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in order: no stream goes on, and what was asked for is answered."""
        await self._events.close()
        await super().shutdown(sockets)
