"""What a doctor finds in a database: whether it answers, its schema, and whether its safeguards hold."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import make_url

from memoranda.storage.database import backend_of, database_url
from memoranda.storage.errors import UnsafeRole
from memoranda.storage.schema import HEAD
from memoranda.storage.scope import Shared, tenancy_of
from memoranda.storage.tables import METADATA

CONNECT_SECONDS: Final = 10
_FULL: Final = 2  # SQLite's number for synchronous=FULL


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `ok` is None for what may be missing without harm."""

    name: str
    ok: bool | None
    detail: str


def examine(url: str) -> list[Finding]:
    """Look at the database at `url` without making or upgrading it. Blocks.

    A database that can't be opened is a finding. Raises `Invalid` for a URL of another kind.
    """
    backend_of(url)
    address = make_url(database_url(url))
    if address.get_backend_name() == "sqlite":
        return list(_sqlite(Path(address.database or "")))
    return list(_postgres(url))


def shown(url: str) -> str:
    """The database's address as it may be printed: without its password."""
    return make_url(database_url(url)).render_as_string(hide_password=True)


def _sqlite(path: Path) -> Iterator[Finding]:
    yield Finding("sqlite", True, f"SQLite {sqlite3.sqlite_version}")
    if not path.exists():
        yield Finding("database", None, f"{path} is not there yet; the first command makes it")
        return
    try:
        version = _sqlite_version(path)
    except sqlite3.Error as error:
        yield Finding("database", False, f"{path} can't be read: {error}")
        return
    yield Finding("database", True, f"{path}, {path.stat().st_size} bytes")
    yield _schema(version)
    if version is not None:  # the product's own connection would make another file its own
        yield from _sqlite_safeguards(path)


def _sqlite_safeguards(path: Path) -> Iterator[Finding]:
    """What the product's own connection gets."""
    from memoranda.storage.dialects.sqlite import connect  # noqa: PLC0415 - only the one that is used

    try:
        with closing(connect(path)) as connection:
            mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
            level = connection.execute("PRAGMA synchronous").fetchone()[0]
    except sqlite3.Error as error:
        yield Finding("write_ahead_log", False, f"{path} can't be written: {error}")
        return
    yield Finding("write_ahead_log", mode == "wal", f"journal_mode is {mode}")
    durable = level >= _FULL
    kept = "an acknowledged write is on the disk" if durable else "a power cut may lose writes"
    yield Finding("durability", durable, f"synchronous is {'FULL' if durable else level}: {kept}")


def _sqlite_version(path: Path) -> str | None:
    """The schema that a file holds, read without writing to it."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        known = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
        if connection.execute(known).fetchone() is None:
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return row[0] if row else None


def _postgres(url: str) -> Iterator[Finding]:
    import psycopg  # noqa: PLC0415 - needs the extra

    from memoranda.storage.dialects import postgres_schema  # noqa: PLC0415 - needs the extra
    from memoranda.storage.dialects.postgres import conninfo  # noqa: PLC0415 - needs the extra

    try:
        connection = psycopg.connect(
            conninfo(url), autocommit=True, connect_timeout=CONNECT_SECONDS
        )
    except psycopg.Error as error:
        yield Finding("database", False, f"PostgreSQL can't be reached: {_one_line(error)}")
        return
    with connection:
        yield Finding("database", True, f"{shown(url)} answers")
        number = connection.info.server_version
        yield Finding("postgresql", True, f"PostgreSQL {number // 10000}.{number % 10000}")
        yield _schema(_postgres_version(connection))
        try:
            postgres_schema.refuse_unsafe_role(connection)
            yield Finding("role", True, "the role can't look past row-level security")
        except UnsafeRole as error:
            yield Finding("role", False, error.message)
        yield _row_security(connection)
        yield _pgvector(connection)


def _postgres_version(connection: Any) -> str | None:
    if connection.execute("SELECT to_regclass('alembic_version')").fetchone()[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return row[0] if row else None


def _row_security(connection: Any) -> Finding:
    """Every table that holds an organization's rows must have its policy forced."""
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity "
        "AND pg_table_is_visible(oid)"
    ).fetchall()
    secured = {row[0] for row in rows}
    owned = {
        name for name, each in METADATA.tables.items() if not isinstance(tenancy_of(each), Shared)
    }
    if missing := sorted(owned - secured):
        return Finding("row_security", False, f"not forced on: {', '.join(missing)}")
    return Finding("row_security", True, f"forced on all {len(owned)} tables of organizations")


def _pgvector(connection: Any) -> Finding:
    row = connection.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    if row is None:
        return Finding("pgvector", None, "not available; nothing needs it yet")
    state = f"installed, {row[1]}" if row[1] else f"available, {row[0]}"
    return Finding("pgvector", True, state)


def _schema(version: str | None) -> Finding:
    if version == HEAD:
        return Finding("schema", True, f"{version}, as this version of Memoranda needs it")
    if version is None:
        return Finding("schema", None, "none yet; the first command makes it")
    return Finding("schema", False, f"{version}, and {HEAD} is needed: run memoranda migrate")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
