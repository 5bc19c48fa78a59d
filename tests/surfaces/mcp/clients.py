"""The official client, over pipes to the real command and over HTTP to a real server."""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.surfaces.cli.terminal import RUN

SOURCE = str(Path(__file__).parents[3] / "src")
ERAS = ("legacy", "auto")
"""The handshake of 2025, and what came after it: a request that says all by itself."""
PATIENCE = 60
IDEMPOTENCY_KEY = "memoranda/idempotency-key"


def environment(**env: str) -> dict[str, str]:
    """What a process of ours needs: this checkout first."""
    path = os.pathsep.join([SOURCE, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **env}


def command(db: str, *words: str, **env: str) -> StdioServerParameters:
    """How a client starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", RUN, "mcp", "--db", db, *words],
        env=environment(**env),
    )


@asynccontextmanager
async def over_pipes(
    db: str, *words: str, mode: str = "legacy", **env: str
) -> AsyncIterator[Client]:
    """A client that starts `memoranda mcp` for itself."""
    transport = stdio_client(command(db, *words, **env))
    async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
        yield client


@asynccontextmanager
async def over_http(url: str, key: str, *, mode: str = "legacy") -> AsyncIterator[Client]:
    """A client of a running server, with a key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
            yield client


async def done(client: Client, tool: str, *, key: str | None = None, **arguments: Any) -> Any:
    """Call a tool that has to succeed; what it answered."""
    result = await called(client, tool, key=key, **arguments)
    assert not result.is_error, result.structured_content
    return result.structured_content


async def refused(client: Client, tool: str, *, key: str | None = None, **arguments: Any) -> Any:
    """Call a tool that has to refuse; the refusal."""
    result = await called(client, tool, key=key, **arguments)
    assert result.is_error, result.structured_content
    return result.structured_content


async def called(client: Client, tool: str, *, key: str | None = None, **arguments: Any) -> Any:
    """Call a tool, and check that both halves of the result say the same."""
    meta = None if key is None else {IDEMPOTENCY_KEY: key}
    result = await client.call_tool(tool, arguments, meta=meta)
    [text] = result.content
    assert json.loads(text.text) == result.structured_content
    return result


async def all_pages(page: Callable[[str | None], Any]) -> list[Any]:
    """The pages of a list, to its end."""
    pages, cursor = [], None
    while True:
        pages.append(await page(cursor))
        cursor = pages[-1].next_cursor
        if cursor is None:
            return pages
