"""Vectors, and the model that answers searches."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def _search_vectors() -> None:
    op.create_table(
        "search_vectors",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("text_id", sa.Uuid(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retry_at", UtcTime(), nullable=True),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint(
            "scope_id", "collection", "item_id", "model", name="one_vector_per_item_and_model"
        ),
    )


def _search_vectors_indexes() -> None:
    with op.batch_alter_table("search_vectors", schema=None) as batch_op:
        batch_op.create_index(
            "vectors_by_stamp", ["scope_id", "collection", "model", "stamp"], unique=False
        )
        batch_op.create_index(
            "vectors_to_make",
            ["scope_id", "collection", "model", "item_id"],
            unique=False,
            sqlite_where=sa.text("vector IS NULL"),
            postgresql_where=sa.text("vector IS NULL"),
        )


def _search_models() -> None:
    op.create_table(
        "search_models",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("since", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "collection", name="one_model_per_collection"),
    )


def upgrade() -> None:
    _search_vectors()
    _search_vectors_indexes()
    _search_models()
