"""Compiles each statement once per database: predicate added, guard passed, parameters and rows converted."""

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy import Table
from sqlalchemy.dialects.postgresql import Insert as UpsertInsert
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Delete, Insert, Select, Update
from sqlalchemy.sql.selectable import CompoundSelect
from sqlalchemy.types import TypeEngine

from memoranda.storage.guard import GuardError, check_parts
from memoranda.storage.scope import NIL, OWNER, PARENT, SCOPE, Scope, Tenant, Through, tenancy_of

Statement: TypeAlias = Select[Any] | CompoundSelect[Any] | Insert | Update | Delete
# A named tuple whose fields are the statement's columns: each statement makes its own class.
Row: TypeAlias = Any
_Convert: TypeAlias = Callable[[Any], Any] | None
_STATEMENTS: Final = {Select, CompoundSelect, Insert, UpsertInsert, Update, Delete}


class Dialects(NamedTuple):
    """One database's two dialects: their compilers add an organization's predicate, or the platform's."""

    organization: Dialect
    platform: Dialect


class Prepared:
    """One statement ready to run: SQL text, a function for its parameters and one for its rows."""

    def __init__(self, statement: Statement, dialect: Dialect, columns: tuple[str, ...]) -> None:
        if type(statement) not in _STATEMENTS:
            raise GuardError(f"{type(statement).__name__} is no statement that can be checked.")
        check_parts(statement)
        compiled = statement.compile(
            dialect=dialect, column_keys=list(columns) if isinstance(statement, Insert) else None
        )
        self.sql = str(compiled)
        # What it writes to, for the transaction's own checks; None for a SELECT.
        self.target: Table | None = getattr(statement, "table", None)
        tenancy = None
        if self.target is not None and isinstance(statement, Insert):
            tenancy = tenancy_of(self.target)
        self.tenant = tenancy if isinstance(tenancy, Tenant) else None
        self.through = tenancy if isinstance(tenancy, Through) else None
        self._positional = compiled.positiontup is not None
        names = list(compiled.binds) if compiled.positiontup is None else compiled.positiontup
        self._binds = [(name, _bind_of(compiled.binds[name].type, dialect)) for name in names]
        self._known = {
            name: bind.value for name, bind in compiled.binds.items() if not bind.required
        }
        self._make, self._convert = _row_of(list(statement.exported_columns), dialect)

    def parameters(self, scope: Scope, values: Mapping[str, Any]) -> Any:
        """What the driver takes: a tuple or a dict; a missing name raises KeyError."""
        known = {**self._known, **values}
        known[SCOPE.key] = scope if isinstance(scope, UUID) else NIL
        if self.tenant is not None:
            known[OWNER.key] = owner_of(self.tenant, scope)
        elif self.through is not None:
            known[PARENT.key] = values[self.through.column]
        if self._positional:
            return [
                known[name] if convert is None else convert(known[name])
                for name, convert in self._binds
            ]
        return {
            name: known[name] if convert is None else convert(known[name])
            for name, convert in self._binds
        }

    def row(self, values: tuple[Any, ...]) -> Row:
        """A named tuple of Python values from what the driver returned."""
        if self._convert is None:
            return self._make(values)
        return self._make(
            [
                value if convert is None else convert(value)
                for value, convert in zip(values, self._convert, strict=True)
            ]
        )


class Statements:
    """The prepared statements of one database, found by the identity of the constant in `store.py`."""

    def __init__(self, dialects: Dialects) -> None:
        self._dialects: Final = dialects
        self._known: WeakKeyDictionary[Statement, dict[Any, Prepared]] = WeakKeyDictionary()

    def prepare(
        self, statement: Statement, columns: tuple[str, ...], *, platform: bool
    ) -> Prepared:
        """Compile and check `statement`, or find it; `columns` are those that an insert fills."""
        known = self._known.get(statement)
        if known is None:
            known = self._known.setdefault(statement, {})
        key = (columns if isinstance(statement, Insert) else None, platform)
        found = known.get(key)
        if found is None:
            found = known[key] = Prepared(statement, self._dialects[platform], columns)
        return found


def owner_of(tenancy: Tenant, scope: Scope) -> UUID | None:
    """What a new row of that scope holds in the column that says whose it is."""
    if isinstance(scope, UUID):
        return scope
    return NIL if tenancy.platform == "nil" else None


def _bind_of(kind: TypeEngine[Any], dialect: Dialect) -> _Convert:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _row_of(columns: list[Any], dialect: Dialect) -> tuple[Callable[[Any], Row], Any]:
    """What makes a row, and the conversion of each of its values (None where no value needs one)."""
    names = [column.key or "" for column in columns]
    row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - made per statement
    convert = [
        column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns
    ]
    return row._make, convert if any(convert) else None
