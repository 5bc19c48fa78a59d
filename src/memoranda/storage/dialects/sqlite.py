"""SQLite: a crew of readers, and one writer that commits what is queued together."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlalchemy import Integer, Table, Uuid
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler, SQLiteIdentifierPreparer
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Connection, make_url

from memoranda.storage.compiler import ScopedCompiler, ScopedNames
from memoranda.storage.dialects import sqlite_schema
from memoranda.storage.dialects.base import Backend
from memoranda.storage.dialects.crew import Crew
from memoranda.storage.dialects.sqlite_connection import (
    BUSY_SECONDS,
    SqliteCursor,
    connect,
    look_while_running,
)
from memoranda.storage.dialects.sqlite_scrub import Scrubber
from memoranda.storage.dialects.sqlite_writer import Writer
from memoranda.storage.errors import ConstraintViolated, StorageBusy, StorageUnavailable
from memoranda.storage.scope import Scope
from memoranda.storage.statements import Dialects
from memoranda.storage.transaction import Cursor
from memoranda.storage.types import Contains, Joined, OneOf, OneOfPairs
from memoranda.storage.version import require_own, require_schema
from memoranda.storage.work import Work
from memoranda.words.errors import Invalid

__all__ = ["SqliteBackend", "connect"]

READERS: Final = 4


class _Compiler(ScopedCompiler, SQLiteCompiler):
    platform = False

    def visit_one_of(self, element: OneOf, **kw: Any) -> str:
        column, values = self.process(element.column, **kw), self.process(element.values, **kw)
        return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a parameter, rendered

    def visit_one_of_pairs(self, element: OneOfPairs, **kw: Any) -> str:
        first, second = self.process(element.first, **kw), self.process(element.second, **kw)
        values = self.process(element.values, **kw)
        types = self.dialect.type_compiler_instance
        kinds = [types.process(column.type) for column in (element.first, element.second)]
        # The casts give the values their columns' affinity, without which no index is used for both.
        parts = [f"CAST(json_extract(value, '$[{n}]') AS {kind})" for n, kind in enumerate(kinds)]
        return f"({first}, {second}) IN (SELECT {', '.join(parts)} FROM json_each({values}))"  # noqa: S608 - a parameter, rendered

    def visit_joined(self, element: Joined, **kw: Any) -> str:
        """Digits of bytes: what this database joins is text."""
        form = {Uuid: "{}", Integer: "printf('%08x', {})"}.get(type(element.column.type), "hex({})")
        return f"group_concat({form.format(self.process(element.column, **kw))}, '')"

    def visit_contains(self, element: Contains, **kw: Any) -> str:
        column, needle = self.process(element.column, **kw), self.process(element.needle, **kw)
        # An empty text would be at place 1 of everything.
        return f"(coalesce(instr({column}, nullif({needle}, '')), 0) > 0)"


class _PlatformCompiler(_Compiler):
    platform = True


class _Names(ScopedNames, SQLiteIdentifierPreparer):
    pass


class _Dialect(SQLiteDialect_pysqlite):
    supports_statement_cache = True
    statement_compiler = _Compiler
    preparer = _Names


class _PlatformDialect(_Dialect):
    supports_statement_cache = True
    statement_compiler = _PlatformCompiler


class SqliteBackend(Backend):
    """One file, one writer, WAL; acknowledged writes are on the disk (`synchronous=FULL`)."""

    dialects: ClassVar[Dialects] = Dialects(
        _Dialect(paramstyle="qmark"), _PlatformDialect(paramstyle="qmark")
    )
    shared = False
    compares_vectors = False

    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        super().__init__(url, clock)
        self.path = file_of(url)

    def open(self) -> None:
        require_schema(self.schema_version(self.url))
        self._writer = Writer(self, lambda: connect(self.path))
        self._scrubber = Scrubber(self.path, self._writer.between_commits)
        self._readers = Crew(
            "reader", [Reader(self, connect(self.path, readonly=True)) for _ in range(READERS)]
        )

    def close(self) -> None:
        self._readers.close()
        self._writer.close()

    def submit(self, work: Work[Any]) -> None:
        if work.writes:
            self._writer.submit(work)
        else:
            self._readers.submit(work)

    def scrub(self) -> bool:
        try:
            return self._scrubber.scrub()
        except sqlite3.Error as error:
            raise self.failure(error) from error

    def lock(self, cursor: Cursor, scope: Scope, key: str) -> None:
        """There is one writer, and it holds everything."""

    def sorts(self, cursor: Cursor, *, allowed: bool) -> None:
        """It takes the order of an index where there is one."""

    @staticmethod
    def failure(error: BaseException) -> BaseException:
        if isinstance(error, sqlite3.IntegrityError):
            return ConstraintViolated(_constraint(str(error)))
        if isinstance(error, OverflowError | UnicodeEncodeError):
            return Invalid(f"A value can't be stored: {error}.")
        if not isinstance(error, sqlite3.OperationalError):
            return error
        return _failure_of(error, error.sqlite_errorcode & 0xFF)

    def missing_parent(self, cursor: Cursor, table: Table, rows: Sequence[Any]) -> str:
        return sqlite_schema.missing_parent(cursor, table, rows)

    @staticmethod
    def lock_schema(connection: Connection) -> None:
        """The transaction began with the write lock."""

    @staticmethod
    def install(connection: Connection) -> None:
        for statement in sqlite_schema.statements():
            connection.exec_driver_sql(statement)

    @staticmethod
    def schema_version(url: str) -> str | None:
        return _version(file_of(url))


class Reader:
    """One reading connection; each transaction sees one moment and is rolled back."""

    def __init__(self, backend: Backend, connection: sqlite3.Connection) -> None:
        self._backend = backend
        self._connection = connection
        self._cursor = connection.cursor(SqliteCursor)
        self._look = look_while_running(connection)

    def serve(self, work: Work[Any]) -> None:
        """Run one transaction and keep its outcome in `work`."""
        self._look.work = work
        try:
            self._cursor.execute("BEGIN")
            work.succeed(self._backend.run(work, self._cursor))
        except BaseException as error:  # noqa: BLE001 - whatever the function raised belongs to its caller
            work.fail(self._backend.failure(error))
        finally:
            self._look.work = None
            if self._connection.in_transaction:
                self._cursor.execute("ROLLBACK")

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


def file_of(url: str) -> Path:
    """The file that a URL names; raises `Invalid` for a database in memory, which threads can't share."""
    name = make_url(url).database
    if not name or name == ":memory:":
        raise Invalid("A SQLite database needs a file: use sqlite:///file.")
    return Path(name)


