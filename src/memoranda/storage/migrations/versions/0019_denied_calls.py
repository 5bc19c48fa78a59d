"""What was asked for and denied is known again, though nothing of it is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tool_approvals", sa.Column("salt", sa.LargeBinary(), nullable=True))
    op.add_column("tool_approvals", sa.Column("digest", sa.LargeBinary(), nullable=True))
