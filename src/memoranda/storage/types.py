"""Column types and expressions that read the same above storage and compile per database."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import methodcaller
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID, SafeUUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    DateTime,
    Integer,
    LargeBinary,
    Table,
    Text,
    TypeDecorator,
    Uuid,
    bindparam,
)
from sqlalchemy.dialects.postgresql import insert as conflict_insert
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement, FromClause, Insert
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.visitors import InternalTraversal
from sqlalchemy.types import Boolean, NullType, TypeEngine

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Made once, because json.dumps with options makes an encoder on every call.
_JSON: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode
_EMPTY: Final[dict[type, str]] = {list: "[]", tuple: "[]", dict: "{}"}
# The places of an id's two values, which its own __setattr__ guards.
_SET_INT, _SET_SAFE = UUID.__dict__["int"].__set__, UUID.__dict__["is_safe"].__set__
_NEW, _UNKNOWN = object.__new__, SafeUUID.unknown


# What a driver returned: no NULL comes here, and each time has a zone.
_read_in_utc: Final = methodcaller("astimezone", UTC)


class UtcTime(TypeDecorator[datetime]):
    """An aware time: whole microseconds since 1970 in SQLite, `timestamptz` in PostgreSQL."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(
            BigInteger() if is_sqlite(dialect) else DateTime(timezone=True)
        )

    # Whole processors in the place of process_bind_param and its kin, which cost a call more each time.
    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any]:
        return _microseconds if is_sqlite(dialect) else _in_utc

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002 - SQLAlchemy's signature
        return _from_microseconds if is_sqlite(dialect) else _read_in_utc


def _microseconds(value: datetime | None) -> int | None:
    if value is None:
        return None
    try:
        since = value - EPOCH
    except TypeError:
        raise _no_zone() from None
    # Whole numbers: to divide by a timedelta makes two more objects.
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _from_microseconds(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)


