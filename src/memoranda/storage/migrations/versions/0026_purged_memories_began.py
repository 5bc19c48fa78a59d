"""What is left of a purged memory says when it began: before that, nothing of it was told."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("purged_memories", sa.Column("began_at", UtcTime(), nullable=True))
