"""SQLite: a pool of reader threads, and one writer that commits what is queued together."""

import re
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar, Final, TypeAlias

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Connection, Dialect, make_url

from memoranda.storage.dialects import sqlite_schema
from memoranda.storage.dialects.base import Backend
from memoranda.storage.dialects.sqlite_writer import Writer
from memoranda.storage.errors import ConstraintViolated, StorageBusy, StorageUnavailable
from memoranda.storage.transaction import Cursor
from memoranda.storage.work import Work

READERS: Final = 4
# How long a statement waits for another process's write before it answers storage_busy.
BUSY_SECONDS: Final = 10.0
_STOP: Final = None
_Queue: TypeAlias = SimpleQueue["Work[Any] | None"]


class SqliteBackend(Backend):
    """One file, one writer, WAL; acknowledged writes are on the disk (`synchronous=FULL`)."""

    dialect: ClassVar[Dialect] = SQLiteDialect_pysqlite(paramstyle="qmark")

    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        super().__init__(url, clock)
        self.path = Path(make_url(url).database or "")
        self._reads: _Queue = SimpleQueue()
        self._writes: _Queue = SimpleQueue()
        self._threads: list[Thread] = []

    def open(self) -> None:
        writer = Writer(self, connect(self.path))
        self._threads = [
            Thread(target=writer.run, args=(self._writes,), name="memoranda-writer", daemon=True)
        ]
        for number in range(READERS):
            arguments = (connect(self.path, readonly=True),)
            self._threads.append(
                Thread(
                    target=self._read,
                    args=arguments,
                    name=f"memoranda-reader-{number}",
                    daemon=True,
                )
            )
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._writes.put(_STOP)
        for _ in range(READERS):
            self._reads.put(_STOP)
        for thread in self._threads:
            thread.join()

    def submit_read(self, work: Work[Any]) -> None:
        self._reads.put(work)

    def submit_write(self, work: Work[Any]) -> None:
        self._writes.put(work)

    def _read(self, connection: sqlite3.Connection) -> None:
        cursor = connection.cursor()
        while (work := self._reads.get()) is not _STOP:
            if not work.begin(connection.interrupt):
                continue
            try:
                cursor.execute("BEGIN")
                value = work.run(self.transaction(work.scope, cursor))
            except Exception as error:  # noqa: BLE001 - whatever the function raised belongs to its caller
                work.end()
                work.fail(self.failure(error))
            else:
                work.end()
                work.succeed(value)
            if connection.in_transaction:
                cursor.execute("ROLLBACK")
        connection.close()

    @staticmethod
    def lock(cursor: Cursor, key: str) -> None:
        """There is one writer, and it holds everything."""

    @staticmethod
    def failure(error: Exception) -> Exception:
        if isinstance(error, sqlite3.IntegrityError):
            return ConstraintViolated(_constraint(str(error)))
        if not isinstance(error, sqlite3.OperationalError):
            return error
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return StorageBusy(
                "The database is held by another process. Nothing was written: try again."
            )
        if error.sqlite_errorcode & 0xFF in {
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_CANTOPEN,
        }:
            return StorageUnavailable(
                f"The database file can't be written ({error}). Free some space, then try again."
            )
        return error

    @staticmethod
    def install(connection: Connection) -> None:
        for statement in sqlite_schema.statements():
            connection.exec_driver_sql(statement)


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection with the product's settings; transactions are begun and ended by hand."""
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    # secure_delete overwrites what is deleted, so that a forgotten text leaves the file.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")
    if readonly:
        connection.execute("PRAGMA query_only=ON")
    return connection


def _constraint(message: str) -> str:
    """The constraint's name: SQLite says it for checks and triggers, and names only columns for keys."""
    found = re.match(
        r"(?:CHECK constraint failed: |UNIQUE constraint failed: index ')?(\w+)'?$", message
    )
    if found:
        return found[1]
    columns = message.partition("failed: ")[2]
    return sqlite_schema.constraint_over(columns) or columns or message
