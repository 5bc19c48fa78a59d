"""Memories and their revisions."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _memories() -> None:
    op.create_table(
        "memories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space", sa.String(), nullable=True),
        sa.Column("audience", sa.String(), nullable=False),
        sa.Column("subject_key", sa.String(), nullable=True),
        sa.Column("subject_refs", Json(), nullable=False),
        sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("head_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=True),
        sa.Column("folded_digest", sa.LargeBinary(), nullable=True),
        sa.Column("recorded_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(audience = 'all') = (user_id IS NULL AND agent_id IS NULL AND space IS NULL)",
            name="an_audience_spells_its_parts",
        ),
        sa.CheckConstraint(
            "(folded IS NULL) = (folded_digest IS NULL)", name="a_text_comes_with_its_digest"
        ),
        sa.CheckConstraint("live = (folded IS NOT NULL)", name="live_memories_have_a_text"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_memorys_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_memorys_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="memories_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="memories_pk"),
        sa.UniqueConstraint("head_id", name="one_head_per_memory"),
        sa.UniqueConstraint(
            "organization_id", "audience", "subject_key", name="one_memory_per_key"
        ),
        sa.UniqueConstraint("organization_id", "id", name="memories_in_organization"),
    )


def _memories_indexes() -> None:
    with op.batch_alter_table("memories", schema=None) as batch_op:
        batch_op.create_index(
            "keyed_memories_by_text",
            ["organization_id", "audience", "folded_digest"],
            unique=False,
            sqlite_where=sa.text("live = 1 AND subject_key IS NOT NULL"),
            postgresql_where=sa.text("live AND subject_key IS NOT NULL"),
        )
        batch_op.create_index(
            "memories_by_recency",
            ["organization_id", "recorded_at", "id"],
            unique=False,
            sqlite_where=sa.text("live = 1"),
            postgresql_where=sa.text("live"),
        )
        batch_op.create_index(
            "one_live_memory_per_text",
            ["organization_id", "audience", "folded_digest"],
            unique=True,
            sqlite_where=sa.text("live = 1 AND subject_key IS NULL"),
            postgresql_where=sa.text("live AND subject_key IS NULL"),
        )


def _memory_revisions() -> None:
    op.create_table(
        "memory_revisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("supersedes_id", sa.Uuid(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("tags", Json(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("author_user_id", sa.Uuid(), nullable=True),
        sa.Column("author_agent_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("forgotten_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "origin IN ('user', 'agent', 'consolidation', 'import')", name="known_origin"
        ),
        sa.CheckConstraint(
            "(text IS NULL) = (forgotten_at IS NOT NULL)", name="a_tombstone_has_no_text"
        ),
        sa.CheckConstraint(
            "(version = 1) = (supersedes_id IS NULL)", name="only_the_root_has_no_parent"
        ),
        sa.CheckConstraint("supersedes_id <> id", name="no_revision_follows_itself"),
        sa.ForeignKeyConstraint(
            ["memory_id", "supersedes_id"],
            ["memory_revisions.memory_id", "memory_revisions.id"],
            name="a_child_stays_in_its_memory",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "memory_id"],
            ["memories.organization_id", "memories.id"],
            name="a_revision_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="memory_revisions_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="memory_revisions_pk"),
        sa.UniqueConstraint("memory_id", "id", name="revisions_in_memory"),
        sa.UniqueConstraint("memory_id", "version", name="one_revision_per_version"),
        sa.UniqueConstraint("supersedes_id", name="one_child_per_revision"),
    )


def _memory_revisions_indexes() -> None:
    with op.batch_alter_table("memory_revisions", schema=None) as batch_op:
        batch_op.create_index(
            "one_root_per_memory",
            ["memory_id"],
            unique=True,
            sqlite_where=sa.text("supersedes_id IS NULL"),
            postgresql_where=sa.text("supersedes_id IS NULL"),
        )


def upgrade() -> None:
    _memories()
    _memories_indexes()
    _memory_revisions()
    _memory_revisions_indexes()
