"""Copies the rows of one organization into others, as the product wrote them, all tables and indexes.

A copied id is of version 8, which anybody may make up, and ends in the four hexadecimal digits of its
copy's number; so every copy's rows refer to one another as the first one's do, and no id comes twice.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final
from uuid import UUID

import psycopg
from rivals import sqlite_path
from sqlalchemy import Table, Uuid

from memoranda.storage.dialects.postgres_schema import SETTING
from memoranda.storage.scope import Tenant, tenancy_of
from memoranda.storage.tables.base import METADATA

LEFT_OUT: Final = {"api_keys", "work_signals"}
"""A key opens one organization; and nothing is left to do in a copy."""
DIGITS: Final = 4


def shifted(identity: UUID, copy: int) -> UUID:
    """What the copy of this number has in place of an id."""
    return UUID(hex=f"{identity.hex[:12]}8{identity.hex[13:-DIGITS]}{copy:0{DIGITS}x}")


def copy_organization(url: str, organization: UUID, copies: range) -> None:
    """Make the copies of these numbers. Each is written in one transaction of its own organization."""
    open_database = _postgres if url.startswith("postgresql:") else _sqlite
    with open_database(url) as (cursor, cast):
        _within(cursor, organization, postgres=bool(cast))
        tables = [table for table in _tables() if _taken(cursor, table, organization)]
        cursor.execute("COMMIT")
        statements = [_copying(table, cast) for table in tables]
        for copy in copies:
            _within(cursor, shifted(organization, copy), postgres=bool(cast))
            for statement in statements:
                cursor.execute(statement.replace(":copy", f"'{copy:0{DIGITS}x}'"))
            cursor.execute("COMMIT")


def _tables() -> list[Table]:
    return [
        table
        for table in METADATA.sorted_tables
        if table.name not in LEFT_OUT and isinstance(tenancy_of(table), Tenant)
    ]


def _taken(cursor: Any, table: Table, organization: UUID) -> bool:
    """Put the organization's rows aside; False where there are none."""
    tenancy = tenancy_of(table)
    assert isinstance(tenancy, Tenant)
    spelled = str(organization) if isinstance(cursor, psycopg.Cursor) else organization.hex
    cursor.execute(
        f"CREATE TEMP TABLE first_{table.name} AS"
        f" SELECT * FROM {table.name} WHERE {tenancy.column} = '{spelled}'"
    )
    cursor.execute(f"SELECT count(*) FROM first_{table.name}")
    return bool(cursor.fetchone()[0])


def _copying(table: Table, cast: str) -> str:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    values = ", ".join(
        _shifting(f'"{column.name}"', cast) if isinstance(column.type, Uuid) else f'"{column.name}"'
        for column in table.columns
    )
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM first_{table.name}"


def _shifting(column: str, cast: str) -> str:
    """The same in SQL: an id is text there, with its hyphens in PostgreSQL."""
    text, version, length = (f"{column}::text", 15, 36) if cast else (column, 13, 32)
    middle = f"substr({text}, {version + 1}, {length - DIGITS - version})"
    shifted_text = f"substr({text}, 1, {version - 1}) || '8' || {middle} || :copy"
    return f"({shifted_text}){cast}"


def _within(cursor: Any, organization: UUID, *, postgres: bool) -> None:
    cursor.execute("BEGIN")
    if postgres:
        cursor.execute(f"SET LOCAL {SETTING} = '{organization}'")


@contextmanager
def _sqlite(url: str) -> Iterator[tuple[Any, str]]:
    with closing(sqlite3.connect(sqlite_path(url), isolation_level=None)) as connection:
        for pragma in ("synchronous=OFF", "temp_store=MEMORY", "cache_size=-262144"):
            connection.execute(f"PRAGMA {pragma}")
        yield connection.cursor(), ""


@contextmanager
def _postgres(url: str) -> Iterator[tuple[Any, str]]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        yield connection.cursor(), "::uuid"
