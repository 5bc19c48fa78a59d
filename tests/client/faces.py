"""Both clients before one application in process, with a network that a test can break."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio.from_thread
import anyio.to_thread
import httpx

from memoranda.client import AsyncClient, Client, Retries

BASE = "http://memoranda.test"
Fault = Callable[[httpx.Request], httpx.Response | Exception | None]


@dataclass
class Network:
    """What carries requests to the application: in order, or, once for each fault, not at all or not back."""

    app: Any
    faults: list[Fault] = field(default_factory=list)
    sent: list[httpx.Request] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def carry(self, request: httpx.Request, body: bytes) -> httpx.Response:
        whole = httpx.Request(request.method, request.url, headers=_plain(request), content=body)
        self.sent.append(whole)
        fault = self.faults.pop(0)(whole) if self.faults else None
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            return fault
        response = await httpx.ASGITransport(self.app).handle_async_request(whole)
        content = await response.aread()
        return httpx.Response(response.status_code, headers=response.headers, content=content)


def _plain(request: httpx.Request) -> list[tuple[bytes, bytes]]:
    """The headers, less those that say how the body was to be carried."""
    carried = {b"transfer-encoding", b"content-length"}
    return [pair for pair in request.headers.raw if pair[0].lower() not in carried]


class Awaited(httpx.AsyncBaseTransport):
    """The network, for the client whose answers are awaited."""

    def __init__(self, network: Network) -> None:
        self._network = network

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = b"".join([part async for part in request.stream])  # type: ignore[union-attr]  # an asynchronous one
        return await self._network.carry(request, body)


class Blocking(httpx.BaseTransport):
    """The network, for the client that waits in a thread of its own."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = b"".join(request.stream)  # type: ignore[arg-type]  # a synchronous one
        return anyio.from_thread.run(self._network.carry, request, body)


@dataclass
class Face:
    """One of the clients, asked in the same way as the other."""

    client: Any
    network: Network
    awaits: bool

    async def __call__(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What the verb answers."""
        if self.awaits:
            answer: Awaitable[Any] = verb(*args, **kwargs)
            return await answer
        return await anyio.to_thread.run_sync(partial(verb, *args, **kwargs))

    async def all(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
        """All that the verb goes through."""
        if self.awaits:
            several: AsyncIterator[Any] = verb(*args, **kwargs)
            return [each async for each in several]
        return await anyio.to_thread.run_sync(lambda: list(verb(*args, **kwargs)))


def face(app: Any, key: str | None, *, awaits: bool, retries: Retries | None = None) -> Face:
    """A client for the holder of the key, who never really waits between attempts."""
    network = Network(app)
    if awaits:
        client: Any = AsyncClient(BASE, key, retries=retries, transport=Awaited(network))

        async def sleep(seconds: float) -> None:
            network.slept.append(seconds)

        client.memories.asking._sleep = sleep
    else:
        client = Client(BASE, key, retries=retries, transport=Blocking(network))
        client.memories.asking._sleep = network.slept.append
    return Face(client, network, awaits)


def answered(status: int, code: str, **headers: str) -> Fault:
    """A fault: the server answers with this problem."""
    problem = {"code": code, "detail": "Not now.", "status": status}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx.Response(status, json=problem, headers=named)


def never_sent(request: httpx.Request) -> Exception:
    """A fault: the server can't be reached."""
    return httpx.ConnectError("refused", request=request)


def lost(request: httpx.Request) -> Exception:
    """A fault: the connection breaks before the answer is there."""
    return httpx.ReadError("broken", request=request)