def _in_utc(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if value.utcoffset() is None:
        raise _no_zone()
    return value.astimezone(UTC)


def _no_zone() -> ValueError:
    return ValueError("A time without a zone can't be stored: give an aware datetime.")


class Json(TypeDecorator[Any]):
    """A JSON value kept as text, with sorted keys, so that both databases return what was written."""

    impl = Text
    cache_ok = True

    # Whole processors, as for UtcTime.
    def bind_processor(self, dialect: Dialect) -> Callable[[Any], str | None]:  # noqa: ARG002 - SQLAlchemy's signature
        return _to_json

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002 - SQLAlchemy's signature
        return _from_json


def _to_json(value: Any) -> str | None:
    if not value and type(value) in _EMPTY:  # most tags and references
        return _EMPTY[type(value)]
    return None if value is None else _JSON(value)


def _from_json(value: str | None) -> Any:
    if value == "[]":  # most tags and references
        return []
    return None if value is None else json.loads(value)


class _List(TypeDecorator[Any]):
    """A list parameter: JSON text for SQLite's json_each, an array for PostgreSQL's ANY."""

    impl = Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Text() if is_sqlite(dialect) else dialect.type_descriptor(ARRAY(self.item))

    # Whole processors, as for UtcTime.
    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        if not is_sqlite(dialect):
            return _ids_in_one if type(self.item) is Uuid else _as_list
        convert = self.item.dialect_impl(dialect).bind_processor(dialect)

        def to_json(value: Any) -> str:
            values = list(value or ())
            return json.dumps(values if convert is None else [convert(item) for item in values])

        return to_json


def _as_list(value: Any) -> list[Any]:
    return list(value or ())


def _ids_in_one(value: Any) -> str:
    """An array of ids as PostgreSQL reads it: the driver looks at each item for what it would have to quote."""
    return "{" + ",".join([item.hex for item in value or ()]) + "}"


class _Pairs(TypeDecorator[Any]):
    """A list parameter of pairs of ids, numbers or texts: JSON on both databases, as their columns store them."""

    impl = Text
    cache_ok = True

    def __init__(self, first: TypeEngine[Any], second: TypeEngine[Any]) -> None:
        super().__init__()
        self.kinds = (first, second)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        makers = [kind.dialect_impl(dialect).bind_processor(dialect) for kind in self.kinds]
        pairs = [
            [part if make is None else make(part) for part, make in zip(pair, makers, strict=True)]
            for pair in value or ()
        ]
        return json.dumps(pairs, default=str)  # an id, where it is no text yet


def is_hex(kind: TypeEngine[Any], dialect: Dialect) -> bool:
    """Whether the type is an id that the database keeps as 32 hexadecimal digits."""
    return type(kind) is Uuid and is_sqlite(dialect)


def takes_none(kind: TypeEngine[Any]) -> bool:
    """Whether None is no NULL to the type: a list parameter reads it as an empty list."""
    return isinstance(kind, _List | _Pairs)


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


class OneOfPairs(ColumnElement[bool]):
    """Two columns together equal one of the pairs of a list parameter."""

    __visit_name__ = "one_of_pairs"
    _traverse_internals = [  # noqa: RUF012 - SQLAlchemy's own name
        ("first", InternalTraversal.dp_clauseelement),
        ("second", InternalTraversal.dp_clauseelement),
    ]
    inherit_cache = False
    type = Boolean()

    def __init__(self, first: ColumnElement[Any], second: ColumnElement[Any], name: str) -> None:
        self.first = first
        self.second = second
        self.values = bindparam(name, type_=_Pairs(first.type, second.type))

    def self_group(self, against: object = None) -> "OneOfPairs":  # noqa: ARG002 - SQLAlchemy's signature
        """Itself: it renders as one comparison."""
        return self


@compiles(OneOfPairs)
def _render_pairs(element: OneOfPairs, compiler: SQLCompiler, **kw: Any) -> str:
    """As `_render`, for pairs."""
    scoped = getattr(compiler, "visit_one_of_pairs", None)
    return (
        str(scoped(element, **kw))
        if scoped
        else f"one_of_pairs({element.first}, {element.second}, {element.values.key})"
    )


class Contains(ColumnElement[bool]):
    """`column` holds a text parameter somewhere, character for character."""

    __visit_name__ = "contains"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.needle = bindparam(name, type_=Text())

    def self_group(self, against: object = None) -> "Contains":  # noqa: ARG002 - SQLAlchemy's signature
        """Itself: it renders as one comparison."""
        return self


@compiles(Contains)
def _render_contains(element: Contains, compiler: SQLCompiler, **kw: Any) -> str:
    """As `_render`, for a part of a text."""
    scoped = getattr(compiler, "visit_contains", None)
    return (
        str(scoped(element, **kw))
        if scoped
        else f"contains({element.column}, {element.needle.key})"
    )


class Joined(ColumnElement[Any]):
    """The values of all rows of a group as one value: of thousands of rows the driver makes no thousands of objects.

    Ids are 16 bytes each, whole numbers 4, the highest first, and bytes are what they are. Several of
    these in one SELECT have one order of rows. `joined_bytes` reads what `Transaction.plain` returns of it.
    """

    __visit_name__ = "joined"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = NullType()

    def __init__(self, column: ColumnElement[Any]) -> None:
        if not isinstance(column.type, Uuid | Integer | LargeBinary):
            raise TypeError(f"ids, whole numbers and bytes are joined, and not {column.type}")
        self.column = column

    @property
    def _from_objects(self) -> list[FromClause]:
        return list(self.column._from_objects)  # noqa: SLF001 - how SQLAlchemy finds what a SELECT is from

    def self_group(self, against: object = None) -> "Joined":  # noqa: ARG002 - SQLAlchemy's signature
        """Itself: it renders as one call."""
        return self


@compiles(Joined)
def _render_joined(element: Joined, compiler: SQLCompiler, **kw: Any) -> str:
    """As `_render`, for a group's values."""
    scoped = getattr(compiler, "visit_joined", None)
    return str(scoped(element, **kw)) if scoped else f"joined({element.column})"


def joined(column: ColumnElement[Any]) -> Joined:
    """Select the values of a group as one; for ids, whole numbers and bytes that are never NULL."""
    return Joined(column)


def joined_bytes(value: str | bytes | None) -> bytes:
    """What `joined` selected, as bytes on both databases; none where there was no row."""
    return bytes.fromhex(value) if isinstance(value, str) else value or b""


def id_bytes(values: Sequence[Any]) -> bytes:
    """The 16 bytes of each id of a column that `Transaction.plain` returned, one after the other."""
    if values and isinstance(values[0], str):
        return bytes.fromhex("".join(values))
    return b"".join([value.bytes for value in values])


def id_of(value: Any) -> UUID:
    """The id that `Transaction.plain` returned so."""
    return value if isinstance(value, UUID) else id_of_digits(value)


def id_of_digits(digits: str) -> UUID:
    """The id of 32 hexadecimal digits, in a tenth of the time that `UUID()` takes to doubt them."""
    return _id(int(digits, 16))


def id_of_bytes(value: bytes) -> UUID:
    """The id of 16 bytes, likewise."""
    return _id(int.from_bytes(value))


def _id(number: int) -> UUID:
    made = _NEW(UUID)
    _SET_INT(made, number)
    _SET_SAFE(made, _UNKNOWN)
    return made


def one_of(column: ColumnElement[Any], name: str) -> OneOf:
    """Use instead of IN: `tx.all(STATEMENT, name=[…])`; an empty list matches nothing."""
    return OneOf(column, name)


def one_of_pairs(first: ColumnElement[Any], second: ColumnElement[Any], name: str) -> OneOfPairs:
    """As `one_of`, for two columns at once: `tx.all(STATEMENT, name=[(…, …), …])`."""
    return OneOfPairs(first, second, name)


def contains(column: ColumnElement[Any], name: str) -> Contains:
    """Use instead of LIKE: `tx.all(STATEMENT, name="50 %_")`, in which no character is a pattern.

    Case counts. An empty text, or None, is in nothing, and a column that is NULL holds nothing.
    """
    return Contains(column, name)


def insert_or_ignore(table: Table) -> Insert:
    """An insert that leaves a row that is there already as it is."""
    return conflict_insert(table).on_conflict_do_nothing()


def upsert(
    table: Table,
    keys: Sequence[str],
    *,
    set_: Sequence[str] = (),
    add: Sequence[str] = (),
    still: Mapping[str, str] = MappingProxyType({}),
) -> Insert:
    """An insert that changes the row that is there already where `keys` name one.

    The columns in `set_` take the new values; those in `add` grow by them. A flag in `still` stays
    true only where the column that it names has the new value already.
    """
    statement = conflict_insert(table)
    new = statement.excluded
    changes = {name: new[name] for name in set_} | {name: table.c[name] + new[name] for name in add}
    changes |= {flag: table.c[flag] & (table.c[name] == new[name]) for flag, name in still.items()}
    return statement.on_conflict_do_update(index_elements=list(keys), set_=changes)


def is_sqlite(dialect: Dialect) -> bool:
    """Which of the two databases a value is converted for."""
    return dialect.name == "sqlite"
