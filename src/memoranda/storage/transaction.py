"""What a store function is given: one open transaction, held to one scope."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, Protocol, TypeAlias
from uuid import UUID

from sqlalchemy import Table, bindparam, select

from memoranda.storage.errors import ConstraintViolated
from memoranda.storage.guard import GuardError
from memoranda.storage.scope import Scope, Through
from memoranda.storage.statements import Prepared, Row, Statement, Statements, owner_of
from memoranda.storage.tables.base import METADATA

# How a cursor takes a statement and its parameters.
_Way: TypeAlias = Callable[[Any, Any], object]


class Cursor(Protocol):
    """The part of a database driver's cursor that a transaction needs."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: Any, parameters: Any = ..., /) -> object: ...
    def executemany(self, sql: Any, parameters: Any, /) -> object: ...
    def send(self, sql: Any, parameters: Any = ..., /) -> object: ...
    def send_many(self, sql: Any, parameters: Any, /) -> object: ...
    def fetchall(self) -> list[Any]: ...
    def fetchone(self) -> Any: ...


class Port(Protocol):
    """The part of a database in which transactions differ."""

    statements: Statements
    compares_vectors: ClassVar[bool]
    memory: dict[str, Any]

    def lock(self, cursor: Cursor, scope: Scope, key: str) -> None: ...
    def sorts(self, cursor: Cursor, *, allowed: bool) -> None: ...
    def failure(self, error: BaseException) -> BaseException: ...
    def missing_parent(self, cursor: Cursor, table: Table, rows: Sequence[Any]) -> str: ...


class Waiter(Protocol):
    """Whoever waits for the transaction; it may have gone away."""

    @property
    def cancelled(self) -> bool: ...


class Cancelled(Exception):
    """Nobody waits for the transaction any more, so it ends before its next statement."""


class Ended(RuntimeError):
    """The transaction was used after its function returned: return values, and not what makes them."""


