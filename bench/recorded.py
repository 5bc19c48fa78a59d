"""Records the statements that the product runs, so that a raw program can run exactly the same."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from queue import SimpleQueue
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
    sent: bool = False
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

    def send(self, sql: Any, parameters: Any = (), /) -> object:
        self._recording.append(Executed(sql, _plain(parameters), sent=True))
        return self._cursor.send(sql, parameters)

    def send_many(self, sql: Any, parameters: Any, /) -> object:
        rows = [_plain(row) for row in parameters]
        self._recording.append(Executed(sql, rows, many=True, sent=True))
        return self._cursor.send_many(sql, parameters)

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


class _InOneTransaction(Storage):
    """Runs all writes in one transaction, one after the other, and takes them back at the end.

    So each sees what those before it wrote: numbers that are dealt out in turn go on as they would.
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._waiting: SimpleQueue[tuple[Callable[..., Any], asyncio.Future[Any]] | None] = (
            SimpleQueue()
        )

    @asynccontextmanager
    async def within(self, scope: Scope) -> AsyncIterator[None]:
        """The length of the transaction; every write in it has to be of this scope."""
        serving = asyncio.ensure_future(super().write(scope, self._serve))
        try:
            yield
        finally:
            self._waiting.put(None)
            await asyncio.gather(serving, return_exceptions=True)

    async def write(self, scope: Scope, fn: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - all of one scope
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.put((partial(_called, fn, args, kwargs), answer))
        return await answer

    def _serve(self, tx: Transaction) -> None:
        while (next_one := self._waiting.get()) is not None:
            run, answer = next_one
            try:
                settle = partial(answer.set_result, run(tx))
            except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for the write
                settle = partial(answer.set_exception, error)
            answer.get_loop().call_soon_threadsafe(settle)
        raise _Undone(None)


def _called(fn: Any, args: Any, kwargs: Any, tx: Transaction) -> Any:
    return fn(tx, *args, **kwargs)


Verb = Callable[[Storage], Awaitable[object]]


async def record(url: str, verbs: Sequence[Verb]) -> list[Recording]:
    """Run each verb on the database and return its statements, without BEGIN and COMMIT.

    What a verb wrote is taken back before the next.
    """
    with _recording(url) as (backend, log):
        storage = _RecordingStorage(backend)
        return [await _recorded(verb, storage, log) for verb in verbs]


async def record_in_turn(url: str, scope: Scope, verbs: Sequence[Verb]) -> list[Recording]:
    """The same for verbs of one scope that are to be run again one after the other, and all be kept.

    What they wrote is taken back at the end.
    """
    with _recording(url) as (backend, log):
        storage = _InOneTransaction(backend)
        async with storage.within(scope):
            return [await _recorded(verb, storage, log) for verb in verbs]


async def _recorded(verb: Verb, storage: Storage, log: Recording) -> Recording:
    log.clear()
    await verb(storage)
    return list(log)


@contextmanager
def _recording(url: str) -> Iterator[tuple[Backend, Recording]]:
    """The database, opened so that whatever is run on it is also in the list."""
    log: Recording = []
    kind = backend_of(url)

    def run(self: Any, work: Work[Any], cursor: Cursor) -> Any:
        return kind.run(self, work, _RecordingCursor(cursor, log))

    backend: Callable[..., Backend] = type("Recorded", (kind,), {"run": run})
    opened = backend(database_url(url), system_clock)
    opened.open()
    try:
        yield opened, log
    finally:
        opened.close()


def replay(cursor: Cursor, recording: Recording) -> None:
    """Run the statements as they were run, sending what was sent and reading what was read."""
    for each in recording:
        if each.many:
            run = cursor.send_many if each.sent else cursor.executemany
        else:
            run = cursor.send if each.sent else cursor.execute
        run(each.sql, each.parameters)
        if each.read == "all":
            cursor.fetchall()
        elif each.read == "one":
            cursor.fetchone()
