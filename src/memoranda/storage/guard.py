"""Refuses every statement that could touch another organization's rows, in production as in tests.

The compiler asks it about each SELECT, join and write at the moment when that
turns into text, predicates already added. It trusts nothing that was said
before, and what it can't read, it refuses.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import Column, Table
from sqlalchemy.sql import Delete, FromClause, Insert, Select, Update, visitors
from sqlalchemy.sql.elements import (
    BinaryExpression,
    BooleanClauseList,
    ColumnClause,
    ColumnElement,
    Grouping,
)
from sqlalchemy.sql.operators import and_, eq, in_op
from sqlalchemy.sql.selectable import (
    CTE,
    Alias,
    CompoundSelect,
    Join,
    ScalarSelect,
    SelectStatementGrouping,
    Subquery,
)

from memoranda.storage.scope import Mine, Shared, Tenant, Through, base_table, tenancy_of, ungrouped
from memoranda.storage.tables.base import METADATA
from memoranda.storage.types import Contains, Joined, OneOf, OneOfPairs
from memoranda.storage.vectors import MODEL, Distance, HasDimensions, Vector, one_model

# A function can reach past any predicate (set_config, pg_read_file): only these are known not to.
FUNCTIONS: Final = frozenset(
    [
        "abs",
        "coalesce",
        "count",
        "length",
        "lower",
        "max",
        "min",
        "nullif",
        "replace",
        "round",
        "row_number",
        "substr",
        "sum",
        "total",
        "upper",
    ]
)
# Rendered as they are, so that a class of one's own could say anything.
_OURS: Final = frozenset({Joined, Mine, OneOf, OneOfPairs, Contains, Distance, HasDimensions})
_SQLALCHEMY: Final = "sqlalchemy."
_STORAGE_TYPES: Final = ("memoranda.storage.types", "memoranda.storage.vectors")


class GuardError(Exception):
    """The statement could touch rows of another organization; the message says where."""


def check_parts(statement: visitors.ExternallyTraversible) -> None:
    """Raise `GuardError` for a part whose class, or whose type's class, comes from elsewhere.

    Such a class can bring its own way of turning into SQL.
    """
    for element in visitors.iterate(statement):
        if type(element) not in _OURS and not _known(element, _SQLALCHEMY):
            raise GuardError(f"{type(element).__name__} renders itself, so it can't be checked.")
        kind = getattr(element, "type", None)
        if kind is not None and not _known(kind, _SQLALCHEMY, *_STORAGE_TYPES):
            raise GuardError(f"The type {type(kind).__name__} is not one of the product's own.")


def check_select(select: Select[Any], *, platform: bool) -> set[FromClause]:
    """The tables and aliases of the FROM clause, each of which the WHERE holds to the scope."""
    criteria = list(_conjuncts(select.whereclause))
    vouched: set[FromClause] = set()
    for source in select.get_final_froms():
        vouched |= _check_source(source, criteria, platform=platform)
    return vouched


def check_join(join: Join, *, platform: bool) -> set[FromClause]:
    """The tables on the right of an outer join, which its ON holds to the scope."""
    if join.full:
        raise GuardError("A full join keeps rows that no predicate has seen.")
    if not join.isouter:
        return set()
    return _check_source(join.right, list(_conjuncts(join.onclause)), platform=platform)


def check_update(statement: Update, *, platform: bool) -> set[FromClause]:
    """The one table of an UPDATE that stays in its scope and leaves its rows there."""
    vouched = check_delete(statement, platform=platform)
    values: Any = statement._values or {}  # noqa: SLF001 - there is no public way to read what is set
    _refuse_moving(_declared(statement.table), values)
    return vouched


def check_delete(statement: Update | Delete, *, platform: bool) -> set[FromClause]:
    """The one table of an UPDATE or DELETE that stays in its scope."""
    table = _declared(statement.table)
    return _check_source(table, list(_conjuncts(statement.whereclause)), platform=platform)


def check_insert(statement: Insert, *, platform: bool) -> Table:
    """The table that an INSERT with plain values goes to."""
    table = _declared(statement.table)
    if statement.select is not None:
        raise GuardError("An insert gives its values: select them first.")
    tenancy = tenancy_of(table)
    if isinstance(tenancy, Tenant):
        _refuse_platform(table, tenancy, platform=platform)
    conflict: Any = statement._post_values_clause  # noqa: SLF001 - ON CONFLICT has no public reader
    changes = getattr(conflict, "update_values_to_set", None)
    if conflict is not None and changes:
        _refuse_moving(table, changes)
        targets = {_name(target) for target in conflict.inferred_target_elements or ()}
        if isinstance(tenancy, Tenant | Through) and tenancy.column not in targets:
            raise GuardError(
                f"An upsert into {table.name} must find its row by {tenancy.column} too."
            )
    return table


def of_one_model(whereclause: ColumnElement[Any] | None) -> set[FromClause]:
    """The tables and aliases whose rows a WHERE holds to one model."""
    return set(one_model(list(_conjuncts(whereclause))))


def told_with_model(select: Select[Any]) -> set[FromClause]:
    """The tables and aliases of which a SELECT returns the model of each row."""
    return {
        column.table
        for column in select.selected_columns
        if type(column) is Column and column.name == MODEL
    }


def check_vector(column: ColumnElement[Any], held: set[FromClause]) -> None:
    """Refuse vectors that may be of several models without a word of which: those can't be compared."""
    if isinstance(column.type, Vector) and getattr(column, "table", None) not in held:
        raise GuardError(f"{column} may be of several models: hold its model to one parameter.")


