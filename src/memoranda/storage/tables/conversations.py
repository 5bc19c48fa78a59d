"""Conversations: an ordered list of messages per key, and what has left it."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    false,
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
    count_column("bytes"),
    # Grows whenever all that was said is taken away: a save of something older names an older one.
    count_column("fence"),
    # The last message's chain, so that it and the length name the exact list.
    Column("digest", String(), nullable=False, server_default=""),
    count_column("last_position"),
    # Of earlier times it can't be told any more what was there.
    time_column("whole_since", nullable=True),
    # Its generation is over: it is empty and takes nothing.
    time_column("ended_at", nullable=True),
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
    CheckConstraint("bytes >= 0", name="bytes_count_what_messages_hold"),
    CheckConstraint("ended_at IS NULL OR length = 0", name="an_ended_conversation_is_empty"),
    CheckConstraint("generation >= 1", name="generations_count_from_one"),
)

# A row never changes what it says: it is placed, and it leaves. `digest` is that of the
# message alone, and `chain` that of the list up to it.
conversation_messages = table(
    "conversation_messages",
    id_column(),
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    count_column("position", default=None),
    name_column("role"),
    # JSON as text, written by the store: a column of type Json would sort the keys of blocks.
    Column("content", Text(), nullable=False),
    Column("metadata", Text(), nullable=False, server_default=text("'{}'")),
    Column("pinned", Boolean(), nullable=False, server_default=false()),
    count_column("bytes"),
    Column("digest", String(), nullable=False),
    Column("chain", String(), nullable=False),
    time_column("created_at"),
    # Since when it stands here; what it says may be older.
    time_column("placed_at"),
    UniqueConstraint("conversation_id", "position", name="one_message_per_position"),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="a_message_stays_in_its_organization",
        ondelete="CASCADE",
    ),
)

# What stood in a list and stands there no more: what a compaction summed up or, without one, what a save took
# out, which tells how the list was at an earlier time and is read by nothing else.
conversation_archive = table(
    "conversation_archive",
    id_column(),
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    count_column("position", default=None),
    name_column("role"),
    Column("content", Text(), nullable=False),
    Column("metadata", Text(), nullable=False),
    Column("pinned", Boolean(), nullable=False),
    count_column("bytes", default=None),
    Column("digest", String(), nullable=False),
    time_column("created_at"),
    time_column("placed_at"),
    time_column("left_at"),
    Column("compaction_id", Uuid()),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="an_archived_message_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index("archived_messages_in_order", "conversation_id", "position", "id"),
    Index(
        "replaced_messages_by_age",
        "organization_id",
        "left_at",
        sqlite_where=text("compaction_id IS NULL"),
        postgresql_where=text("compaction_id IS NULL"),
    ),
)

# Which generation of a workflow goes on. No row: it was never reset.
workflow_generations = table(
    "workflow_generations",
    organization_column(),
    name_column("workflow_id"),
    count_column("generation", default=None),
    time_column("reset_at"),
    PrimaryKeyConstraint("organization_id", "workflow_id", name="one_generation_goes_on"),
    CheckConstraint("generation >= 1", name="the_generation_counts_from_one"),
)

# The fence of a key that has no conversation, where one was cleared or purged there. The nil id is no agent.
conversation_fences = table(
    "conversation_fences",
    organization_column(),
    name_column("workflow_id"),
    count_column("generation", default=None),
    Column("agent_id", Uuid(), nullable=False),
    count_column("fence", default=None),
    PrimaryKeyConstraint(
        "organization_id", "workflow_id", "generation", "agent_id", name="one_fence_per_key"
    ),
)
