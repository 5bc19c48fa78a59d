"""Databases to measure on: temporary SQLite files, and PostgreSQL given or of our own."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from memoranda.storage import migrate

ROOT = Path(__file__).resolve().parent.parent
BUFFERS_MB = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 // 2**20
"""A quarter of the memory, as PostgreSQL's manual has it for a server that is there for its database."""


def database_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which databases are measured."""
    parser.add_argument(
        "--postgres",
        metavar="URL",
        help="an empty PostgreSQL database to use; without it the tests' own server is started",
    )
    parser.add_argument(
        "--only", choices=("sqlite", "postgres"), help="measure one of the databases alone"
    )


@contextmanager
def databases(options: argparse.Namespace) -> Iterator[dict[str, str]]:
    """The URLs of fresh, migrated databases by the name of their kind.

    Where PostgreSQL can't be had, it is left out and standard error says why.
    """
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        if options.only != "postgres":
            found["sqlite"] = f"sqlite:///{folder}/bench.db"
        if options.only == "sqlite":
            migrate_all(found)
            yield found
            return
        with postgres_url(options.postgres) as url:
            if url is not None:
                found["postgres"] = url
            migrate_all(found)
            yield found


def migrate_all(urls: dict[str, str]) -> None:
    for url in urls.values():
        migrate(url)


@contextmanager
def postgres_url(given: str | None) -> Iterator[str | None]:
    """The URL that was given, or an empty database on a server that flushes what it commits."""
    if given is not None:
        yield given
        return
    sys.path.insert(0, str(ROOT))
    from tests.postgres import PostgresUnavailable, run_postgres  # noqa: PLC0415 - a checkout's, not the product's

    with ExitStack() as stack:
        try:
            server = stack.enter_context(
                run_postgres(durable=True, settings=(f"shared_buffers={BUFFERS_MB}MB",))
            )
        except PostgresUnavailable as error:
            print(f"PostgreSQL is left out: {error}", file=sys.stderr)
            yield None
        else:
            yield server.new_database()


def settle(url: str) -> None:
    """Let PostgreSQL clear up and look at what was just filled in.

    Autovacuum does both on a server that runs for long. Until then, an index alone tells no query
    what is there: each row is looked up besides.
    """
    if url.startswith("postgresql:"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
