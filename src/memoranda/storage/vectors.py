"""Vectors as a column, and how one statement compares them: in PostgreSQL alone, where pgvector does it."""

from array import array
from collections.abc import Callable, Iterator
from typing import Any, Final

from sqlalchemy import Column, LargeBinary, TypeDecorator, bindparam
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement, FromClause
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BinaryExpression, BindParameter
from sqlalchemy.sql.operators import eq
from sqlalchemy.sql.visitors import InternalTraversal
from sqlalchemy.types import Boolean, Float, TypeEngine, UserDefinedType

from memoranda.storage.types import is_sqlite

INDEXED_DIMENSIONS: Final = (256, 384, 512, 768, 1024, 1536, 3072)
"""Lengths of vectors that models have, and for which PostgreSQL keeps an index of the nearest."""

MODEL: Final = "model"
"""The column that stands beside every vector and names the model that made it."""


class PackedHalves(bytes):
    """A vector as PostgreSQL's `halfvec` sends and takes it, for the driver to pass on as it is."""


class _HalfVector(UserDefinedType[bytes]):
    """The column type of pgvector, for vectors of any length."""

    cache_ok = True

    def get_col_spec(self, **kw: Any) -> str:  # noqa: ARG002 - SQLAlchemy's signature
        return "halfvec"


class Vector(TypeDecorator[bytes]):
    """A vector in half precision: to Python, the bytes of its little-endian float16 numbers.

    SQLite keeps the bytes as they are; PostgreSQL keeps a `halfvec` of pgvector, which it can compare.
    """

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(LargeBinary() if is_sqlite(dialect) else _HalfVector())

    # Whole processors, which cost a call less for each vector.
    def bind_processor(self, dialect: Dialect) -> Callable[[bytes | None], bytes | None] | None:
        return None if is_sqlite(dialect) else _to_halves

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:  # noqa: ARG002 - SQLAlchemy's signature
        return None if is_sqlite(dialect) else _from_halves


def _to_halves(value: bytes | None) -> bytes | None:
    if value is None:
        return None
    return PackedHalves((len(value) // 2).to_bytes(2, "big") + b"\0\0" + _swapped(value))


def _from_halves(value: bytes) -> bytes:
    return _swapped(value[4:])


def _swapped(numbers: bytes) -> bytes:
    """Two bytes each, in the other order: PostgreSQL's numbers travel with the higher one first."""
    halves = array("H", numbers)
    halves.byteswap()
    return halves.tobytes()


class Distance(ColumnElement[float]):
    """How far a column's vectors are from a vector parameter: the inner product, below zero where they are near.

    With `dimensions`, it is what the index over vectors of that length is made of. It stands only where
    the vectors' model is held to one parameter: see the guard.
    """

    __visit_name__ = "distance"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = Float()

    def __init__(self, column: ColumnElement[bytes], name: str, dimensions: int | None) -> None:
        self.column = column
        self.query = bindparam(name, type_=Vector())
        self.dimensions = dimensions


class HasDimensions(ColumnElement[bool]):
    """Whether a column's vector has so many numbers, written out so that an index over those is found."""

    __visit_name__ = "has_dimensions"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[bytes], dimensions: int | BindParameter[int]) -> None:
        self.column = column
        self.dimensions = dimensions

    def self_group(self, against: object = None) -> "HasDimensions":  # noqa: ARG002 - SQLAlchemy's signature
        """Itself: it renders as one comparison."""
        return self


@compiles(Distance)
@compiles(HasDimensions)
def _render(element: Distance | HasDimensions, compiler: SQLCompiler, **kw: Any) -> str:
    """What the database's scoped compiler makes of it; elsewhere, words, so that a statement can be printed."""
    scoped = getattr(compiler, f"visit_{element.__visit_name__}", None)
    return str(scoped(element, **kw)) if scoped else f"{element.__visit_name__}({element.column})"


def one_model(criteria: list[ColumnElement[Any]]) -> Iterator[FromClause]:
    """The tables and aliases whose rows these criteria, which must all be true, hold to one model."""
    for clause in criteria:
        if type(clause) is BinaryExpression and clause.operator is eq:
            for column, value in ((clause.left, clause.right), (clause.right, clause.left)):
                held = type(value) is BindParameter and type(column) is Column
                if held and column.name == MODEL:
                    yield column.table
