"""Knowledge sources, uploads and chunks."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _knowledge_sources() -> None:
    op.create_table(
        "knowledge_sources",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("uri", sa.String(), nullable=True),
        sa.Column("object_key", sa.String(), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("size", sa.Integer(), server_default="0", nullable=False),
        sa.Column("chunks", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "status <> 'failed' OR reason IS NOT NULL", name="a_failed_source_says_why"
        ),
        sa.CheckConstraint("status IN ('pending', 'ready', 'failed')", name="known_source_status"),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="knowledge_sources_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="knowledge_sources_pk"),
        sa.UniqueConstraint("organization_id", "object_key", name="one_source_per_object"),
        sa.UniqueConstraint("organization_id", "uri", name="one_source_per_uri"),
    )


def _knowledge_sources_indexes() -> None:
    with op.batch_alter_table("knowledge_sources", schema=None) as batch_op:
        batch_op.create_index(
            "knowledge_sources_by_status", ["organization_id", "status", "updated_at"], unique=False
        )
        batch_op.create_index(
            "one_platform_source_per_object",
            ["object_key"],
            unique=True,
            sqlite_where=sa.text("organization_id IS NULL"),
            postgresql_where=sa.text("organization_id IS NULL"),
        )
        batch_op.create_index(
            "one_platform_source_per_uri",
            ["uri"],
            unique=True,
            sqlite_where=sa.text("organization_id IS NULL"),
            postgresql_where=sa.text("organization_id IS NULL"),
        )


def _knowledge_uploads() -> None:
    op.create_table(
        "knowledge_uploads",
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name="knowledge_uploads_source_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", name="knowledge_uploads_pk"),
    )


def _knowledge_chunks() -> None:
    op.create_table(
        "knowledge_chunks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(), server_default="", nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("speaker", sa.String(), nullable=True),
        sa.Column("at", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name="knowledge_chunks_source_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="knowledge_chunks_pk"),
        sa.UniqueConstraint("source_id", "ordinal", name="one_chunk_per_ordinal"),
    )


def upgrade() -> None:
    _knowledge_sources()
    _knowledge_sources_indexes()
    _knowledge_uploads()
    _knowledge_chunks()
