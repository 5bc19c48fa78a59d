"""Conversations and their messages."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=True),
        sa.Column("generation", sa.Integer(), server_default="1", nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("length", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.CheckConstraint("generation >= 1", name="generations_count_from_one"),
        sa.CheckConstraint("length >= 0", name="length_counts_messages"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_conversations_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_conversations_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="conversations_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="conversations_pk"),
        sa.UniqueConstraint("organization_id", "id", name="conversations_in_organization"),
        sa.UniqueConstraint(
            "organization_id",
            "workflow_id",
            "generation",
            "agent_id",
            name="one_conversation_per_key",
        ),
    )


def _conversations_indexes() -> None:
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index(
            "one_conversation_per_key_without_agent",
            ["organization_id", "workflow_id", "generation"],
            unique=True,
            sqlite_where=sa.text("agent_id IS NULL"),
            postgresql_where=sa.text("agent_id IS NULL"),
        )


def _conversation_messages() -> None:
    op.create_table(
        "conversation_messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "conversation_id"],
            ["conversations.organization_id", "conversations.id"],
            name="a_message_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="conversation_messages_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="conversation_messages_pk"),
        sa.UniqueConstraint("conversation_id", "position", name="one_message_per_position"),
    )


def upgrade() -> None:
    _conversations()
    _conversations_indexes()
    _conversation_messages()
