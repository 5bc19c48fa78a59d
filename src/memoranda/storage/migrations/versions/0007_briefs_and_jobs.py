"""Context policies, and the signals that say where work waits."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _context_policies() -> None:
    op.create_table(
        "context_policies",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("policy", Json(), nullable=False),
        sa.Column("published_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="context_policies_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="context_policies_pk"),
        sa.UniqueConstraint("organization_id", "name", "version", name="one_policy_per_version"),
    )


def _work_signals() -> None:
    op.create_table(
        "work_signals",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("organization", sa.Uuid(), nullable=False),
        sa.Column("token", sa.Uuid(), nullable=False),
        sa.Column("raised_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "organization", name="one_signal_per_kind"),
    )


def upgrade() -> None:
    _context_policies()
    _work_signals()
