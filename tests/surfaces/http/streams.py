"""A real server in the test's own loop, and a client that reads its stream of events as a browser would."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import uvicorn

from memoranda.access.models import Role
from memoranda.app import Memoranda
from memoranda.runs.events.store import record_event
from memoranda.settings import Settings
from memoranda.surfaces.http.app import create_app
from memoranda.surfaces.http.server import Server

PATIENCE_S = 20


class Message(NamedTuple):
    """One message of a stream; without data, a browser keeps its id and tells nobody."""

    id: int | None
    event: str
    data: str


@dataclass
class Served:
    """A running server, the product behind it, and an owner's key."""

    memoranda: Memoranda
    server: Server
    url: str
    key: str

    def client(self, key: str | None = None) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE_S)

    async def change(self, times: int = 1, **audience: Any) -> None:
        """Change something, and say so as a write of memories does."""
        organization_id = self.memoranda.owner.organization_id
        assert organization_id is not None
        for _ in range(times):
            await self.memoranda.storage.write(
                organization_id, record_event, "memory.updated", action="created", **audience
            )
            self.memoranda.events.wake(organization_id)

    @property
    def feeds(self) -> dict[UUID, Any]:
        return self.memoranda.events._feeds


@asynccontextmanager
async def served(database: str, *, pause_s: float = 60) -> AsyncIterator[Served]:
    """Serve the database; streams say that they live every `pause_s` seconds."""
    settings = Settings(embedder="none")
    async with Memoranda.open(database, settings=settings, migrate=False) as opened:
        opened.events._pause = timedelta(seconds=pause_s).total_seconds()
        key = (await opened.access.create_key(opened.owner, Role.OWNER)).key
        config = uvicorn.Config(create_app(opened), log_level="warning")
        server = Server(config, opened.events)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            running = asyncio.ensure_future(server.serve(sockets=[listening]))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            try:
                yield Served(opened, server, url, key)
            finally:
                server.should_exit = True
                await asyncio.wait_for(running, PATIENCE_S)


class Stream:
    """What a client has read of a stream; comments are kept apart."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.comments: list[str] = []
        self._lines = response.aiter_lines()

    async def next(self) -> Message | None:
        """The next message, or None at the end of the stream."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(PATIENCE_S):
            async for line in self._lines:
                name, _, value = line.partition(":")
                if line and not name:
                    self.comments.append(value.strip())
                elif line:
                    fields[name] = value.removeprefix(" ")
                elif fields:
                    number = int(fields["id"]) if "id" in fields else None
                    return Message(number, fields.get("event", ""), fields.get("data", ""))
        return None

    async def events(self, how_many: int) -> list[int]:
        """The numbers of the next so many messages that carry data."""
        found: list[int] = []
        while len(found) < how_many:
            message = await self.next()
            assert message is not None
            if message.data:
                assert message.id is not None
                found.append(message.id)
        return found


@asynccontextmanager
async def streaming(
    client: httpx.AsyncClient, path: str = "/v1/events", last: int | None = None
) -> AsyncIterator[Stream]:
    """Follow the events until the block ends; `last` is what a browser that comes back sends."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with client.stream("GET", path, headers=headers) as response:
        yield Stream(response)
