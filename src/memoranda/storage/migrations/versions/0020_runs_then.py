"""How runs stood at past times, and an index of the blocks whose text was kept long enough."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

WITH_A_TEXT = "text IS NOT NULL"


def upgrade() -> None:
    op.create_table(
        "run_changes",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "run_id"],
            ["runs.organization_id", "runs.id"],
            name="a_change_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="run_changes_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "stage", "status", name="a_stage_begins_and_waits_once"),
    )
    op.create_index(
        "run_blocks_with_a_text",
        "run_blocks",
        ["organization_id", "built_at"],
        sqlite_where=sa.text(WITH_A_TEXT),
        postgresql_where=sa.text(WITH_A_TEXT),
    )
