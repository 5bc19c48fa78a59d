"""Where a benchmark's databases are made: a temporary folder, or a PostgreSQL server that flushes."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final, Protocol

import psycopg
from databases import ROOT, settle
from psycopg import sql
from rivals import sqlite_path

_numbers: Final = count()


class Place(Protocol):
    """Makes empty databases of one kind, and copies of those that nobody has open."""

    @property
    def kind(self) -> str:
        """Either `sqlite` or `postgres`."""

    @property
    def folder(self) -> Path:
        """A folder for whatever else a rival keeps."""

    def empty(self) -> str:
        """The URL of a new, empty database."""

    def copy(self, url: str) -> str:
        """The URL of a copy. Nobody may have `url` open."""

    def settle(self) -> None:
        """See `databases.settle`: of all that was made here."""


class Files:
    """SQLite files in a folder."""

    kind = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def empty(self) -> str:
        return f"sqlite:///{self.folder}/{next(_numbers)}.db"

    def copy(self, url: str) -> str:
        copied = self.empty()
        shutil.copyfile(sqlite_path(url), sqlite_path(copied))
        return copied

    def settle(self) -> None:
        """Nothing does this to SQLite files by itself."""


class Server:
    """Databases beside the one that a URL names, whose role may make databases."""

    kind = "postgres"

    def __init__(self, url: str, folder: Path) -> None:
        self.folder = folder
        self._url = url
        self._made: list[str] = []

    def empty(self) -> str:
        return self._create("template1")

    def copy(self, url: str) -> str:
        return self._create(url.rsplit("/", 1)[-1])

    def settle(self) -> None:
        for name in self._made:
            settle(self._at(name))

    def drop(self) -> None:
        """Drop what was made, cutting off whoever still has it open."""
        for name in self._made:
            self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)"), name)

    def _create(self, template: str) -> str:
        name = f"memoranda_bench_{next(_numbers)}"
        self._run(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY"), name, template)
        self._made.append(name)
        return self._at(name)

    def _at(self, name: str) -> str:
        return f"{self._url.rsplit('/', 1)[0]}/{name}"

    def _run(self, statement: sql.SQL, *names: str) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement.format(*map(sql.Identifier, names)))


@contextmanager
def places(options: argparse.Namespace) -> Iterator[list[Place]]:
    """The places that the options of `database_options` ask for.

    Where PostgreSQL can't be had, it is left out and standard error says why.
    """
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as name:
        folder = Path(name)
        found: list[Place] = [] if options.only == "postgres" else [Files(folder)]
        if options.only == "sqlite":
            yield found
            return
        with server(options.postgres, folder) as postgres:
            yield found if postgres is None else [*found, postgres]


@contextmanager
def server(given: str | None, folder: Path) -> Iterator[Server | None]:
    """The server of the URL that was given, or one of our own."""
    if given is not None:
        lent = Server(given, folder)
        try:
            yield lent
        finally:
            lent.drop()
        return
    sys.path.insert(0, str(ROOT))
    from tests.postgres import PostgresUnavailable, run_postgres  # noqa: PLC0415 - a checkout's, not the product's

    try:
        with run_postgres(durable=True) as ours:
            allow_databases(ours.superuser_url)
            yield Server(ours.role_url, folder)
    except PostgresUnavailable as error:
        print(f"PostgreSQL is left out: {error}", file=sys.stderr)
        yield None


def allow_databases(superuser_url: str) -> None:
    """Let the bound role make databases; it is bound by row security all the same."""
    from tests.postgres import ROLE  # noqa: PLC0415 - as above

    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER ROLE {} CREATEDB").format(sql.Identifier(ROLE)))
