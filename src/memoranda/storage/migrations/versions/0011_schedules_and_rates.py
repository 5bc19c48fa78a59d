"""What is due at set times, and how often somebody asked."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def _schedules() -> None:
    op.create_table(
        "schedules",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("due_at", UtcTime(), nullable=False),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="schedules_pk"),
    )


def _rate_windows() -> None:
    op.create_table(
        "rate_windows",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("window_start", UtcTime(), nullable=False),
        sa.Column("used", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="rate_windows_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "who", "kind", "window_start", name="one_count_per_window"
        ),
    )


def upgrade() -> None:
    _schedules()
    _rate_windows()
