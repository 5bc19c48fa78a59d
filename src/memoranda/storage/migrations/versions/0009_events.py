"""Events in the order of their commits."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space", sa.String(), nullable=True),
        sa.Column("metadata", Json(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="events_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "number", name="one_event_per_number"),
    )


def _event_counters() -> None:
    op.create_table(
        "event_counters",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="event_counters_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name="event_counters_pk"),
    )


def upgrade() -> None:
    _events()
    _event_counters()
