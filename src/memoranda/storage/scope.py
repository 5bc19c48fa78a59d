"""Whose rows a transaction may touch, and how each table says whose rows it holds."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import Table, Uuid, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement, FromClause
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.visitors import InternalTraversal
from sqlalchemy.types import Boolean


class Platform(Enum):
    """The one scope that is no organization: rows that the operator keeps for everybody."""

    PLATFORM = "platform"


PLATFORM: Final = Platform.PLATFORM
Scope = UUID | Platform

NIL: Final = UUID(int=0)
SCOPE_BIND: Final = "scope_organization"


@dataclass(frozen=True)
class Tenant:
    """The table names its organization in `column`.

    `platform` says what the platform's own rows hold there: they do not exist
    (`refused`), hold NULL (`null`), or hold the nil id (`nil`, for columns that
    a unique key needs and that therefore can't be NULL). `listed` opens the
    whole table to the platform scope: the operator's list of organizations.
    """

    column: str = "organization_id"
    platform: Literal["refused", "null", "nil"] = "refused"
    listed: bool = False


@dataclass(frozen=True)
class Through:
    """The table stores no organization: each row belongs to the parent that `column` names."""

    column: str
    parent: str


@dataclass(frozen=True)
class Shared:
    """The table holds nothing of any organization but ids and counters."""


Tenancy = Tenant | Through | Shared
TENANCY: Final = "tenancy"


def tenancy_of(table: Table) -> Tenancy:
    """How `table` says whose rows it holds; a table that doesn't say can't be read at all."""
    tenancy = table.info.get(TENANCY)
    if not isinstance(tenancy, Tenant | Through | Shared):
        msg = f"Table {table.name} declares no tenancy: give it info={{'tenancy': …}}."
        raise TypeError(msg)
    return tenancy


class Mine(ColumnElement[bool]):
    """True for the rows of the transaction's own scope; rendered by the compiler, never by hand."""

    __visit_name__ = "mine"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = Boolean()

    def __init__(self, table: FromClause, tenancy: Tenant) -> None:
        self.table = table
        self.tenancy = tenancy
        self.column: ColumnElement[UUID] = table.c[tenancy.column]

    def self_group(self, against: object = None) -> "Mine":
        """Itself: it renders as one comparison and needs no wrapper that would hide it from the guard."""
        return self


def base_table(source: FromClause) -> Table | None:
    """The declared table behind a table or its alias; None for anything else."""
    if isinstance(source, Table):
        return source
    element = getattr(source, "element", None)
    return element if isinstance(element, Table) else None


def mine(source: FromClause) -> Mine:
    """The scope's predicate on a table or alias, for subqueries and outer joins.

    A statement's own top-level tables get theirs from the transaction.
    """
    table = base_table(source)
    tenancy = tenancy_of(table) if table is not None else None
    if not isinstance(tenancy, Tenant):
        msg = "Only a table that names its organization has a predicate of its own."
        raise TypeError(msg)
    return Mine(source, tenancy)


@compiles(Mine)
def _render_mine(element: Mine, compiler: SQLCompiler, *, platform: bool = False, **kw: Any) -> str:
    """`column = :scope`, or `column IS NULL` where the platform's rows hold NULL."""
    if platform and element.tenancy.listed:
        return "1 = 1"
    if platform and element.tenancy.platform == "null":
        return compiler.process(element.column.is_(None), **kw)
    return compiler.process(element.column == bindparam(SCOPE_BIND, type_=Uuid()), **kw)
