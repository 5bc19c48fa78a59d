"""Looks for what must not be left of a text: in all of a database's files, and in every table of a server."""

import re
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg import sql

from tests.postgres import ADMIN, Postgres, database_of

Trace = str | bytes
TABLES = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema <> 'information_schema'
"""
BYTES = re.compile(rb"\\\\?x((?:[0-9a-f]{2})+)")


class Scanner:
    """Scans one database from outside, by nothing that the product brings along.

    `server` is needed for PostgreSQL alone, whose administrator sees every row.
    """

    def __init__(self, url: str, server: Postgres | None) -> None:
        self._url = url
        self._server = server

    def found(self, traces: Iterable[Trace]) -> dict[Trace, list[str]]:
        """Those that are somewhere, each with the files or tables that hold it."""
        wanted = {trace: trace.encode() if isinstance(trace, str) else trace for trace in traces}
        places: dict[Trace, list[str]] = {}
        for place, content in self.contents():
            for trace, needle in wanted.items():
                if needle in content:
                    places.setdefault(trace, []).append(place)
        return places

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Every place, with all that is to be read there."""
        if self._url.startswith("sqlite:"):
            yield from _files(Path(self._url.removeprefix("sqlite:///")))
        else:
            assert self._server is not None
            yield from _tables(self._server, database_of(self._url))

    def rows(self) -> dict[str, list[str]]:
        """Every row of the product's own tables as one text, in one order."""
        if self._url.startswith("sqlite:"):
            return dict(_sqlite_rows(Path(self._url.removeprefix("sqlite:///"))))
        assert self._server is not None
        return dict(_postgres_rows(self._server, database_of(self._url)))


def log_size(url: str) -> int:
    """The bytes in a SQLite file's write-ahead log."""
    log = Path(f"{url.removeprefix('sqlite:///')}-wal")
    return log.stat().st_size if log.exists() else 0


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    """The file and whatever stands beside it under its name: its log, its index, a journal.

    Read by another process: to open and close the file in one that has it open as a
    database would take away its locks.
    """
    for each in sorted(path.parent.glob(f"{path.name}*")):
        yield each.name, subprocess.run(["cat", each], check=True, capture_output=True).stdout


def _sqlite_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            yield name, sorted(map(repr, connection.execute(f"SELECT * FROM {name}")))  # noqa: S608 - a name from the schema


def _postgres_rows(server: Postgres, database: str) -> Iterator[tuple[str, list[str]]]:
    with psycopg.connect(server.url(database, ADMIN)) as connection:
        for schema, table in connection.execute(TABLES).fetchall():
            if schema == "public":
                yield table, sorted(_texts(connection, schema, table))


def _texts(connection: psycopg.Connection, schema: str, table: str) -> list[str]:
    query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(schema, table))
    return [row[0] for row in connection.execute(query)]


def _tables(server: Postgres, database: str) -> Iterator[tuple[str, bytes]]:
    """Every table, the server's own too, each row as text and with its bytes decoded."""
    with psycopg.connect(server.url(database, ADMIN)) as connection:
        for schema, table in connection.execute(TABLES).fetchall():
            text = "\n".join(_texts(connection, schema, table)).encode()
            hexes = (bytes.fromhex(found[1].decode()) for found in BYTES.finditer(text))
            yield f"{schema}.{table}", text + b"\n" + b"\n".join(hexes)
