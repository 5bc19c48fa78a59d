"""The only room that knows about databases: scoped transactions, the guard, tables and migrations."""

from memoranda.storage.database import Storage
from memoranda.storage.errors import (
    ConstraintViolated,
    SchemaMismatch,
    StorageBusy,
    StorageUnavailable,
    UnsafeRole,
)
from memoranda.storage.guard import GuardError
from memoranda.storage.schema import migrate
from memoranda.storage.scope import PLATFORM, Scope, mine
from memoranda.storage.statements import Row
from memoranda.storage.transaction import Transaction
from memoranda.storage.types import (
    contains,
    id_bytes,
    id_of,
    id_of_bytes,
    insert_or_ignore,
    joined,
    joined_bytes,
    one_of,
    one_of_pairs,
    upsert,
)

__all__ = [
    "PLATFORM",
    "ConstraintViolated",
    "GuardError",
    "Row",
    "SchemaMismatch",
    "Scope",
    "Storage",
    "StorageBusy",
    "StorageUnavailable",
    "Transaction",
    "UnsafeRole",
    "contains",
    "id_bytes",
    "id_of",
    "id_of_bytes",
    "insert_or_ignore",
    "joined",
    "joined_bytes",
    "migrate",
    "mine",
    "one_of",
    "one_of_pairs",
    "upsert",
]
