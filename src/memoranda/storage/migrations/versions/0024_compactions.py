"""Compactions of conversations, and what their calls cost."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def _in_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"{table}_organization_id_exists",
        ondelete="CASCADE",
    )


def _of(table: str, column: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id", column],
        [f"{table}.organization_id", f"{table}.id"],
        name=name,
        ondelete="CASCADE",
    )


def _compactions() -> None:
    op.create_table(
        "conversation_compactions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("summarizer", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("messages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tokens_before", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tokens_after", sa.Integer(), server_default="0", nullable=False),
        sa.Column("source_length", sa.Integer(), server_default="0", nullable=False),
        sa.Column("source_digest", sa.String(), nullable=False),
        sa.Column("loaded_length", sa.Integer(), server_default="0", nullable=False),
        sa.Column("loaded_digest", sa.String(), nullable=False),
        sa.Column("result_length", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result_digest", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(status = 'activated') = (number IS NOT NULL)", name="what_counts_is_active"
        ),
        sa.PrimaryKeyConstraint("id", name="conversation_compactions_pk"),
        sa.UniqueConstraint("conversation_id", "number", name="one_compaction_at_a_time"),
        _of("conversations", "conversation_id", "a_compaction_stays_in_its_organization"),
        _in_organization("conversation_compactions"),
    )


def _usage() -> None:
    op.create_table(
        "conversation_usage",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "input_tokens >= 0 AND output_tokens >= 0 AND cached_tokens >= 0 AND cost_micros >= 0",
            name="usage_only_grows",
        ),
        sa.PrimaryKeyConstraint("id", name="conversation_usage_pk"),
        sa.UniqueConstraint("conversation_id", "call_id", name="one_row_per_call"),
        _of("users", "user_id", "a_usages_user_is_of_its_organization"),
        _of("agents", "agent_id", "a_usages_agent_is_of_its_organization"),
        _in_organization("conversation_usage"),
    )
    op.create_index("usage_of_workflows", "conversation_usage", ["organization_id", "workflow_id"])
    for name in ("user", "agent"):
        there = sa.text(f"{name}_id IS NOT NULL")
        op.create_index(
            f"usage_of_{name}s",
            "conversation_usage",
            [f"{name}_id", "organization_id"],
            sqlite_where=there,
            postgresql_where=there,
        )


def upgrade() -> None:
    _compactions()
    _usage()
