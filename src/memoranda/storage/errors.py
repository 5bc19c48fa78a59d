"""What storage raises: a broken promise of the schema by its name, and faults that may be tried again."""

from memoranda.words.errors import Conflict, Refused, StorageBusy, StorageUnavailable


class ConstraintViolated(Exception):
    """The database refused a write; `name` is the constraint, which states the promise that it keeps."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class LostRace(Exception):
    """Another transaction got in between (deadlock, serialization): the write runs again by itself."""


class UnsafeRole(Refused):
    """The PostgreSQL role could ignore row-level security, so nothing starts with it."""

    code = "unsafe_database_role"


class SchemaMismatch(Conflict):
    """The database's schema is not the one that this version works with."""

    code = "schema_mismatch"


class ForeignDatabase(SchemaMismatch):
    """The database belongs to another program; nothing in it was changed."""

    code = "foreign_database"


__all__ = [
    "ConstraintViolated",
    "ForeignDatabase",
    "SchemaMismatch",
    "StorageBusy",
    "StorageUnavailable",
    "UnsafeRole",
]
