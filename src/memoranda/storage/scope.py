"""Whose rows a transaction may touch, and how each table says whose rows it holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import Table, Uuid, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement, FromClause
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import Alias, FromGrouping, Join
from sqlalchemy.sql.visitors import InternalTraversal
from sqlalchemy.types import Boolean


class Platform(Enum):
    """The one scope that is no organization: rows that the operator keeps for everybody."""

    PLATFORM = "platform"


PLATFORM: Final = Platform.PLATFORM
Scope = UUID | Platform

NIL: Final = UUID(int=0)

# The parameters that the transaction fills by itself. A statement may not have its own of these names.
SCOPE: Final = bindparam("scope_organization", type_=Uuid())  # in predicates
OWNER: Final = bindparam("scope_owner", type_=Uuid())  # in a new row that names its organization
PARENT: Final = bindparam("scope_parent", type_=Uuid())  # in a new row that names its parent
RESERVED: Final = {bind.key: bind for bind in (SCOPE, OWNER, PARENT)}


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
    """True for the rows of the transaction's own scope; only the scoped compiler can render it."""

    __visit_name__ = "mine"
    _traverse_internals = [("column", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 - SQLAlchemy's own name
    inherit_cache = False
    type = Boolean()

    def __init__(self, table: FromClause, tenancy: Tenant) -> None:
        self.table = table
        self.tenancy = tenancy
        self.column: ColumnElement[UUID] = table.c[tenancy.column]

    def self_group(self, against: object = None) -> "Mine":  # noqa: ARG002 - SQLAlchemy's signature
        """Itself: it renders as one comparison and needs no wrapper that would hide it from the guard."""
        return self


@compiles(Mine)
def _render(element: Mine, compiler: SQLCompiler, **kw: Any) -> str:
    """What the scoped compiler makes of it; elsewhere, words, so that a statement can be printed."""
    scoped = getattr(compiler, "visit_mine", None)
    return str(scoped(element, **kw)) if scoped else f"mine({element.column})"


def base_table(source: FromClause) -> Table | None:
    """The declared table behind a table or its plain alias; None for anything else."""
    if isinstance(source, Table):
        return source
    element = source.element if type(source) is Alias else None
    return element if isinstance(element, Table) else None


def ungrouped(source: FromClause) -> FromClause:
    """What stands between the parentheses that a join within a join gets."""
    return source.element if type(source) is FromGrouping else source


def mine(source: FromClause) -> Mine:
    """The scope's predicate on a table or alias, where a statement wants to show it.

    The transaction adds it to every statement and subquery by itself.
    """
    table = base_table(source)
    tenancy = tenancy_of(table) if table is not None else None
    if not isinstance(tenancy, Tenant):
        msg = "Only a table that names its organization has a predicate of its own."
        raise TypeError(msg)
    return Mine(source, tenancy)


def mine_of(sources: Iterable[FromClause]) -> Iterator[Mine]:
    """The predicates that a FROM list needs in its WHERE.

    The right side of an outer join is not among them: its predicate stands in
    the ON clause, because a WHERE would drop the rows that found no partner.
    """
    for source in map(ungrouped, sources):
        if isinstance(source, Join):
            yield from mine_of([source.left] if source.isouter else [source.left, source.right])
        elif (table := base_table(source)) is not None and isinstance(tenancy_of(table), Tenant):
            yield mine(source)
