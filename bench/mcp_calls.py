"""Measures calls of our tools over MCP beside the bare SDK's echo, over pipes and over HTTP, with the official client."""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
from databases import database_options
from made import text
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from measure import Result, arguments, compare, race, show
from places import Place, places
from served import COMMAND, served

from memoranda.access.models import Role
from memoranda.app import Memoranda

MEMORIES: Final = 500
CALLS: Final = 20
NEW: Final = 1_000_000
"""The first number of the texts that nobody has remembered."""
ECHO: Final = str(Path(__file__).parent / "mcp_echo.py")
UNHURRIED: Final = {"MEMORANDA_LISTS_PER_MINUTE": "0", "MEMORANDA_WRITES_PER_MINUTE": "0"}
"""Nobody is held back while measured."""

Call = Callable[[], Awaitable[object]]


def main() -> None:
    """Print a table for each database and way."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    parser.add_argument("--memories", type=int, default=MEMORIES, help="memories that there are")
    options = parser.parse_args()
    with places(options) as found:
        for place in found:
            for way, results in asyncio.run(measure(place, options)).items():
                show(f"MCP over {way}, {place.kind}", results, as_json=options.json)


async def measure(place: Place, options: argparse.Namespace) -> dict[str, list[Result]]:
    """Fill a database, and set each tool beside the echo over both ways."""
    db = place.empty()
    key, known = await fill(db, options.memories)
    numbers = itertools.count(NEW)
    results = {}
    async with echo_pipes() as rival, our_pipes(db) as client:
        results["pipes"] = await beside(client, rival, known, numbers, options.rounds)
    with served(db, UNHURRIED) as url, echo_http() as bare:
        async with over_http(url, key) as client, over_http(bare, "") as rival:
            results["HTTP"] = await beside(client, rival, known, numbers, options.rounds)
    return results


async def fill(url: str, memories: int) -> tuple[str, list[str]]:
    """Remember so many, with their vectors; an owner's key, and the ids."""
    async with Memoranda.open(url) as product:
        kept = [
            str((await product.memories.remember(product.owner, text(number))).id)
            for number in range(memories)
        ]
        await product.worker.drain()
        return (await product.access.create_key(product.owner, Role.OWNER)).key, kept


async def beside(
    client: Client, rival: Client, known: list[str], numbers: Iterator[int], rounds: int
) -> list[Result]:
    """Each tool beside the echo, which is given what `remember` is."""
    ids = itertools.cycle(known)
    tools: dict[str, Call] = {
        "remember": lambda: client.call_tool("remember", {"content": text(next(numbers))}),
        "recall": lambda: client.call_tool("recall", {"query": text(next(numbers))}),
        "list": lambda: client.call_tool("list", {}),
        "get": lambda: client.call_tool("get", {"memory_id": next(ids)}),
    }
    times = await race(
        {
            "echo": many(lambda: rival.call_tool("echo", {"text": text(7)})),
            **{name: many(call) for name, call in tools.items()},
        },
        rounds=rounds,
        operations=CALLS,
    )
    return [compare(name, times, ours=name, rival="echo") for name in tools]


def many(call: Call) -> Callable[[], Awaitable[None]]:
    """A round of calls, one after the other, each of which has to succeed."""

    async def round_() -> None:
        for _ in range(CALLS):
            result: Any = await call()
            assert not result.is_error, result.structured_content

    return round_


@asynccontextmanager
async def our_pipes(url: str) -> AsyncIterator[Client]:
    """A client of the command, which it starts."""
    async with started([*COMMAND, "mcp", "--db", url]) as client:
        yield client


@asynccontextmanager
async def echo_pipes() -> AsyncIterator[Client]:
    """A client of the bare SDK over pipes."""
    async with started([sys.executable, ECHO]) as client:
        yield client


@asynccontextmanager
async def started(command: list[str]) -> AsyncIterator[Client]:
    """A client of a server that it starts."""
    with tempfile.TemporaryFile("w") as ignored:
        words = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with Client(stdio_client(words, errlog=ignored), mode="legacy") as client:
            yield client


@asynccontextmanager
async def over_http(url: str, key: str) -> AsyncIterator[Client]:
    """A client of a running server."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        yield await stack.enter_async_context(Client(transport, mode="legacy"))


@contextmanager
def echo_http() -> Iterator[str]:
    """The bare SDK behind HTTP; its address."""
    with subprocess.Popen(
        [sys.executable, ECHO, "http"], stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout is not None
            yield str(json.loads(running.stdout.readline())["url"])
        finally:
            running.terminate()


if __name__ == "__main__":
    main()
