"""The SQL of published policies, which are only ever added to."""

from typing import Any, Final
from uuid import UUID

from sqlalchemy import bindparam, func, insert, select

from memoranda.storage import Row, Transaction
from memoranda.storage.tables import context_policies
from memoranda.words.ids import new_id

_COLUMNS = (
    context_policies.c.name,
    context_policies.c.version,
    context_policies.c.policy,
    context_policies.c.created_at,
)
ADD: Final = insert(context_policies)
NEWEST: Final = (
    select(*_COLUMNS)
    .where(context_policies.c.name == bindparam("named"))
    .order_by(context_policies.c.version.desc())
    .limit(1)
)
ONE: Final = select(*_COLUMNS).where(
    context_policies.c.name == bindparam("named"),
    context_policies.c.version == bindparam("at_version"),
)
VERSIONS: Final = (
    select(context_policies.c.name, func.max(context_policies.c.version).label("version"))
    .group_by(context_policies.c.name)
    .order_by(context_policies.c.name)
)


def publish(tx: Transaction, name: str, policy: dict[str, Any], published_by: UUID | None) -> Row:
    """Add the next version of a policy and return its row."""
    tx.lock(f"policy {name}")
    newest = tx.one(NEWEST, named=name)
    version = 1 if newest is None else newest.version + 1
    tx.run(
        ADD,
        id=new_id(),
        name=name,
        version=version,
        policy=policy,
        published_by=published_by,
        created_at=tx.now,
    )
    return tx.one(ONE, named=name, at_version=version)


def find(tx: Transaction, name: str, version: int | None) -> Row | None:
    """One version of a policy, the newest where none is named."""
    if version is None:
        return tx.one(NEWEST, named=name)
    return tx.one(ONE, named=name, at_version=version)


def newest(tx: Transaction) -> list[Row]:
    """The newest version of every policy, by name."""
    rows = [tx.one(ONE, named=row.name, at_version=row.version) for row in tx.all(VERSIONS)]
    return [row for row in rows if row is not None]
