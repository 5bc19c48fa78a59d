"""Vectors in PostgreSQL: pgvector and what it takes to have it, its indexes, and how a session asks them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlalchemy.engine import Connection
from sqlalchemy.exc import ProgrammingError

from memoranda.storage.errors import StorageUnavailable
from memoranda.storage.vectors import INDEXED_DIMENSIONS, PackedHalves

OLDEST: Final = (0, 8)
"""The first version that goes on looking where a filter left too little of what the index found."""

_STATE: Final = """
SELECT quote_ident(current_database()),
       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
       to_regtype('halfvec') IS NOT NULL
"""
_MAKE: Final = "CREATE EXTENSION IF NOT EXISTS vector"

# An index knows no scopes: it finds the nearest of all, and rows of others are left out after that. So it
# has to go on until there are enough (without that, a scope of 1 % of the rows gets next to none). Relaxed
# order loses none that it has passed, where a strict one drops those (0.98 and 0.92 of the nearest were
# found): whoever asks puts them in order anyway. It begins with a few more than anybody asks for, and ends
# at 20,000 rows, where comparing all of a scope's own is quicker. The rest is memory for that many.
_SESSION: Final = """
SET hnsw.iterative_scan = relaxed_order;
SET hnsw.ef_search = 200;
SET hnsw.max_scan_tuples = 20000;
SET hnsw.scan_mem_multiplier = 4
"""

_NOT_THERE: Final = """\
This PostgreSQL has no pgvector, which Memoranda needs to find knowledge by its meaning. \
Install pgvector 0.8 or newer on the server, let an administrator run this in the database {database}, then start again:
  CREATE EXTENSION vector;"""
_NOT_ALLOWED: Final = """\
The database {database} lacks pgvector, which Memoranda needs to find knowledge by its meaning, and its role may not \
add it. Let an administrator run this in that database, then start again:
  CREATE EXTENSION vector;"""
_TOO_OLD: Final = """\
The database {database} has pgvector {version}, and Memoranda needs 0.8 or newer. \
Install it on the server, let an administrator run this in that database, then start again:
  ALTER EXTENSION vector UPDATE;"""
_OUT_OF_SIGHT: Final = """\
pgvector is in a schema of the database {database} that Memoranda's role does not look into. \
Let an administrator run this in that database, then start again:
  ALTER EXTENSION vector SET SCHEMA public;"""


def need_pgvector(connection: Connection) -> None:
    """Have pgvector in the database, or raise `StorageUnavailable` with what an administrator runs."""
    row = connection.exec_driver_sql(_STATE).one()
    if row[1] is None and row[2] is not None:
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(_MAKE)
        except ProgrammingError as error:
            if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
                raise
        row = connection.exec_driver_sql(_STATE).one()
    lacking = _lacking(row)
    if lacking is not None:
        raise StorageUnavailable(lacking)


def state(connection: "psycopg.Connection[tuple[Any, ...]]") -> tuple[str | None, str | None]:
    """The version that the database has, and what to do where it lacks something."""
    row = connection.execute(_STATE).fetchone() or ("?", None, None, False)
    return row[1], _lacking(row)


def _lacking(state: Sequence[Any]) -> str | None:
    """What is missing and how to mend it; None where all is there."""
    database, version, available, in_sight = state
    if version is None:
        form = _NOT_THERE if available is None else _NOT_ALLOWED
        return form.format(database=database)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        return _TOO_OLD.format(database=database, version=version)
    return None if in_sight else _OUT_OF_SIGHT.format(database=database)


def index_name(dimensions: int) -> str:
    return f"knowledge_vectors_near_{dimensions}"


def statements() -> Iterator[str]:
    """DDL for the indexes, one for each common length of a vector, because an index holds one length alone."""
    # A longer row would lie in two places, and comparing is mostly reading.
    yield "ALTER TABLE knowledge_vectors SET (toast_tuple_target = 8160)"
    for dimensions in INDEXED_DIMENSIONS:
        yield (
            f"CREATE INDEX IF NOT EXISTS {index_name(dimensions)} ON knowledge_vectors "
            f"USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) "
            f"WHERE vector_dims(vector) = {dimensions}"
        )


class _HalvesDumper(Dumper):
    """Sends the bytes as they are, for the server to tell their type by where they stand."""

    format = Format.BINARY

    def dump(self, obj: PackedHalves) -> bytes:
        return obj


def prepare(connection: "psycopg.Connection[tuple[object, ...]]") -> None:
    """Let a new connection send vectors, and look further in an index than its nearest few."""
    connection.adapters.register_dumper(PackedHalves, _HalvesDumper)
    connection.execute(_SESSION)