def check_column(column: ColumnClause[Any]) -> None:
    """Refuse literal SQL; `*` is what count() and exists() stand for by themselves."""
    if column.is_literal and column.name != "*":
        raise GuardError("Literal SQL can't be checked: name a column of a declared table.")
    if column.table is None and not column.is_literal:
        raise GuardError(f"{column.name} is a column of no table.")


def check_function(function: Any) -> None:
    """Refuse a function that is not known to stay within the rows it is given."""
    if function.name not in FUNCTIONS or tuple(function.packagenames):
        raise GuardError(
            f"The function {function.name!r} is not on the list of those that are known to be safe."
        )


def _known(part: object, *modules: str) -> bool:
    return f"{type(part).__module__}.".startswith(modules)


def _check_source(
    source: FromClause, criteria: list[ColumnElement[Any]], *, platform: bool
) -> set[FromClause]:
    source = ungrouped(source)
    if type(source) is Join:
        # The kept side of an outer join is not filtered by its ON, and the other one only by it.
        if source.isouter:
            return _check_source(source.left, criteria, platform=platform)
        both = criteria + list(_conjuncts(source.onclause))
        return _check_source(source.left, both, platform=platform) | _check_source(
            source.right, both, platform=platform
        )
    if _is_derived(source):
        return set()  # its own SELECT comes to the guard by itself
    table = _declared(base_table(source))
    _check_table(source, table, criteria, platform=platform)
    return {source}


def _is_derived(source: FromClause) -> bool:
    """A subquery or CTE of selects alone, or an alias of one."""
    inner: Any = source
    while type(inner) is Alias:
        inner = inner.element
    if type(inner) not in {Subquery, CTE}:
        return False
    inner = inner.element
    while type(inner) is SelectStatementGrouping:
        inner = inner.element
    return type(inner) in {Select, CompoundSelect}


def _declared(table: object) -> Table:
    if not isinstance(table, Table) or METADATA.tables.get(table.key) is not table:
        raise GuardError(f"{getattr(table, 'name', table)} is no table of the product's schema.")
    return table


def _check_table(
    source: FromClause, table: Table, criteria: list[ColumnElement[Any]], *, platform: bool
) -> None:
    tenancy = tenancy_of(table)
    if isinstance(tenancy, Shared):
        return
    if isinstance(tenancy, Through):
        if not any(_joins_parent(clause, source, tenancy) for clause in criteria):
            raise GuardError(
                f"{table.name} is used without the join to {tenancy.parent} that scopes it."
            )
        return
    _refuse_platform(table, tenancy, platform=platform)
    if not any(_is_mine(clause, source, tenancy) for clause in criteria):
        raise GuardError(f"{table.name} is used without its organization's predicate.")


def _refuse_platform(table: Table, tenancy: Tenant, *, platform: bool) -> None:
    if platform and tenancy.platform == "refused" and not tenancy.listed:
        raise GuardError(
            f"{table.name} holds no rows of the platform: open a transaction of an organization."
        )


def _is_mine(clause: ColumnElement[Any], source: FromClause, tenancy: Tenant) -> bool:
    return (
        isinstance(clause, Mine)
        and clause.table is source
        and clause.tenancy == tenancy
        and clause.column is source.c[tenancy.column]
    )


def _joins_parent(clause: ColumnElement[Any], source: FromClause, tenancy: Through) -> bool:
    """`child.column = parent.id`, or `child.column IN (SELECT parent.id …)`; the parent is checked by itself."""
    if type(clause) is not BinaryExpression:
        return False
    column = source.c[tenancy.column]
    if clause.operator is in_op:
        return clause.left is column and _selects_id_of(clause.right, tenancy.parent)
    if clause.operator is not eq:
        return False
    sides = ((clause.left, clause.right), (clause.right, clause.left))
    return any(
        child is column
        and (_is_id_of(parent, tenancy.parent) or _selects_id_of(parent, tenancy.parent))
        for child, parent in sides
    )


def _selects_id_of(side: object, parent: str) -> bool:
    while isinstance(side, Grouping | ScalarSelect | SelectStatementGrouping):
        side = side.element
    if type(side) is not Select:
        return False
    columns = list(side.selected_columns)
    return len(columns) == 1 and _is_id_of(columns[0], parent)


def _is_id_of(side: object, parent: str) -> bool:
    if not isinstance(side, Column) or side.name != "id":
        return False
    table = base_table(side.table)
    return table is not None and table is METADATA.tables[parent]


def _refuse_moving(table: Table, changes: Iterable[object]) -> None:
    tenancy = tenancy_of(table)
    fixed = tenancy.column if isinstance(tenancy, Tenant | Through) else None
    if fixed in {_name(change) for change in changes}:
        raise GuardError(f"{table.name}.{fixed} says whose row it is and can't be changed.")


def _name(target: object) -> str:
    return str(getattr(target, "key", target))


def _conjuncts(clause: object) -> Iterator[ColumnElement[Any]]:
    """The parts that must all be true; an OR is one part and so can't vouch for anything."""
    if type(clause) is Grouping:
        yield from _conjuncts(clause.element)
    elif isinstance(clause, BooleanClauseList) and clause.operator is and_:
        for part in clause.clauses:
            yield from _conjuncts(part)
    elif isinstance(clause, ColumnElement):
        yield clause
