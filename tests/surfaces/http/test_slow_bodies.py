"""A body that pauses is given up, and a server that stops leaves no traceback behind."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn

from memoranda.access.models import Role
from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.app import create_app

PATIENCE_S = 20


@asynccontextmanager
async def served(database: str, idle_s: float) -> AsyncIterator[tuple[uvicorn.Server, int, str]]:
    """A server that waits `idle_s` for more of a body, with its port and an owner's key."""
    settings = Settings(body_idle_s=idle_s)
    async with Memoranda.open(database, settings=settings, migrate=False) as opened:
        key = (await opened.access.create_key(opened.owner, Role.OWNER)).key
        config = uvicorn.Config(
            create_app(opened), log_level="warning", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            running = asyncio.ensure_future(server.serve(sockets=[listening]))
            try:
                yield server, listening.getsockname()[1], key
            finally:
                server.should_exit = True
                await asyncio.wait_for(running, PATIENCE_S)


async def half_sent(
    port: int, key: str, path: str, content_type: str, beginning: str = '{"query": '
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: 500\r\n\r\n"
        f"{beginning}".encode()
    )
    await writer.drain()
    return reader, writer


async def rest(reader: asyncio.StreamReader) -> str:
    """All that comes until the server closes the connection."""
    return (await asyncio.wait_for(reader.read(), PATIENCE_S)).decode()


@pytest.mark.parametrize(
    ("path", "content_type", "beginning"),
    [
        ("/v1/briefs", "application/json", '{"query": '),
        ("/v1/knowledge/sources", "multipart/form-data; boundary=line", "--line\r\nContent-"),
    ],
)
async def test_a_body_that_pauses_is_refused_and_its_connection_closed(
    sqlite_database: str, path: str, content_type: str, beginning: str
) -> None:
    async with served(sqlite_database, 0.2) as (_, port, key):
        reader, writer = await half_sent(port, key, path, content_type, beginning)
        answer = await rest(reader)
        writer.close()
    assert answer.startswith("HTTP/1.1 408")
    assert "connection: close" in answer.lower()
    assert '"code": "slow_body"' in answer


async def test_a_body_that_trickles_is_read(sqlite_database: str) -> None:
    body = b'{"text": "Tea at four"}'
    async with served(sqlite_database, 1.0) as (_, port, key):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST /v1/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
        )
        for at in range(0, len(body), 4):
            writer.write(body[at : at + 4])
            await writer.drain()
            await asyncio.sleep(0.25)  # all together longer than one pause may be
        answer = await rest(reader)
        writer.close()
    assert answer.startswith("HTTP/1.1 201")


async def test_a_server_that_stops_amid_a_body_answers_and_logs_no_traceback(
    sqlite_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("uvicorn").addHandler(caplog.handler)
    try:
        async with served(sqlite_database, 60) as (server, port, key):
            logging.getLogger("uvicorn.error").addHandler(caplog.handler)
            reader, writer = await half_sent(port, key, "/v1/briefs", "application/json")
            await asyncio.sleep(0.3)
            server.should_exit = True
            answer = await rest(reader)
            writer.close()
    finally:
        for name in ("uvicorn", "uvicorn.error"):
            logging.getLogger(name).removeHandler(caplog.handler)
    assert answer.startswith("HTTP/1.1 503")
    assert '"code": "unavailable"' in answer
    assert [each for each in caplog.records if each.exc_info] == []
    assert "Traceback" not in caplog.text
