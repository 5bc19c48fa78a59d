"""Beside each vector what its text can't hold, and whether every text has its row."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("search_vectors", sa.Column("letters", sa.LargeBinary(), nullable=True))
    op.add_column(
        "search_models",
        sa.Column("whole", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    lacking = sa.text("vector IS NOT NULL AND letters IS NULL")
    op.create_index(
        "letters_to_make",
        "search_vectors",
        ["scope_id", "collection", "model", "item_id"],
        sqlite_where=lacking,
        postgresql_where=lacking,
    )
