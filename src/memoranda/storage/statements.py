"""Compiles each statement once per database: predicate added, guard passed, parameters and rows converted."""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID
from weakref import ref

from sqlalchemy import Table
from sqlalchemy.dialects.postgresql import Insert as UpsertInsert
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Delete, Insert, Select, Update
from sqlalchemy.sql.selectable import CompoundSelect
from sqlalchemy.types import TypeEngine

from memoranda.storage.guard import GuardError, check_parts
from memoranda.storage.scope import (
    NIL,
    OWNER,
    PARENT,
    RESERVED,
    SCOPE,
    Scope,
    Shared,
    Tenant,
    Through,
    tenancy_of,
)
from memoranda.storage.types import id_of_digits, is_hex, takes_none

Statement: TypeAlias = Select[Any] | CompoundSelect[Any] | Insert | Update | Delete
# A named tuple whose fields are the statement's columns: each statement makes its own class.
Row: TypeAlias = Any
_SCOPE, _OWNER, _PARENT = SCOPE.key, OWNER.key, PARENT.key
_STATEMENTS: Final = {Select, CompoundSelect, Insert, UpsertInsert, Update, Delete}
# Of each parameter that differs from row to row: its place, its name in the row, how it is converted,
# and whether None is too.
_Plan: TypeAlias = list[tuple[int, str, Callable[[Any], Any] | None, bool]]


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
        self.owned = tenancy is not None and not isinstance(tenancy, Shared)
        self._positional = compiled.positiontup is not None
        names = list(compiled.binds) if compiled.positiontup is None else compiled.positiontup
        self._names = tuple(names)
        self._pick = _picker(self._names)
        self._scoped = _SCOPE in names
        kinds = [compiled.binds[name].type for name in names]
        # Half of what is written is ids, for which SQLite's own converter costs two calls more each.
        self._ids = [place for place, kind in enumerate(kinds) if is_hex(kind, dialect)]
        binds = [(place, _bind_of(kind, dialect)) for place, kind in enumerate(kinds)]
        binds = [bind for bind in binds if bind[0] not in self._ids]
        self._binds = [(place, convert) for place, convert in binds if convert is not None]
        self._with_none = frozenset(place for place, kind in enumerate(kinds) if takes_none(kind))
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._known = {
            name: bind.value for name, bind in compiled.binds.items() if not bind.required
        }
        self._make, self._results = _row_of(list(statement.exported_columns), dialect)

    def parameters(self, scope: Scope, values: Mapping[str, Any]) -> Any:
        """What the driver takes: a list or a dict; a missing name raises KeyError."""
        known = {**self._known, **values}
        if self._scoped:
            known[_SCOPE] = scope if isinstance(scope, UUID) else NIL
        if self.tenant is not None:
            known[_OWNER] = owner_of(self.tenant, scope)
        elif self.through is not None:
            known[_PARENT] = values[self.through.column]
        picked = list(self._pick(known))
        for place in self._ids:
            value = picked[place]
            if value is not None:
                picked[place] = _hex(value)
        for place, convert in self._binds:
            value = picked[place]
            if value is not None or place in self._with_none:
                picked[place] = convert(value)
        return picked if self._positional else dict(zip(self._names, picked, strict=True))

    def all_parameters(self, scope: Scope, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The `parameters` of each row, where all name the same values: what they share is made once."""
        first = self.parameters(scope, rows[0])
        shared = first if self._positional else list(first.values())
        plan = self._plan(tuple(rows[0]))
        made = []
        for row in rows:
            picked = shared.copy()
            for place, name, convert, with_none in plan:
                value = row[name]
                if convert is not None and (value is not None or with_none):
                    value = convert(value)
                picked[place] = value
            made.append(picked if self._positional else dict(zip(self._names, picked, strict=True)))
        return made

    def _plan(self, given: tuple[str, ...]) -> _Plan:
        """What to take from a row that names these values."""
        found = self._plans.get(given)
        if found is None:
            converts = dict(self._binds) | dict.fromkeys(self._ids, _hex)
            # A row names its parent by itself; whose it is, never: that is the scope's to say.
            parent = None if self.through is None else self.through.column
            sources = {name: name for name in given if name not in RESERVED} | {_PARENT: parent}
            found = self._plans[given] = [
                (place, source, converts.get(place), place in self._with_none)
                for place, name in enumerate(self._names)
                if (source := sources.get(name)) is not None
            ]
        return found

    def row(self, values: tuple[Any, ...]) -> Row:
        """A named tuple of Python values from what the driver returned."""
        if not self._results:
            return self._make(values)
        converted = list(values)
        for place, convert in self._results:
            if converted[place] is not None:
                converted[place] = convert(converted[place])
        return self._make(converted)


class _Met(NamedTuple):
    """A statement that came before; `forms` are an organization's and the platform's, by an insert's columns."""

    is_insert: bool
    forms: tuple[dict[tuple[str, ...], Prepared], dict[tuple[str, ...], Prepared]]
    alive: ref[Statement]


class Statements:
    """The prepared statements of one database, found by the identity of the constant in `store.py`."""

    def __init__(self, dialects: Dialects) -> None:
        self._dialects: Final = dialects
        # By id(), which is quicker than a weak dictionary; an entry goes with its statement, so before
        # another statement can have the same id.
        self._met: dict[int, _Met] = {}

    def prepare(self, statement: Statement, columns: Iterable[str], *, platform: bool) -> Prepared:
        """Compile and check `statement`, or find it; `columns` are those that an insert fills."""
        met = self._met.get(id(statement)) or self._meet(statement)
        names = tuple(columns) if met.is_insert else ()
        forms = met.forms[platform]
        found = forms.get(names)
        if found is None:
            found = forms[names] = Prepared(statement, self._dialects[platform], names)
        return found

    def _meet(self, statement: Statement) -> _Met:
        number, known = id(statement), self._met
        alive = ref(statement, lambda _: known.pop(number, None))
        met = known[number] = _Met(isinstance(statement, Insert), ({}, {}), alive)
        return met


def _hex(value: UUID) -> str:
    return f"{value.int:032x}"


def owner_of(tenancy: Tenant, scope: Scope) -> UUID | None:
    """What a new row of that scope holds in the column that says whose it is."""
    if isinstance(scope, UUID):
        return scope
    return NIL if tenancy.platform == "nil" else None


def _picker(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """What takes the values of `names` out of a mapping, in their order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda known: [known[name] for name in names]


def _bind_of(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result_of(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    if is_hex(kind, dialect):
        return id_of_digits
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def _row_of(
    columns: list[Any], dialect: Dialect
) -> tuple[Callable[[Iterable[Any]], Row], list[tuple[int, Callable[[Any], Any]]]]:
    """What makes a row, and the conversions of the values that need one, by their places."""
    names = [column.key or "" for column in columns]
    row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - made per statement
    converts = [_result_of(column.type, dialect) for column in columns]
    # What the class's own _make does, without counting the values: a driver returns all columns.
    make = partial(tuple.__new__, row)
    return make, [(place, made) for place, made in enumerate(converts) if made is not None]
