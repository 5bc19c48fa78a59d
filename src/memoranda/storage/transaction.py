"""What a store function is given: one open transaction, held to one scope."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from memoranda.storage.scope import Scope
from memoranda.storage.statements import Row, Statement, Statements, insert_columns, scope_value


class Cursor(Protocol):
    """The part of a database driver's cursor that a transaction needs."""

    rowcount: int

    def execute(self, sql: str, parameters: Any = ..., /) -> object: ...
    def executemany(self, sql: str, parameters: Sequence[Any], /) -> object: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...


class Transaction:
    """Runs statements for one scope; every one has passed the guard before the database sees it.

    `now` is one time for the whole transaction, from the injected clock.
    """

    def __init__(
        self,
        scope: Scope,
        now: datetime,
        cursor: Cursor,
        statements: Statements,
        lock: Callable[[Cursor, str], None],
    ) -> None:
        self.scope = scope
        self.now = now
        self._cursor = cursor
        self._statements = statements
        self._lock = lock
        self._platform = not hasattr(scope, "hex")

    def all(self, statement: Statement, /, **values: Any) -> list[Row]:
        """Every row of a select (or of a write that returns rows), as named tuples."""
        prepared = self._statements.prepare(statement, (), platform=self._platform)
        self._cursor.execute(prepared.sql, prepared.parameters(self.scope, values))
        return [prepared.row(row) for row in self._cursor.fetchall()]

    def one(self, statement: Statement, /, **values: Any) -> Row | None:
        """The first row, or None."""
        prepared = self._statements.prepare(statement, (), platform=self._platform)
        self._cursor.execute(prepared.sql, prepared.parameters(self.scope, values))
        row = self._cursor.fetchone()
        return None if row is None else prepared.row(row)

    def run(self, statement: Statement, /, **values: Any) -> int:
        """Write, and answer how many rows changed; an insert fills the columns that are named here."""
        names = insert_columns(statement, tuple(values))
        prepared = self._statements.prepare(statement, names, platform=self._platform)
        if prepared.scope_column is not None:
            column, tenancy = prepared.scope_column
            values[column] = scope_value(tenancy, self.scope)
        self._cursor.execute(prepared.sql, prepared.parameters(self.scope, values))
        return self._cursor.rowcount

    def run_many(self, statement: Statement, rows: Sequence[dict[str, Any]], /) -> int:
        """Write once per row; all rows name the same columns."""
        if not rows:
            return 0
        names = insert_columns(statement, tuple(rows[0]))
        prepared = self._statements.prepare(statement, names, platform=self._platform)
        scope: dict[str, Any] = {}
        if prepared.scope_column is not None:
            column, tenancy = prepared.scope_column
            scope[column] = scope_value(tenancy, self.scope)
        self._cursor.executemany(
            prepared.sql, [prepared.parameters(self.scope, {**row, **scope}) for row in rows]
        )
        return self._cursor.rowcount

    def lock(self, key: str) -> None:
        """Let one transaction at a time hold `key` until it ends; where there is one writer, this is free."""
        self._lock(self._cursor, f"{self.scope}:{key}")
