"""Conversations: an ordered list of messages per key."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)

conversations = table(
    "conversations",
    id_column(),
    organization_column(),
    name_column("workflow_id", nullable=True),
    count_column("generation", default=1),
    Column("agent_id", Uuid()),
    Column("user_id", Uuid()),
    count_column("length"),
    time_column("created_at"),
    time_column("updated_at"),
    UniqueConstraint("organization_id", "id", name="conversations_in_organization"),
    UniqueConstraint(
        "organization_id", "workflow_id", "generation", "agent_id", name="one_conversation_per_key"
    ),
    # NULLs never collide, so a key without an agent needs an index of its own.
    Index(
        "one_conversation_per_key_without_agent",
        "organization_id",
        "workflow_id",
        "generation",
        unique=True,
        sqlite_where=text("agent_id IS NULL"),
        postgresql_where=text("agent_id IS NULL"),
    ),
    # Both columns, so that a conversation can't name another organization's user or agent.
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_conversations_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_conversations_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "conversations_of_users",
        "user_id",
        "organization_id",
        "id",
        sqlite_where=text("user_id IS NOT NULL"),
        postgresql_where=text("user_id IS NOT NULL"),
    ),
    Index(
        "conversations_of_agents",
        "agent_id",
        "organization_id",
        "id",
        sqlite_where=text("agent_id IS NOT NULL"),
        postgresql_where=text("agent_id IS NOT NULL"),
    ),
    CheckConstraint("length >= 0", name="length_counts_messages"),
    CheckConstraint("generation >= 1", name="generations_count_from_one"),
)

conversation_messages = table(
    "conversation_messages",
    id_column(),
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    count_column("position", default=None),
    name_column("role"),
    # JSON as text, written by the store: a column of type Json would sort the keys of blocks.
    Column("content", Text(), nullable=False),
    time_column("created_at"),
    UniqueConstraint("conversation_id", "position", name="one_message_per_position"),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="a_message_stays_in_its_organization",
        ondelete="CASCADE",
    ),
)
