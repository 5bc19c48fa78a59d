"""What SQLite's tables alone can't say: triggers that keep rows as they are, and the names behind its messages."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Table, UniqueConstraint

from memoranda.storage.tables import APPEND_ONLY, FIXED_COLUMNS, METADATA
from memoranda.storage.transaction import Cursor


def statements() -> Iterator[str]:
    """DDL that may run again and again."""
    for table, promise in APPEND_ONLY.items():
        yield f"DROP TRIGGER IF EXISTS {promise}"
        yield (
            f"CREATE TRIGGER {promise} BEFORE UPDATE ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{promise}'); END"
        )
    for table, (promise, columns) in FIXED_COLUMNS.items():
        yield f"DROP TRIGGER IF EXISTS {promise}"
        changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in columns)
        yield (
            f"CREATE TRIGGER {promise} BEFORE UPDATE ON {table} WHEN {changed} "
            f"BEGIN SELECT RAISE(ABORT, '{promise}'); END"
        )


def tables(connection: sqlite3.Connection) -> set[str]:
    """The names of all tables and views; asked in one statement, so that it sees a migration whole."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    return {row[0] for row in found}


def constraint_over(columns: str) -> str | None:
    """The name of the unique constraint over `table.a, table.b`, as SQLite's message lists them."""
    names = [part.strip().split(".") for part in columns.split(",")]
    table = METADATA.tables.get(names[0][0])
    if table is None or not all(len(name) == 2 for name in names):
        return None
    wanted = [column for _, column in names]
    # Whoever breaks a key that holds the whole primary key breaks that one too, and is told so.
    if {column.name for column in table.primary_key.columns} <= set(wanted):
        return str(table.primary_key.name)
    for constraint in table.constraints:
        if (
            isinstance(constraint, UniqueConstraint)
            and [column.name for column in constraint.columns] == wanted
        ):
            return str(constraint.name)
    for index in table.indexes:
        if index.unique and [getattr(c, "name", None) for c in index.expressions] == wanted:
            return str(index.name)
    return None


def missing_parent(cursor: Cursor, table: Table, rows: Sequence[Mapping[str, Any]]) -> str:
    """The name of the foreign key for which one of the new `rows` found no parent.

    Where the rows don't tell (an update, a delete), a table's only key is meant.
    """
    keys = sorted(table.foreign_key_constraints, key=lambda key: str(key.name))
    for row in rows:
        for key in keys:
            values = [row.get(name) for name in key.column_keys]
            if None not in values and not _has_parent(cursor, key, values):
                return str(key.name)
    return str(keys[0].name) if len(keys) == 1 else "unknown"


def _has_parent(cursor: Cursor, key: ForeignKeyConstraint, values: list[Any]) -> bool:
    columns = " AND ".join(f"{element.column.name} = ?" for element in key.elements)
    cursor.execute(
        f"SELECT 1 FROM {key.referred_table.name} WHERE {columns}",  # noqa: S608 - names from the schema
        [value.hex if isinstance(value, UUID) else value for value in values],
    )
    return cursor.fetchone() is not None