class Transaction:
    """Runs statements for one scope; every one has passed the guard before the database sees it.

    `now` is one time for the whole transaction, from the injected clock. After an
    error of the database nothing more runs and nothing is kept, on both databases alike.
    """

    __slots__ = (
        "_broken", "_cursor", "_parents", "_platform", "_port", "_statements", "_waiter",
        "_writes", "now", "scope",
    )  # fmt: skip

    def __init__(
        self,
        scope: Scope,
        now: datetime,
        cursor: Cursor,
        port: Port,
        waiter: Waiter,
        *,
        writes: bool,
    ) -> None:
        self.scope = scope
        self.now = now
        self._cursor = cursor
        self._port = port
        self._statements = port.statements
        self._waiter = waiter
        self._writes = writes
        self._platform = not isinstance(scope, UUID)
        self._broken: BaseException | None = None
        self._parents: set[tuple[str, object]] | None = None

    @property
    def writes(self) -> bool:
        """Whether it may change rows, and so see some that nobody else will ever see."""
        return self._writes

    @property
    def compares_vectors(self) -> bool:
        """Whether its statements can compare vectors; else their rows are compared where they arrive."""
        return self._port.compares_vectors

    @property
    def memory(self) -> dict[str, Any]:
        """What this process keeps of the database beside it, for as long as that is open; of all scopes."""
        return self._port.memory

    def all(self, statement: Statement, /, **values: Any) -> list[Row]:
        """Every row of a select (or of a write that returns rows), as named tuples."""
        prepared = self._execute(statement, values, self._cursor.execute)
        return [prepared.row(row) for row in self._cursor.fetchall()]

    def in_order(self, statement: Statement, /, **values: Any) -> list[Row]:
        """As `all`, for the first few rows by an index that has them in their order: nothing is sorted."""
        self._port.sorts(self._cursor, allowed=False)
        rows = self.all(statement, **values)
        self._port.sorts(self._cursor, allowed=True)
        return rows

    def plain(self, statement: Statement, /, **values: Any) -> list[tuple[Any, ...]]:
        """Every row as the driver returns it: for thousands of rows, of which few values are used.

        Numbers, texts and bytes are the same on both databases; `id_bytes` makes the ids of a column so.
        """
        self._execute(statement, values, self._cursor.execute)
        return self._cursor.fetchall()

    def one(self, statement: Statement, /, **values: Any) -> Row | None:
        """The first row, or None."""
        prepared = self._execute(statement, values, self._cursor.execute)
        row = self._cursor.fetchone()
        return None if row is None else prepared.row(row)

    def run(self, statement: Statement, /, **values: Any) -> int:
        """Write, and answer how many rows changed; an insert fills the columns that are named here."""
        self._execute(statement, values, self._cursor.execute)
        return self._cursor.rowcount

    def send(self, statement: Statement, /, **values: Any) -> None:
        """Write, where nobody needs to know how many rows changed: this may travel with what comes next.

        All that runs later in the transaction sees it. What it meets comes out at any later
        statement or at the commit, under its own name: where a caller tells by `ConstraintViolated`
        which statement was refused, `run` it.
        """
        self._execute(statement, values, self._cursor.send)

    def run_many(self, statement: Statement, rows: Sequence[dict[str, Any]], /) -> int:
        """Write once per row; all rows name the same columns."""
        if not rows:
            return 0
        self._execute_many(statement, rows, self._cursor.executemany)
        return self._cursor.rowcount

    def send_many(self, statement: Statement, rows: Sequence[dict[str, Any]], /) -> None:
        """`send` once per row; all rows name the same columns."""
        if rows:
            self._execute_many(statement, rows, self._cursor.send_many)

    def lock(self, key: str) -> None:
        """Let one transaction at a time hold `key` until it ends; where there is one writer, this is free."""
        if self._broken is not None or self._waiter.cancelled:
            raise self._over()
        try:
            self._port.lock(self._cursor, self.scope, key)
        except Exception as error:
            raise self._failed(error, None, ()) from error

    def end(self) -> BaseException | None:
        """Called when the function is done: nothing runs any more. Answers what broke it, if anything did."""
        broken, self._broken = self._broken, Ended("This transaction has ended.")
        return broken

    def _execute(self, statement: Statement, values: dict[str, Any], by: _Way) -> Prepared:
        prepared = self._prepare(statement, values)
        if prepared.owned:
            self._check_owner(prepared, values)
        parameters = prepared.parameters(self.scope, values)
        try:
            by(prepared.sql, parameters)
        except Exception as error:
            raise self._failed(error, prepared, (values,)) from error
        return prepared

    def _execute_many(self, statement: Statement, rows: Sequence[dict[str, Any]], by: _Way) -> None:
        names = rows[0].keys()
        if any(row.keys() != names for row in rows):
            msg = "The rows of one statement must all name the same columns."
            raise ValueError(msg)
        prepared = self._prepare(statement, rows[0])
        if prepared.owned:
            for row in rows:
                self._check_owner(prepared, row)
        parameters = prepared.all_parameters(self.scope, rows)
        try:
            by(prepared.sql, parameters)
        except Exception as error:
            raise self._failed(error, prepared, rows) from error

    def _prepare(self, statement: Statement, values: dict[str, Any]) -> Prepared:
        if self._broken is not None or self._waiter.cancelled:
            raise self._over()
        prepared = self._statements.prepare(statement, values, platform=self._platform)
        if not self._writes and prepared.target is not None:
            raise GuardError("A read can't write: use storage.write().")
        return prepared

    def _over(self) -> BaseException:
        """Why nothing runs any more."""
        if self._broken is None:
            self._broken = Cancelled()
        return self._broken

    def _check_owner(self, prepared: Prepared, values: dict[str, Any]) -> None:
        """A new row belongs to the scope, or to a parent that does."""
        if prepared.tenant is not None:
            named = values.get(prepared.tenant.column, self)
            if named is not self and named != owner_of(prepared.tenant, self.scope):
                raise GuardError("A new row can't be given to another organization.")
        elif prepared.through is not None:
            self._check_parent(prepared, prepared.through, values)

    def _check_parent(self, prepared: Prepared, through: Through, values: dict[str, Any]) -> None:
        if through.column not in values:
            raise GuardError(f"A new row names its {through.parent} row in {through.column}.")
        known = (through.parent, values[through.column])
        if self._parents is None:
            self._parents = set()
        if known not in self._parents:
            if self.one(_row_of_parent(through.parent), parent=known[1]) is None:
                self._broken = ConstraintViolated(_key_of(prepared.target, through.column))
                raise self._broken
            self._parents.add(known)

    def _failed(
        self, error: Exception, prepared: Prepared | None, rows: Sequence[dict[str, Any]]
    ) -> BaseException:
        self._broken = self._port.failure(error)
        if isinstance(self._broken, ConstraintViolated) and not self._broken.name:
            self._broken = ConstraintViolated(self._missing_parent(prepared, rows))
        return self._broken

    def _missing_parent(self, prepared: Prepared | None, rows: Sequence[dict[str, Any]]) -> str:
        if prepared is None or prepared.target is None:
            return "unknown"
        tenant = prepared.tenant
        own = {} if tenant is None else {tenant.column: owner_of(tenant, self.scope)}
        return self._port.missing_parent(
            self._cursor, prepared.target, [{**row, **own} for row in rows]
        )


@cache
def _row_of_parent(name: str) -> Statement:
    """Whether the scope has that row of a table that others belong to."""
    key = METADATA.tables[name].c.id
    return select(key).where(key == bindparam("parent"))


def _key_of(table: Table | None, column: str) -> str:
    """The foreign key that a missing parent breaks."""
    keys = table.foreign_key_constraints if table is not None else ()
    names = [str(key.name) for key in keys if column in key.column_keys]
    return names[0] if names else "unknown"
