"""The server of many clients, over HTTP: each request stands by itself, and no session is kept."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from memoranda.access.models import Principal
from memoranda.access.rates.service import Rate
from memoranda.app import Memoranda
from memoranda.surfaces.mcp.door import Room
from memoranda.surfaces.mcp.server import make_server
from memoranda.tools.models import ToolOffer
from memoranda.words.hosts import is_loopback

if TYPE_CHECKING:
    from memoranda.surfaces.mcp.door import Context

PATH: Final = "/mcp"
_HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
_LOCAL: Final = TransportSecuritySettings(
    allowed_hosts=[each for name in _HOSTS for each in (name, f"{name}:*")],
    allowed_origins=[each for name in _HOSTS for each in (f"http://{name}", f"http://{name}:*")],
)
"""What only this machine reaches is asked by its own names alone, so that no page can pose as it."""
_ANYWHERE: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""A server for other machines stands behind a proxy, whose names nobody here knows."""


class KeyDoor:
    """Lets in whoever the key of a request speaks for; another request's key says nothing about it."""

    def __init__(self, memoranda: Memoranda) -> None:
        self._memoranda = memoranda

    def greeted(self) -> None:
        """Nothing is left to begin: the product is open."""

    async def enter(self, context: "Context") -> Room:
        """The room of the request's caller, whom the HTTP surface found by its key."""
        who: Principal = context.request.state.caller  # type: ignore[union-attr]  # HTTP always gives one
        return Room(who, self._memoranda.tools, partial(self._count, who))

    async def offers(self, context: "Context") -> Sequence[ToolOffer]:
        """What the caller may call."""
        room = await self.enter(context)
        return await room.tools.offers(room.who)

    async def _count(self, who: Principal, tool: str | None) -> None:
        """Count a request beside those of the routes."""
        rate = Rate.LISTS if tool is None else self._memoranda.tools.rate_of(tool)
        await self._memoranda.rates.count(who, rate)


class Endpoint:
    """The server as an application, which stands behind whoever reads the key and bounds the body."""

    path: Final = PATH

    def __init__(
        self, server: Server[Any], *, host: str, most_bytes: int, plain: bool = True
    ) -> None:
        self._local = is_loopback(host)
        self._sessions = StreamableHTTPSessionManager(
            server,
            stateless=True,
            json_response=plain,
            security_settings=_LOCAL if self._local else _ANYWHERE,
            max_request_body_size=most_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within the block."""
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; a client that leaves calls it off."""
        refusal = _misplaced(scope, local=self._local)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await _attended(self._sessions, scope, receive, send)


def make_endpoint(memoranda: Memoranda) -> Endpoint:
    """The endpoint of an opened product."""
    settings = memoranda.settings
    server = make_server(KeyDoor(memoranda))
    return Endpoint(server, host=settings.host, most_bytes=settings.max_body_bytes)


def _misplaced(scope: Scope, *, local: bool) -> Response | None:
    """The refusal of a request that this server has no use for."""
    if scope["method"] != "POST":
        # There is nothing to listen to and no session to end.
        return Response(status_code=405, headers={"Allow": "POST"})
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if not local and origin is not None and origin.partition("://")[2] != headers.get("host"):
        return Response("Invalid Origin header", status_code=403)
    return None


async def _attended(
    sessions: StreamableHTTPSessionManager, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve one request for as long as its client is there."""
    body = await _body(receive)
    if body is None:
        return
    gone = anyio.Event()
    given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        if given:
            return given.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        await sessions.handle_request(scope, replay, send)
        tasks.cancel_scope.cancel()


async def _body(receive: Receive) -> bytes | None:
    """The whole body, which whoever calls has bounded; None where the client left amid it."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
