"""What SQLite's tables alone can't say: triggers that keep rows as they are, and the names behind its messages."""

from collections.abc import Iterator

from sqlalchemy import UniqueConstraint

from memoranda.storage.tables import APPEND_ONLY, FIXED_COLUMNS, METADATA


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


def constraint_over(columns: str) -> str | None:
    """The name of the unique constraint over `table.a, table.b`, as SQLite's message lists them."""
    names = [part.strip().split(".") for part in columns.split(",")]
    if not all(len(name) == 2 for name in names):  # noqa: PLR2004 - table and column
        return None
    table = METADATA.tables.get(names[0][0])
    wanted = [column for _, column in names]
    if table is None:
        return None
    for constraint in table.constraints:
        if (
            isinstance(constraint, UniqueConstraint)
            and [c.name for c in constraint.columns] == wanted
        ):
            return str(constraint.name)
    for index in table.indexes:
        if index.unique and [getattr(c, "name", None) for c in index.expressions] == wanted:
            return str(index.name)
    if [column.name for column in table.primary_key.columns] == wanted:
        return str(table.primary_key.name)
    return None
