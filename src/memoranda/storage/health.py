"""What a doctor finds in a database: whether it answers, its schema, and whether its safeguards hold."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import make_url

from memoranda.settings import default_db
from memoranda.storage.database import backend_of, database_url
from memoranda.storage.errors import ForeignDatabase, StorageUnavailable, UnsafeRole
from memoranda.storage.schema import HEAD
from memoranda.storage.scope import Shared, tenancy_of
from memoranda.storage.tables import METADATA
from memoranda.words.errors import Refused

May = Callable[[Path, int], bool]

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


class UnwritableDatabase(Refused):
    """The SQLite file or its folder may not be written by whoever runs the program."""

    code = "unwritable_database"


def missing_file(url: str) -> Path | None:
    """The SQLite file that `url` names, where it is not there; None for every other database.

    Raises `Invalid` for a URL of another kind, as `check_place` does.
    """
    path = _file(url)
    return None if path is None or path.exists() else path


def check_place(url: str) -> None:
    """Raise `UnwritableDatabase` where a SQLite file could not be made or written. Makes nothing."""
    path = _file(url)
    reason = None if path is None else obstacle(path)
    if reason is not None:
        raise UnwritableDatabase(reason, database=str(path))


def obstacle(path: Path, may: May = os.access) -> str | None:
    """Why a database at `path` can't be written, and what to do; None where nothing is in the way.

    SQLite keeps two more files beside the database, so its folder has to be writable too, and there: of a path
    that was mistyped no folders are made. That of the database that nobody had to name is made.
    """
    if path.is_dir():
        return f"{path} is a folder. Name a file for the database."
    if path.exists() and not (may(path, os.R_OK) and may(path, os.W_OK)):
        return (
            f"The database {path} may not be written by you. "
            "Change the file's permissions, or name another database."
        )
    folder = next((each for each in path.absolute().parents if os.path.lexists(each)), path)
    if not folder.is_dir():
        return f"{folder} is no folder, so no database can be in it. Name another path."
    if not may(folder, os.W_OK | os.X_OK):
        return (
            f"The folder {folder} may not be written by you, and a database needs it. "
            "Change the folder's permissions, or name another database."
        )
    if not path.absolute().parent.is_dir() and path != Path(default_db()):
        return (
            f"There is no folder {path.absolute().parent} for a database to be in. "
            "Make the folder, or name another path."
        )
    return None


def _file(url: str) -> Path | None:
    backend_of(url)
    address = make_url(database_url(url))
    named = address.get_backend_name() == "sqlite" and address.database
    return Path(named) if named and named != ":memory:" else None


def shown(url: str) -> str:
    """The database's address as it may be printed: without its password."""
    return make_url(database_url(url)).render_as_string(hide_password=True)


def _sqlite(path: Path) -> Iterator[Finding]:
    yield Finding("sqlite", True, f"SQLite {sqlite3.sqlite_version}")
    if in_the_way := obstacle(path):
        yield Finding("database", False, in_the_way)
        return
    if not path.exists():
        waits = f"{path} is not there yet; the first command that writes makes it"
        yield Finding("database", None, waits)
        return
    from memoranda.storage.dialects.sqlite import SqliteBackend  # noqa: PLC0415 - only the one that is used

    try:
        version = SqliteBackend.schema_version(database_url(str(path)))
    except (ForeignDatabase, StorageUnavailable) as error:
        yield Finding("database", False, error.message)
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


def _postgres(url: str) -> Iterator[Finding]:
    import psycopg  # noqa: PLC0415 - needs the extra

    from memoranda.storage.dialects import postgres_schema  # noqa: PLC0415 - needs the extra
    from memoranda.storage.dialects.postgres import conninfo  # noqa: PLC0415 - needs the extra

    try:
        connection = psycopg.connect(
            conninfo(url), autocommit=True, connect_timeout=CONNECT_SECONDS
        )
    except psycopg.Error as error:
        yield Finding(
            "database", False, postgres_schema.refused_login(url, error) or _unreached(error)
        )
        return
    with connection:
        yield Finding("database", True, f"{shown(url)} answers")
        number = connection.info.server_version
        yield Finding("postgresql", True, f"PostgreSQL {number // 10000}.{number % 10000}")
        try:
            version = postgres_schema.version(connection)
        except ForeignDatabase as error:
            yield Finding("schema", False, error.message)
            return
        yield _schema(version)
        try:
            postgres_schema.refuse_unsafe_role(connection)
            yield Finding("role", True, "the role can't look past row-level security")
        except UnsafeRole as error:
            yield Finding("role", False, error.message)
        if version is not None:  # before the first migration there is no table to look at
            yield _row_security(connection)
        yield _pgvector(connection)


def _unreached(error: BaseException) -> str:
    return f"PostgreSQL can't be reached: {_one_line(error)}"


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
    from memoranda.storage.dialects import postgres_vectors  # noqa: PLC0415 - needs the extra

    version, lacking = postgres_vectors.state(connection)
    if lacking is not None:
        return Finding("pgvector", False, " ".join(lacking.split()))
    return Finding("pgvector", True, f"installed, {version}")


def _schema(version: str | None) -> Finding:
    if version == HEAD:
        return Finding("schema", True, f"{version}, as this version of Memoranda needs it")
    if version is None:
        return Finding("schema", None, "none yet; the first command makes it")
    return Finding("schema", False, f"{version}, and {HEAD} is needed: run memoranda migrate")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
