"""Column types and expressions that read the same above storage and compile per database."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, DateTime, Table, Text, TypeDecorator, bindparam
from sqlalchemy.dialects.postgresql import insert as conflict_insert
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement, Insert
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.visitors import InternalTraversal
from sqlalchemy.types import Boolean, TypeEngine

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
# Made once, because json.dumps with options makes an encoder on every call.
_JSON: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


class UtcTime(TypeDecorator[datetime]):
    """An aware time: whole microseconds since 1970 in SQLite, `timestamptz` in PostgreSQL."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(
            BigInteger() if _is_sqlite(dialect) else DateTime(timezone=True)
        )

    # Whole processors in the place of process_bind_param and its kin, which cost a call more each time.
    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any]:
        return _microseconds if _is_sqlite(dialect) else _in_utc

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002 - SQLAlchemy's signature
        return _from_microseconds if _is_sqlite(dialect) else _in_utc


def _microseconds(value: datetime | None) -> int | None:
    return None if value is None else (_aware(value) - EPOCH) // _MICROSECOND


def _from_microseconds(value: int | None) -> datetime | None:
    return None if value is None else EPOCH + timedelta(microseconds=value)


def _in_utc(value: datetime | None) -> datetime | None:
    return None if value is None else _aware(value).astimezone(UTC)


def _aware(value: datetime) -> datetime:
    if value.utcoffset() is None:
        msg = "A time without a zone can't be stored: give an aware datetime."
        raise ValueError(msg)
    return value


class Json(TypeDecorator[Any]):
    """A JSON value kept as text, with sorted keys, so that both databases return what was written."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        return None if value is None else _JSON(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 - SQLAlchemy's signature
        return None if value is None else json.loads(value)


class _List(TypeDecorator[Any]):
    """A list parameter: JSON text for SQLite's json_each, an array for PostgreSQL's ANY."""

    impl = Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Text() if _is_sqlite(dialect) else dialect.type_descriptor(ARRAY(self.item))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        values = list(value or ())
        if not _is_sqlite(dialect):
            return values
        convert = self.item.dialect_impl(dialect).bind_processor(dialect)
        return json.dumps(values if convert is None else [convert(item) for item in values])


class OneOf(ColumnElement[bool]):
    """`column` equals one of the values of a list parameter; one statement for any length."""

    __visit_name__ = "one_of"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.values = bindparam(name, type_=_List(column.type))

    def self_group(self, against: object = None) -> "OneOf":  # noqa: ARG002 - SQLAlchemy's signature
        """Itself: it renders as one comparison."""
        return self


@compiles(OneOf)
def _render(element: OneOf, compiler: SQLCompiler, **kw: Any) -> str:
    """What the database's scoped compiler makes of it; elsewhere, words, so that a statement can be printed."""
    scoped = getattr(compiler, "visit_one_of", None)
    return (
        str(scoped(element, **kw)) if scoped else f"one_of({element.column}, {element.values.key})"
    )


def one_of(column: ColumnElement[Any], name: str) -> OneOf:
    """Use instead of IN: `tx.all(STATEMENT, name=[…])`; an empty list matches nothing."""
    return OneOf(column, name)


def insert_or_ignore(table: Table) -> Insert:
    """An insert that leaves a row that is there already as it is."""
    return conflict_insert(table).on_conflict_do_nothing()


def upsert(
    table: Table, keys: Sequence[str], *, set_: Sequence[str] = (), add: Sequence[str] = ()
) -> Insert:
    """An insert that changes the row that is there already where `keys` name one.

    The columns in `set_` take the new values; those in `add` grow by them.
    """
    statement = conflict_insert(table)
    new = statement.excluded
    changes = {name: new[name] for name in set_} | {name: table.c[name] + new[name] for name in add}
    return statement.on_conflict_do_update(index_elements=list(keys), set_=changes)


def _is_sqlite(dialect: Dialect) -> bool:
    return dialect.name == "sqlite"
