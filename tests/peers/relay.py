"""Stands before a server for a client that can send no key, and knows other names for what is there."""

import asyncio
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any

import httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HOP = {"connection", "content-length", "transfer-encoding", "keep-alive"}


class Relay:
    """Hands requests on with a key, under the Host that they came for; `names` go in as keys, out as values."""

    def __init__(self, url: str, key: str, names: Mapping[str, Any]) -> None:
        self._url = url
        self._key = key
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        headers = [(k, v) for k, v in request.headers.items() if k not in HOP]
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.request(
                request.method,
                f"{self._url}{request.url.path}",
                content=self._renamed(await request.body()),
                headers=[*headers, ("authorization", f"Bearer {self._key}")],
            )
        kept = {k: v for k, v in answer.headers.items() if k not in HOP}
        await Response(answer.content, answer.status_code, kept)(scope, receive, send)

    def _renamed(self, body: bytes) -> bytes:
        """The body with the names that the server knows."""
        try:
            message = json.loads(body)
        except ValueError:
            return body
        params = message.get("params") or {}
        for field in ("name", "uri"):
            if params.get(field) in self._names:
                params |= self._names[params[field]]
        return json.dumps(message).encode()


@contextmanager
def served(application: Any) -> Iterator[str]:
    """Serve an application on a port of this machine until the block ends; its address."""
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning", lifespan="auto"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)
    assert not thread.is_alive(), "the relay did not stop"
