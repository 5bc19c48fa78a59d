"""Which schema this version of the product works with."""

from collections.abc import Collection
from typing import Final

from memoranda.storage.errors import ForeignDatabase, SchemaMismatch

# The newest file in migrations/versions; a test holds the two together.
HEAD: Final = "0031"

VERSION_TABLE: Final = "alembic_version"
FIRST_TABLE: Final = "organizations"
"""Made by the first migration, in the same transaction as the version: whoever has one has both."""


def require_schema(version: str | None) -> None:
    """Raise `SchemaMismatch` unless a database at `version` can be worked with as it is."""
    if version is None:
        raise SchemaMismatch("There is no schema in this database yet: run `memoranda migrate`.")
    if version != HEAD:
        raise SchemaMismatch(
            f"The database is at schema {version} and {HEAD} is needed: run `memoranda migrate`, "
            "or a newer Memoranda if that says so."
        )


def require_own(tables: Collection[str], place: str, advice: str) -> bool:
    """Say whether there is a schema of ours among `tables`, which would be in our way if they are not ours.

    Raises `ForeignDatabase` where another program made them: other programs use Alembic too, so a
    version by itself proves nothing.
    """
    if VERSION_TABLE in tables and FIRST_TABLE in tables:
        return True
    others = sorted(set(tables) - {VERSION_TABLE}) or sorted(tables)
    if not others:
        return False
    few = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
    raise ForeignDatabase(
        f"{place} holds another program's tables ({few}), and nothing in it was changed: {advice}."
    )
