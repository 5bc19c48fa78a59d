"""LangGraph's SqliteSaver and PostgresSaver as sides: a thread's checkpoint holds the whole list of messages."""

import importlib
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from itertools import count
from typing import Any

import psycopg
from places import Place
from psycopg.rows import dict_row
from rivals import sqlite_path
from turns import LONG, MANY, SHORT, TURN, Turns, said


@asynccontextmanager
async def checkpointer(place: Place, rounds: int) -> AsyncIterator[list[Turns]]:
    """The checkpointer of the place's kind. Raises ImportError where it is not installed."""
    kind = "Sqlite" if place.kind == "sqlite" else "Postgres"
    module = importlib.import_module(f"langgraph.checkpoint.{kind.lower()}")
    with connection(place) as opened:
        saver = getattr(module, f"{kind}Saver")(opened)
        saver.setup()
        threads = Threads(saver)
        turns = 2
        for number in range((rounds + 1) * turns):
            threads.begin(f"short {number}", SHORT)
        threads.begin("long", LONG)
        threads.begin("many", MANY)
        threads.begin("saved", MANY)
        numbers = count()

        async def append(length: int) -> None:
            threads.go_on(f"short {next(numbers)}" if length == SHORT else "long")

        async def load() -> int:
            return threads.length("many")

        async def save() -> None:
            threads.go_on("saved")

        note = "writes the whole list each time"
        yield [Turns(f"{kind}Saver", append, load, save, turns, note)]


class Threads:
    """Threads of one checkpointer, each with the list of messages that its graph would hold in memory."""

    def __init__(self, saver: Any) -> None:
        self._saver = saver
        self._lists: dict[str, list[Any]] = {}
        self._configs: dict[str, Any] = {}
        self._empty = importlib.import_module("langgraph.checkpoint.base").empty_checkpoint
        self._kinds = importlib.import_module("langchain_core.messages")

    def begin(self, thread: str, length: int) -> None:
        """A thread of so many messages."""
        self._lists[thread] = [self._message(number) for number in range(length)]
        self._configs[thread] = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        self._put(thread)

    def go_on(self, thread: str) -> None:
        """A turn more: one checkpoint, where a graph writes several."""
        there = self._lists[thread]
        there += [self._message(number) for number in range(len(there), len(there) + TURN)]
        self._put(thread)

    def length(self, thread: str) -> int:
        """How many messages a thread is read with."""
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        return len(self._saver.get_tuple(config).checkpoint["channel_values"]["messages"])

    def _put(self, thread: str) -> None:
        version = f"{len(self._lists[thread]):032}"
        checkpoint = self._empty()
        checkpoint["channel_values"] = {"messages": self._lists[thread]}
        checkpoint["channel_versions"] = {"messages": version}
        metadata = {"source": "loop", "step": 1}
        self._configs[thread] = self._saver.put(
            self._configs[thread], checkpoint, metadata, {"messages": version}
        )

    def _message(self, number: int) -> Any:
        made = said(number)
        content = made["content"]
        if made["role"] == "user":
            return self._kinds.HumanMessage(content=content)
        if made["role"] == "tool":
            (result,) = content
            return self._kinds.ToolMessage(
                content=result["content"], tool_call_id=result["tool_call_id"]
            )
        calls = [
            {"id": block["id"], "name": block["name"], "args": json.loads(block["arguments"])}
            for block in content
            if block["type"] == "tool_call"
        ]
        texts = [block for block in content if block["type"] == "text"]
        return self._kinds.AIMessage(content=texts, tool_calls=calls)


@contextmanager
def connection(place: Place) -> Iterator[Any]:
    """A connection as the checkpointer makes them: durable, and in the same process."""
    if place.kind == "sqlite":
        with closing(sqlite3.connect(sqlite_path(place.empty()), check_same_thread=False)) as file:
            yield file
    else:
        with psycopg.connect(
            place.empty(), autocommit=True, prepare_threshold=0, row_factory=dict_row
        ) as server:
            yield server
