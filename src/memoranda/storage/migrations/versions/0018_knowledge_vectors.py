"""Knowledge is found by meaning too: vectors, which sources have theirs, and which model is asked."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime
from memoranda.storage.vectors import Vector

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def _of_a_source(table: str) -> list[Any]:
    return [
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name=f"{table}_source_id_exists",
            ondelete="CASCADE",
        ),
    ]


def _knowledge_vectors() -> None:
    op.create_table(
        "knowledge_vectors",
        *_of_a_source("knowledge_vectors"),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("vector", Vector(), nullable=True),
        sa.PrimaryKeyConstraint(
            "source_id", "model", "ordinal", name="one_vector_per_chunk_and_model"
        ),
    )


def _knowledge_embeddings() -> None:
    op.create_table(
        "knowledge_embeddings",
        *_of_a_source("knowledge_embeddings"),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("digest", sa.String(64), server_default="", nullable=False),
        sa.Column("done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("stamp", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("retry_at", UtcTime(), nullable=True),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "status IN ('pending', 'ready', 'failed')", name="known_embedding_status"
        ),
        sa.CheckConstraint(
            "status <> 'failed' OR reason IS NOT NULL", name="a_failed_embedding_says_why"
        ),
        sa.PrimaryKeyConstraint("source_id", "model", name="one_embedding_per_source_and_model"),
    )
    unready = sa.text("status <> 'ready'")
    op.create_index(
        "embeddings_to_make",
        "knowledge_embeddings",
        ["model", "status", "source_id"],
        sqlite_where=unready,
        postgresql_where=unready,
    )


def _knowledge_settings() -> None:
    op.create_table(
        "knowledge_settings",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("active_embedding_model", sa.String(), nullable=True),
        sa.Column("next_embedding_model", sa.String(), nullable=True),
        sa.Column("forced", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("changes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("since", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "scope_id = coalesce(organization_id, '00000000000000000000000000000000')",
            name="settings_are_of_their_scope",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="knowledge_settings_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("scope_id", name="one_row_of_settings_per_scope"),
        sa.UniqueConstraint("organization_id", name="one_row_of_settings_per_organization"),
    )


def upgrade() -> None:
    _knowledge_vectors()
    _knowledge_embeddings()
    _knowledge_settings()
