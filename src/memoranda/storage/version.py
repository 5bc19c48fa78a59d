"""Which schema this version of the product works with."""

from typing import Final

from memoranda.storage.errors import SchemaMismatch

# The newest file in migrations/versions; a test holds the two together.
HEAD: Final = "0007"


def require_schema(version: str | None) -> None:
    """Raise `SchemaMismatch` unless a database at `version` can be worked with as it is."""
    if version is None:
        raise SchemaMismatch("There is no schema in this database yet: run `memoranda migrate`.")
    if version != HEAD:
        raise SchemaMismatch(
            f"The database is at schema {version} and {HEAD} is needed: run `memoranda migrate`, "
            "or a newer Memoranda if that says so."
        )