def _version(path: Path) -> str | None:
    """The schema's version; None where there is no file or nothing in it. Makes no file."""
    if not path.exists():
        return None
    try:
        # Read-only, because the product's own settings would make another program's file its own.
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            if not require_own(sqlite_schema.tables(connection), str(path), "name another file"):
                return None
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return row[0] if row else None
    except sqlite3.Error as error:
        raise StorageUnavailable(f"{path} can't be opened as a database: {error}.") from error


def _failure_of(error: sqlite3.OperationalError, code: int) -> BaseException:
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StorageBusy(
            "The database is held by another process. Nothing was written: try again."
        )
    if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return StorageUnavailable(
            f"The database file can't be written ({error}). Free some space, then try again."
        )
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
        return StorageUnavailable(
            f"The database can't be written ({error}). SQLite keeps files beside its own: "
            "make the file and its folder writable, then try again."
        )
    return error


def _constraint(message: str) -> str:
    """The constraint's name, empty for a foreign key.

    SQLite says it for checks and triggers, and names only columns for keys.
    """
    if message == "FOREIGN KEY constraint failed":
        return ""
    found = re.match(
        r"(?:CHECK constraint failed: |UNIQUE constraint failed: index ')?(\w+)'?$", message
    )
    if found:
        return found[1]
    columns = message.partition("failed: ")[2]
    if message.startswith("NOT NULL"):
        return f"{columns.replace('.', '_')}_not_null"
    return sqlite_schema.constraint_over(columns) or columns or message
