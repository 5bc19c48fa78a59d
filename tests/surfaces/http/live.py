"""A real server on a port of this machine, in a thread, for clients that want a socket."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any

import uvicorn

from memoranda.access.models import Role
from memoranda.app import Memoranda
from memoranda.surfaces.http.app import create_app
from memoranda.surfaces.http.beside import Beside
from memoranda.surfaces.http.server import Server


@dataclass(frozen=True)
class Live:
    """Where the server answers, and an owner's key for it."""

    url: str
    key: str


@contextmanager
def live_server(
    database_url: str, *, beside: Callable[[Memoranda], Beside] | None = None
) -> Iterator[Live]:
    """Serve the database until the block ends, with the worker that `serve` runs."""
    started: Future[Live] = Future()
    stop: list[uvicorn.Server] = []
    thread = Thread(target=_run, args=(database_url, started, stop, beside))
    thread.start()
    try:
        yield started.result(timeout=30)
    finally:
        for server in stop:
            server.should_exit = True
        thread.join(timeout=30)
    assert not thread.is_alive(), "the server did not stop"


def _run(
    database_url: str, started: "Future[Live]", stop: list[uvicorn.Server], beside: Any
) -> None:
    try:
        asyncio.run(_serve(database_url, started, stop, beside))
    except BaseException as error:
        if started.done():
            raise
        started.set_exception(error)


async def _serve(
    database_url: str, started: "Future[Live]", stop: list[uvicorn.Server], beside: Any
) -> None:
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        key = await memoranda.access.create_key(memoranda.owner, Role.OWNER)
        also = [] if beside is None else [beside(memoranda)]
        app = create_app(memoranda, work=True, beside=also)
        server = Server(uvicorn.Config(app, log_level="warning"), memoranda.events)
        stop.append(server)
        # It listens from here on: who connects before the server accepts waits for it.
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            started.set_result(Live(f"http://127.0.0.1:{port}", key.key))
            await server.serve(sockets=[listening])
