"""The one schema: its metadata, and the columns that many tables share."""

from typing import Any, Final

from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table, Uuid

from memoranda.storage.scope import TENANCY, Tenancy, Tenant
from memoranda.storage.types import UtcTime

METADATA: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pk",
        "fk": "%(table_name)s_%(column_0_name)s_exists",
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
    }
)


def table(name: str, *parts: Any, tenancy: Tenancy | None = None, **options: Any) -> Table:
    """A table that says whose rows it holds; by default each row names its organization.

    `options` are a database's own, such as `sqlite_with_rowid`.
    """
    return Table(name, METADATA, *parts, info={TENANCY: tenancy or Tenant()}, **options)


def id_column() -> Column[Any]:
    """A UUIDv7, made by the product and not by the database."""
    return Column("id", Uuid(), primary_key=True)


def organization_column(*, nullable: bool = False) -> Column[Any]:
    """Whose row it is; `nullable` where the platform keeps rows of its own."""
    return Column(
        "organization_id",
        Uuid(),
        ForeignKey("organizations.id", ondelete="CASCADE"),
        nullable=nullable,
    )


def time_column(name: str, *, nullable: bool = False) -> Column[Any]:
    """An aware UTC time."""
    return Column(name, UtcTime(), nullable=nullable)


def name_column(name: str = "name", *, nullable: bool = False) -> Column[Any]:
    """A short text that people read."""
    return Column(name, String(), nullable=nullable)


def count_column(name: str, *, default: int | None = 0) -> Column[Any]:
    """A whole number."""
    return Column(
        name, Integer(), nullable=False, server_default=None if default is None else str(default)
    )
