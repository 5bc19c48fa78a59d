"""The dossier: what an organization says of itself, and what a user says of how it works there."""

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    Text,
    Uuid,
)

from memoranda.storage.tables.base import count_column, organization_column, table, time_column
from memoranda.storage.types import Json

# One row for each organization that has written one. `version` and `updated_at` change with every
# write, so that whoever keeps what was made of a row can tell whether it still holds.
dossiers = table(
    "dossiers",
    organization_column(),
    Column("company", Json(), nullable=False),
    Column("services", Json(), nullable=False),
    Column("ideal_customer_profiles", Json(), nullable=False),
    Column("offers", Json(), nullable=False),
    count_column("version", default=None),
    Column("updated_by", Uuid()),
    time_column("updated_at"),
    PrimaryKeyConstraint("organization_id", name="one_dossier_per_organization"),
)

dossier_sections = table(
    "dossier_sections",
    organization_column(),
    Column("user_id", Uuid(), nullable=False),
    Column("text", Text(), nullable=False),
    count_column("version", default=None),
    Column("updated_by", Uuid()),
    time_column("updated_at"),
    PrimaryKeyConstraint("organization_id", "user_id", name="one_section_per_user"),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_sections_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
)
