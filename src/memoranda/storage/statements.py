"""Compiles each statement once per database: predicate added, guard passed, parameters and rows converted."""

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Delete, FromClause, Insert, Select, Update
from sqlalchemy.sql.selectable import CompoundSelect, Join
from sqlalchemy.types import TypeEngine

from memoranda.storage import guard
from memoranda.storage.scope import (
    NIL,
    SCOPE_BIND,
    Mine,
    Scope,
    Tenant,
    base_table,
    mine,
    tenancy_of,
)

Statement: TypeAlias = Select[Any] | CompoundSelect[Any] | Insert | Update | Delete
# A named tuple whose fields are the statement's columns: each statement makes its own class.
Row: TypeAlias = Any
_Convert: TypeAlias = Callable[[Any], Any] | None


class Prepared:
    """One statement ready to run: SQL text, a function for its parameters and one for its rows."""

    def __init__(
        self, statement: Statement, dialect: Dialect, columns: tuple[str, ...], *, platform: bool
    ) -> None:
        scoped = _with_predicates(statement)
        compiled = scoped.compile(
            dialect=dialect,
            column_keys=list(columns) if isinstance(scoped, Insert) else None,
            compile_kwargs={"platform": platform},
        )
        self.sql = str(compiled)
        guard.check(scoped, self.sql, platform=platform)
        self._positional = compiled.positiontup
        names = self._positional if self._positional is not None else list(compiled.binds)
        self._binds = [(name, _bind_of(compiled.binds[name].type, dialect)) for name in names]
        self._literals = {
            name: bind.value for name, bind in compiled.binds.items() if not bind.required
        }
        self.scope_column = _scope_column(scoped)
        returned = list(scoped.exported_columns) if scoped.is_select or _returns(scoped) else []
        self._row = (
            namedtuple("Row", [c.key or "" for c in returned], rename=True) if returned else None
        )  # noqa: PYI024 - made per statement
        self._convert = [_result_of(column.type, dialect) for column in returned]
        self._plain = not any(self._convert)

    def parameters(self, scope: Scope, values: Mapping[str, Any]) -> Any:
        """What the driver takes: a tuple or a dict; a missing name raises KeyError."""
        key = scope if isinstance(scope, UUID) else NIL
        known = {**self._literals, **values, SCOPE_BIND: key}
        if self._positional is None:
            return {name: _bound(convert, known[name]) for name, convert in self._binds}
        return tuple([_bound(convert, known[name]) for name, convert in self._binds])

    def row(self, values: tuple[Any, ...]) -> Row:
        """A named tuple of Python values from what the driver returned."""
        assert self._row is not None, "the statement returns no rows"
        if self._plain:
            return self._row._make(values)
        return self._row._make(
            [
                value if convert is None else convert(value)
                for convert, value in zip(self._convert, values, strict=True)
            ]
        )


class Statements:
    """The prepared statements of one database, found by the identity of the constant in `store.py`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect: Final = dialect
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
            found = known[key] = Prepared(statement, self._dialect, columns, platform=platform)
        return found


def _with_predicates(statement: Statement) -> Statement:
    """Add the scope's predicate for each table that stands at the statement's top level."""
    if isinstance(statement, Update | Delete):
        return statement.where(*_predicates([statement.table]))
    if isinstance(statement, Select):
        return statement.where(*_predicates(statement.get_final_froms()))
    return statement


def _predicates(sources: list[FromClause]) -> list[Mine]:
    found: list[Mine] = []
    for source in sources:
        if isinstance(source, Join):
            # The right side of an outer join is scoped in its ON clause, by hand.
            found += _predicates([source.left] if source.isouter else [source.left, source.right])
        elif (table := base_table(source)) is not None and isinstance(tenancy_of(table), Tenant):
            found.append(mine(source))
    return found


def _scope_column(statement: Statement) -> tuple[str, Tenant] | None:
    if not isinstance(statement, Insert):
        return None
    table = base_table(statement.table)
    tenancy = tenancy_of(table) if table is not None else None
    return (tenancy.column, tenancy) if isinstance(tenancy, Tenant) else None


def insert_columns(statement: Statement, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that an insert fills: those given, and the one that says whose row it is."""
    column = _scope_column(statement)
    return names if column is None or column[0] in names else (*names, column[0])


def scope_value(tenancy: Tenant, scope: Scope) -> UUID | None:
    """What a new row holds in the column that says whose it is."""
    if isinstance(scope, UUID):
        return scope
    return NIL if tenancy.platform == "nil" else None


def _returns(statement: Statement) -> bool:
    return isinstance(statement, Insert | Update | Delete) and bool(statement.exported_columns)


def _bound(convert: _Convert, value: Any) -> Any:
    return value if convert is None else convert(value)


def _bind_of(kind: TypeEngine[Any], dialect: Dialect) -> _Convert:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result_of(kind: TypeEngine[Any], dialect: Dialect) -> _Convert:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
