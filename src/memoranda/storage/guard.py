"""Refuses every statement that could touch another organization's rows, in production as in tests.

It reads the statement that was compiled, after the transaction has added its
predicates, and trusts nothing that was said before: each FROM, join, subquery
and write is looked at by itself. What it can't read, it refuses.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from sqlalchemy import Column, Table
from sqlalchemy.sql import Delete, FromClause, Insert, Select, Update, visitors
from sqlalchemy.sql.elements import (
    BinaryExpression,
    BooleanClauseList,
    ColumnClause,
    ColumnElement,
    Grouping,
    TextClause,
)
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.operators import and_, eq, in_op
from sqlalchemy.sql.selectable import CTE, CompoundSelect, Join, Subquery, TextualSelect

from memoranda.storage.scope import Mine, Shared, Tenant, Through, base_table, tenancy_of

# A function can reach past any predicate (set_config, pg_read_file): only these are known not to.
FUNCTIONS: Final = frozenset(
    {
        "abs",
        "coalesce",
        "count",
        "length",
        "lower",
        "max",
        "min",
        "row_number",
        "substr",
        "sum",
        "total",
    }
)


class GuardError(Exception):
    """The statement could touch rows of another organization; the message names the table."""


def check(statement: visitors.ExternallyTraversible, sql: str, *, platform: bool) -> None:
    """Raise `GuardError` unless every table in `statement` is held to the scope.

    `sql` is the text it compiled to: every known table named there must be one
    that was checked here, so that nothing hides where the walk does not look.
    """
    seen: set[str] = set()
    for element in visitors.iterate(statement):
        _refuse_raw_text(element)
        if isinstance(element, Select):
            _check_select(element, seen, platform=platform)
        elif isinstance(element, Update | Delete):
            _check_change(element, seen, platform=platform)
        elif isinstance(element, Insert):
            _check_insert(element, seen, platform=platform)
    tables = _known_tables(statement)
    hidden = (set(re.findall(r"\w+", sql)) & set(tables)) - seen
    unreadable = {
        name for name in hidden if re.search(rf"\b(FROM|JOIN|INTO|UPDATE|,)\s+{name}\b", sql)
    }
    if unreadable:
        raise GuardError(f"Tables {sorted(unreadable)} stand where the guard can't check them.")


def _known_tables(statement: visitors.ExternallyTraversible) -> Iterable[str]:
    for element in visitors.iterate(statement):
        if isinstance(element, Table):
            return list(element.metadata.tables)
    return []


def _refuse_raw_text(element: object) -> None:
    if isinstance(element, TextClause | TextualSelect):
        raise GuardError("Raw SQL text can't be checked: write the statement in SQLAlchemy Core.")
    if isinstance(element, ColumnClause) and element.is_literal:
        raise GuardError("Literal SQL can't be checked: name a column of a declared table.")
    if isinstance(element, FunctionElement):
        name = getattr(element, "name", "")
        if name not in FUNCTIONS:
            raise GuardError(
                f"The function {name!r} is not on the list of functions that are known to be safe."
            )


def _check_select(select: Select[tuple[object, ...]], seen: set[str], *, platform: bool) -> None:
    criteria = list(_conjuncts(select.whereclause))
    for source in select.get_final_froms():
        _check_source(source, criteria, seen, platform=platform)


def _check_source(
    source: FromClause, criteria: list[ColumnElement[object]], seen: set[str], *, platform: bool
) -> None:
    if isinstance(source, Join):
        on = list(_conjuncts(source.onclause))
        if source.full:
            raise GuardError("A full join keeps rows that no predicate has seen.")
        # The kept side of an outer join is not filtered by its ON clause.
        _check_source(
            source.left, criteria if source.isouter else criteria + on, seen, platform=platform
        )
        _check_source(
            source.right, on if source.isouter else criteria + on, seen, platform=platform
        )
    elif isinstance(source, Subquery | CTE):
        pass  # its own SELECT is walked like any other
    else:
        table = base_table(source)
        if table is None:
            raise GuardError(f"{type(source).__name__} is no declared table.")
        seen.add(table.name)
        _check_table(source, table, criteria, platform=platform)


def _check_table(
    source: FromClause, table: Table, criteria: list[ColumnElement[object]], *, platform: bool
) -> None:
    tenancy = tenancy_of(table)
    if isinstance(tenancy, Shared):
        return
    if isinstance(tenancy, Through):
        if not any(_joins_parent(clause, source, tenancy) for clause in criteria):
            raise GuardError(
                f"{table.name} is read without the join to {tenancy.parent} that scopes it."
            )
        return
    if platform and tenancy.platform == "refused" and not tenancy.listed:
        raise GuardError(
            f"{table.name} holds no rows of the platform: open a transaction of an organization."
        )
    if not any(isinstance(clause, Mine) and clause.table is source for clause in criteria):
        raise GuardError(
            f"{table.name} is used without its organization's predicate: add mine({table.name})."
        )


def _joins_parent(clause: ColumnElement[object], source: FromClause, tenancy: Through) -> bool:
    """`child.column = parent.id`, or `child.column IN (SELECT parent.id …)`; the parent is checked by itself."""
    if not isinstance(clause, BinaryExpression) or clause.operator not in {eq, in_op}:
        return False
    for child, parent in ((clause.left, clause.right), (clause.right, clause.left)):
        if child is source.c[tenancy.column] and _is_id_of(parent, tenancy.parent):
            return True
    return False


def _is_id_of(side: object, parent: str) -> bool:
    while isinstance(side, Grouping) or hasattr(side, "element"):
        side = side.element
    if isinstance(side, Select):
        columns = list(side.selected_columns)
        return len(columns) == 1 and _is_id_of(columns[0], parent)
    if (
        not isinstance(side, ColumnClause)
        or side.name != "id"
        or not isinstance(side.table, FromClause)
    ):
        return False
    table = base_table(side.table)
    return table is not None and table.name == parent


def _check_change(statement: Update | Delete, seen: set[str], *, platform: bool) -> None:
    table = statement.table
    if not isinstance(table, Table):
        raise GuardError("A write names one declared table.")
    seen.add(table.name)
    criteria = list(_conjuncts(statement.whereclause))
    _check_table(table, table, criteria, platform=platform)
    tenancy = tenancy_of(table)
    if isinstance(statement, Update):
        fixed = tenancy.column if isinstance(tenancy, Tenant | Through) else None
        if fixed and any(name == fixed for name in _set_columns(statement)):
            raise GuardError(f"{table.name}.{fixed} says whose row it is and can't be changed.")


def _set_columns(statement: Update | Insert) -> Iterator[str]:
    for key in (
        statement.compile().params if isinstance(statement, Insert) else (statement._values or {})
    ):  # noqa: SLF001 - no public way to read what an UPDATE sets
        yield key.name if isinstance(key, Column) else str(key)


def _check_insert(statement: Insert, seen: set[str], *, platform: bool) -> None:
    table = statement.table
    if not isinstance(table, Table) or statement.select is not None:
        raise GuardError("An insert names one declared table and gives its values, not a SELECT.")
    seen.add(table.name)
    tenancy = tenancy_of(table)
    if isinstance(tenancy, Tenant) and platform and tenancy.platform == "refused":
        raise GuardError(
            f"{table.name} holds no rows of the platform: open a transaction of an organization."
        )
    conflict = statement._post_values_clause  # noqa: SLF001 - ON CONFLICT has no public reader
    targets = getattr(conflict, "inferred_target_elements", None)
    updates = getattr(conflict, "update_values_to_set", None)
    if (
        updates
        and isinstance(tenancy, Tenant)
        and tenancy.column not in {_name(t) for t in targets or ()}
    ):
        raise GuardError(f"An upsert into {table.name} must find its row by {tenancy.column} too.")


def _name(target: object) -> str:
    return str(getattr(target, "name", target))


def _conjuncts(clause: object) -> Iterator[ColumnElement[object]]:
    """The parts that must all be true; an OR is one part and so can't vouch for anything."""
    if isinstance(clause, Grouping):
        yield from _conjuncts(clause.element)
    elif isinstance(clause, BooleanClauseList) and clause.operator is and_:
        for part in clause.clauses:
            yield from _conjuncts(part)
    elif isinstance(clause, ColumnElement):
        yield clause
