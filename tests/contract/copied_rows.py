"""Copies every row that a scope may touch from one database to another, ids and all, through storage."""

from typing import Any

from sqlalchemy import Table, insert, select

from memoranda.storage import PLATFORM, Scope, Storage, Transaction
from memoranda.storage.scope import Shared, Tenant, Through, tenancy_of
from memoranda.storage.tables import METADATA

Rows = dict[str, list[dict[str, Any]]]


def held_by(scope: Scope) -> list[Table]:
    """The tables in which the scope has rows of its own, parents before children."""
    return [table for table in METADATA.sorted_tables if _holds(table, scope)]


def _holds(table: Table, scope: Scope) -> bool:
    tenancy = tenancy_of(table)
    if isinstance(tenancy, Through):
        return _holds(METADATA.tables[tenancy.parent], scope)
    if isinstance(tenancy, Shared):
        return False
    return scope is not PLATFORM or (tenancy.platform != "refused" and not tenancy.listed)


def rows_of(tx: Transaction) -> Rows:
    """Every row of the transaction's scope, by table."""
    return {
        table.name: [row._asdict() for row in tx.all(_everything(table))]
        for table in held_by(tx.scope)
    }


def add_rows(tx: Transaction, rows: Rows) -> None:
    for table in held_by(tx.scope):
        tx.run_many(insert(table), rows[table.name])


def _everything(table: Table) -> Any:
    """All rows, always in one order: PostgreSQL promises none, so that what is the same could look changed."""
    rows, tenancy = select(*table.c).order_by(*table.primary_key), tenancy_of(table)
    if isinstance(tenancy, Tenant | Shared):
        return rows
    parent = METADATA.tables[tenancy.parent]
    return rows.join(parent, table.c[tenancy.column] == parent.c.id)


async def copy_rows(here: Storage, there: Storage, *scopes: Scope) -> None:
    """Copy the scopes' rows into a database that holds none of them."""
    for scope in scopes:
        await there.write(scope, add_rows, await here.read(scope, rows_of))
