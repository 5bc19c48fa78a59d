"""What a proposal is about: a row of an application."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "memory_proposals",
        sa.Column("subject_refs", Json(), nullable=False, server_default=sa.text("'[]'")),
    )
