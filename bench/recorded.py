"""Records the statements that the product runs, so that a raw program can run exactly the same."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from memoranda.storage import Scope, Storage, Transaction
from memoranda.storage.database import backend_of, database_url
from memoranda.storage.dialects.base import Backend
from memoranda.storage.transaction import Cursor
from memoranda.storage.work import Work
from memoranda.words.clock import system_clock


@dataclass
class Executed:
    """One statement with its parameters, as the driver was given them, and what was read of it."""

    sql: str
    parameters: Any
    many: bool = False
    read: str = ""


Recording = list[Executed]


def _plain(parameters: Any) -> Any:
    """Parameters without enumerations: a raw program would write plain text."""
    if isinstance(parameters, Mapping):
        return {name: _plain_value(value) for name, value in parameters.items()}
    return tuple([_plain_value(value) for value in parameters])


def _plain_value(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


class _Undone(Exception):
    def __init__(self, value: object) -> None:
        self.value = value


class _RecordingCursor:
    def __init__(self, cursor: Cursor, recording: Recording) -> None:
        self._cursor = cursor
        self._recording = recording

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def execute(self, sql: Any, parameters: Any = (), /) -> object:
        self._recording.append(Executed(sql, _plain(parameters)))
        return self._cursor.execute(sql, parameters)

    def executemany(self, sql: Any, parameters: Any, /) -> object:
        self._recording.append(Executed(sql, [_plain(row) for row in parameters], many=True))
        return self._cursor.executemany(sql, parameters)

    def fetchall(self) -> list[Any]:
        self._recording[-1].read = "all"
        return self._cursor.fetchall()

    def fetchone(self) -> Any:
        self._recording[-1].read = "one"
        return self._cursor.fetchone()


class _RecordingStorage(Storage):
    """Runs writes to their end and takes them back, so that the raw program can do them again."""

    async def write(self, scope: Scope, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        def undone(tx: Transaction) -> object:
            raise _Undone(fn(tx, *args, **kwargs))

        try:
            return await super().write(scope, undone)
        except _Undone as undone_write:
            return undone_write.value


async def record(
    url: str, verbs: Sequence[Callable[[Storage], Awaitable[object]]]
) -> list[Recording]:
    """Run each verb on the database and return its statements, without BEGIN and COMMIT.

    What the verbs wrote is taken back.
    """
    log: Recording = []
    kind = backend_of(url)

    def run(self: Any, work: Work[Any], cursor: Cursor) -> Any:
        return kind.run(self, work, _RecordingCursor(cursor, log))

    backend: Callable[..., Backend] = type("Recorded", (kind,), {"run": run})
    opened = backend(database_url(url), system_clock)
    opened.open()
    recordings: list[Recording] = []
    try:
        for verb in verbs:
            log.clear()
            await verb(_RecordingStorage(opened))
            recordings.append(list(log))
    finally:
        opened.close()
    return recordings


def replay(cursor: Cursor, recording: Recording) -> None:
    """Run the statements as they were run, reading what was read."""
    for each in recording:
        if each.many:
            cursor.executemany(each.sql, each.parameters)
        else:
            cursor.execute(each.sql, each.parameters)
        if each.read == "all":
            cursor.fetchall()
        elif each.read == "one":
            cursor.fetchone()
