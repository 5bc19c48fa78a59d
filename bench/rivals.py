"""The raw programs that the product is set beside: the drivers alone, with the same durability."""

import sqlite3
from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

import aiosqlite
import psycopg
from recorded import Executed, Recording, replay

from memoranda.storage.dialects.postgres_cursor import PostgresCursor
from memoranda.storage.dialects.postgres_schema import SETTING
from memoranda.storage.dialects.sqlite_connection import SqliteCursor

PRAGMAS: Final = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",
    "temp_store=MEMORY",
)


class RawSqlite:
    """The sqlite3 module, on this thread, with the product's pragmas."""

    def __init__(self, url: str) -> None:
        self._connection = sqlite3.connect(
            sqlite_path(url), isolation_level=None, cached_statements=512
        )
        for pragma in PRAGMAS:
            self._connection.execute(f"PRAGMA {pragma}")
        self._cursor = self._connection.cursor(SqliteCursor)

    def write(self, recordings: Iterable[Recording]) -> None:
        """Run the statements of all recordings in one transaction."""
        self._cursor.execute("BEGIN IMMEDIATE")
        for recording in recordings:
            replay(self._cursor, recording)
        self._cursor.execute("COMMIT")

    def rows(self, before: Recording, last: Executed) -> list[Any]:
        """Run what comes before, and answer the rows of the last, all on one view."""
        self._cursor.execute("BEGIN")
        replay(self._cursor, before)
        rows = self._cursor.execute(last.sql, last.parameters).fetchall()
        self._cursor.execute("COMMIT")
        return rows

    def close(self) -> None:
        self._connection.close()


class RawPostgres:
    """Psycopg, on this thread: the organization is set together with BEGIN, in one round trip.

    Writes whose answer nobody reads go through psycopg's pipeline, as the product sends them.
    """

    def __init__(self, url: str, organization_id: UUID) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._cursor = PostgresCursor(self._connection)
        self._beginning = self._connection.cursor()  # several statements at once go as text alone
        self.act_for(organization_id)

    def act_for(self, organization_id: UUID) -> None:
        """From now on, write and read as this organization."""
        settings = f"SET LOCAL lock_timeout = '10s'; SET LOCAL {SETTING} = '{organization_id}'"
        self._write = f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {settings}"
        self._read = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {settings}"

    def write(self, recordings: Iterable[Recording]) -> None:
        """Run the statements of all recordings in one transaction."""
        self._run(self._write, recordings)

    def read(self, recordings: Iterable[Recording]) -> None:
        """Run the statements of all recordings on one unchanging view."""
        self._run(self._read, recordings)

    def rows(self, before: Recording, last: Executed) -> list[Any]:
        """Run what comes before, and answer the rows of the last, all on one view."""
        self._beginning.execute(self._read)
        replay(self._cursor, before)
        self._cursor.execute(last.sql, last.parameters)
        rows = self._cursor.fetchall()
        self._cursor.execute("COMMIT")
        return rows

    def _run(self, begin: str, recordings: Iterable[Recording]) -> None:
        self._beginning.execute(begin)
        for recording in recordings:
            replay(self._cursor, recording)
        self._cursor.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


async def aiosqlite_read(connection: aiosqlite.Connection, recording: Recording) -> None:
    """Execute, fetch and close, as one reads with aiosqlite."""
    for each in recording:
        cursor = await connection.execute(each.sql, each.parameters)
        await (cursor.fetchall() if each.read == "all" else cursor.fetchone())
        await cursor.close()


async def open_aiosqlite(url: str) -> aiosqlite.Connection:
    """An aiosqlite connection with the product's pragmas."""
    connection = await aiosqlite.connect(sqlite_path(url), isolation_level=None)
    for pragma in PRAGMAS:
        await connection.execute(f"PRAGMA {pragma}")
    return connection


def sqlite_path(url: str) -> str:
    return url.removeprefix("sqlite:///")
