"""The OpenAI Agents SDK's SQLiteSession as a side: items of a session, each a row of JSON."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from places import Place
from rivals import sqlite_path
from turns import LONG, MANY, SHORT, TURN, Turns, said


@asynccontextmanager
async def session(place: Place, rounds: int) -> AsyncIterator[list[Turns]]:
    """The session on a file of its own; nothing on PostgreSQL, for which it has none. Raises ImportError."""
    if place.kind != "sqlite":
        yield []
        return
    kept = importlib.import_module("agents").SQLiteSession
    path = sqlite_path(place.empty())
    opened: dict[str, Any] = {}

    def of(name: str) -> Any:
        if name not in opened:
            opened[name] = kept(name, path)
        return opened[name]

    # Each session keeps a connection for each thread that it is used on: one thread, and not too many of them.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    turns = 5
    for number in range((rounds + 1) * turns):
        await of(f"short {number}").add_items(items(0, SHORT))
    for name, length in (("long", LONG), ("many", MANY)):
        await of(name).add_items(items(0, length))
    numbers = count()

    async def append(length: int) -> None:
        name = f"short {next(numbers)}" if length == SHORT else "long"
        await of(name).add_items(items(length, TURN))

    async def load() -> int:
        return len(await of("many").get_items())

    try:
        yield [Turns("SQLiteSession", append, load, None, turns)]
    finally:
        for each in opened.values():
            each.close()


def items(first: int, most: int) -> list[Any]:
    """So many messages as the SDK's own input items: a call is one by itself."""
    return [item for number in range(first, first + most) for item in _items(said(number))]


def _items(made: dict[str, Any]) -> list[Any]:
    if isinstance(made["content"], str):
        return [made]
    return [_item(made["role"], block) for block in made["content"]]


def _item(role: str, block: dict[str, Any]) -> Any:
    if block["type"] == "tool_call":
        told = {"call_id": block["id"], "name": block["name"], "arguments": block["arguments"]}
        return {"type": "function_call", **told}
    if block["type"] == "tool_result":
        told = {"call_id": block["tool_call_id"], "output": block["content"]}
        return {"type": "function_call_output", **told}
    return {"role": role, "content": [{"type": "output_text", "text": block["text"]}]}
