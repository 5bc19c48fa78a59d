"""Proposals, counts and purged memories; use counts, and what continues what."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_LINKS = (
    (
        "continues_id",
        "only_a_root_continues_another_memory",
        "continues_id IS NULL OR supersedes_id IS NULL",
    ),
    (
        "continued_by_id",
        "only_a_tombstone_points_onward",
        "continued_by_id IS NULL OR forgotten_at IS NOT NULL",
    ),
)


def _memories_additions() -> None:
    with op.batch_alter_table("memories", schema=None) as batch_op:
        batch_op.add_column(sa.Column("uses", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("used_at", UtcTime(), nullable=True))
        batch_op.add_column(
            sa.Column("words_version", sa.Integer(), server_default="0", nullable=False)
        )
        batch_op.create_index(
            "expiring_memories",
            ["organization_id", "expires_at"],
            unique=False,
            sqlite_where=sa.text("live = 1 AND expires_at IS NOT NULL"),
            postgresql_where=sa.text("live AND expires_at IS NOT NULL"),
        )
        batch_op.create_index(
            "forgotten_memories_by_time",
            ["organization_id", "recorded_at", "id"],
            unique=False,
            sqlite_where=sa.text("live = 0"),
            postgresql_where=sa.text("NOT live"),
        )
        batch_op.create_index(
            "memories_of_users",
            ["organization_id", "user_id"],
            unique=False,
            sqlite_where=sa.text("user_id IS NOT NULL"),
            postgresql_where=sa.text("user_id IS NOT NULL"),
        )
        batch_op.create_index(
            "pinned_memories_by_recency",
            ["organization_id", "recorded_at", "id"],
            unique=False,
            sqlite_where=sa.text("live = 1 AND pinned = 1"),
            postgresql_where=sa.text("live AND pinned"),
        )
        batch_op.create_index(
            "spaced_memories",
            ["organization_id"],
            unique=False,
            sqlite_where=sa.text("live = 1 AND space IS NOT NULL"),
            postgresql_where=sa.text("live AND space IS NOT NULL"),
        )


def _memory_revisions_additions() -> None:
    # Written out, because SQLite takes a new constraint with its column alone.
    identifier = sa.Uuid().compile(op.get_bind().dialect)
    for column, name, check in _LINKS:
        op.execute(
            f"ALTER TABLE memory_revisions ADD COLUMN {column} {identifier} "
            f"CONSTRAINT {name} CHECK ({check})"
        )


def _memory_proposals() -> None:
    op.create_table(
        "memory_proposals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space", sa.String(), nullable=True),
        sa.Column("audience", sa.String(), nullable=False),
        sa.Column("subject_key", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("tags", Json(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("folded_digest", sa.LargeBinary(), nullable=True),
        sa.Column("merges", Json(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("author_user_id", sa.Uuid(), nullable=True),
        sa.Column("author_agent_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(decided_at IS NULL) = (status = 'waiting')", name="a_decided_proposal_says_when"
        ),
        sa.CheckConstraint(
            "(text IS NULL) = (status = 'accepted')", name="an_accepted_proposal_has_no_text"
        ),
        sa.CheckConstraint("kind IN ('memory', 'merge')", name="known_kind_of_proposal"),
        sa.CheckConstraint(
            "status IN ('waiting', 'accepted', 'discarded')", name="known_status_of_proposal"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_proposals_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_proposals_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="memory_proposals_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="memory_proposals_pk"),
    )


def _memory_proposals_indexes() -> None:
    with op.batch_alter_table("memory_proposals", schema=None) as batch_op:
        batch_op.create_index(
            "one_waiting_merge_per_survivor",
            ["organization_id", "memory_id"],
            unique=True,
            sqlite_where=sa.text("status = 'waiting' AND kind = 'merge'"),
            postgresql_where=sa.text("status = 'waiting' AND kind = 'merge'"),
        )
        batch_op.create_index(
            "one_waiting_proposal_per_key_and_text",
            ["organization_id", "audience", "subject_key", "folded_digest"],
            unique=True,
            sqlite_where=sa.text(
                "status = 'waiting' AND kind = 'memory' AND subject_key IS NOT NULL"
            ),
            postgresql_where=sa.text(
                "status = 'waiting' AND kind = 'memory' AND subject_key IS NOT NULL"
            ),
        )
        batch_op.create_index(
            "one_waiting_proposal_per_text",
            ["organization_id", "audience", "folded_digest"],
            unique=True,
            sqlite_where=sa.text("status = 'waiting' AND kind = 'memory' AND subject_key IS NULL"),
            postgresql_where=sa.text(
                "status = 'waiting' AND kind = 'memory' AND subject_key IS NULL"
            ),
        )
        batch_op.create_index(
            "proposals_by_status", ["organization_id", "status", "id"], unique=False
        )


def _memory_counts() -> None:
    op.create_table(
        "memory_counts",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("active", sa.Integer(), server_default="0", nullable=False),
        sa.Column("forgotten", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pinned", sa.Integer(), server_default="0", nullable=False),
        sa.Column("waiting", sa.Integer(), server_default="0", nullable=False),
        sa.Column("discarded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("dropped", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "active >= 0 AND forgotten >= 0 AND pinned >= 0 AND waiting >= 0 AND discarded >= 0",
            name="nothing_is_counted_below_zero",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="memory_counts_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name="memory_counts_pk"),
    )


def _purged_memories() -> None:
    op.create_table(
        "purged_memories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("purged_at", UtcTime(), nullable=False),
        sa.CheckConstraint("reason IN ('retention', 'erased')", name="known_reason_of_purge"),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="purged_memories_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="purged_memories_pk"),
    )


def upgrade() -> None:
    _memories_additions()
    _memory_revisions_additions()
    _memory_proposals()
    _memory_proposals_indexes()
    _memory_counts()
    _purged_memories()
