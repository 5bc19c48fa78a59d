"""Chats: a tree of messages that a person moves in, what waits to be told in it, and what is thought of answers."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
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

# A chat stands for one workflow. The path that is shown ends at the active leaf, and `revision`
# grows with everything that changes the tree or where in it the chat is.
chats = table(
    "chats",
    id_column(),
    organization_column(),
    Column("user_id", Uuid(), nullable=False),
    Column("agent_id", Uuid()),
    name_column("workflow_id"),
    count_column("generation", default=1),
    Column("title", Text()),
    Column("active_leaf", Uuid()),
    count_column("revision"),
    count_column("last_sequence"),
    time_column("created_at"),
    time_column("updated_at"),
    UniqueConstraint("organization_id", "id", name="chats_in_organization"),
    UniqueConstraint("organization_id", "workflow_id", name="one_chat_per_workflow"),
    # Both columns, so that a chat can't name another organization's user or agent.
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_chats_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_chats_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("chats_of_users", "user_id", "organization_id", "id"),
    Index(
        "chats_of_agents",
        "agent_id",
        "organization_id",
        "id",
        sqlite_where=text("agent_id IS NOT NULL"),
        postgresql_where=text("agent_id IS NOT NULL"),
    ),
    CheckConstraint("generation >= 1", name="a_chats_generation_counts_from_one"),
)

# A message never changes what it says, but for how its answer ended. Versions have one parent.
chat_messages = table(
    "chat_messages",
    id_column(),
    organization_column(),
    Column("chat_id", Uuid(), nullable=False),
    Column("parent_id", Uuid()),
    count_column("sequence", default=None),
    name_column("role"),
    # JSON as text, as of a conversation's messages.
    Column("content", Text(), nullable=False),
    name_column("client_message_id", nullable=True),
    Column("run_id", Uuid()),
    name_column("state"),
    time_column("created_at"),
    UniqueConstraint("chat_id", "id", name="messages_of_a_chat"),
    UniqueConstraint("chat_id", "sequence", name="one_chat_message_per_sequence"),
    ForeignKeyConstraint(
        ["organization_id", "chat_id"],
        ["chats.organization_id", "chats.id"],
        name="a_chats_message_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["chat_id", "parent_id"],
        ["chat_messages.chat_id", "chat_messages.id"],
        name="a_message_and_its_parent_are_of_one_chat",
        ondelete="CASCADE",
    ),
    Index("chat_messages_by_parent", "parent_id"),
    # A message that is sent again is the one that came first.
    Index(
        "one_message_per_client_id",
        "chat_id",
        "client_message_id",
        unique=True,
        sqlite_where=text("client_message_id IS NOT NULL"),
        postgresql_where=text("client_message_id IS NOT NULL"),
    ),
)

# What happened between turns and waits to be told: claimed by the run that is told it, and told once that answered.
chat_notes = table(
    "chat_notes",
    id_column(),
    organization_column(),
    Column("chat_id", Uuid(), nullable=False),
    name_column("key"),
    Column("line", Text(), nullable=False),
    Column("claimed_by", Uuid()),
    time_column("told_at", nullable=True),
    time_column("created_at"),
    ForeignKeyConstraint(
        ["organization_id", "chat_id"],
        ["chats.organization_id", "chats.id"],
        name="a_note_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "one_waiting_note_per_key",
        "chat_id",
        "key",
        unique=True,
        sqlite_where=text("told_at IS NULL AND claimed_by IS NULL"),
        postgresql_where=text("told_at IS NULL AND claimed_by IS NULL"),
    ),
    Index("notes_of_chats", "chat_id", "id"),
)

chat_feedback = table(
    "chat_feedback",
    organization_column(),
    Column("chat_id", Uuid(), nullable=False),
    Column("message_id", Uuid(), nullable=False),
    Column("user_id", Uuid(), nullable=False),
    name_column("rating"),
    Column("comment", Text()),
    time_column("created_at"),
    time_column("updated_at"),
    PrimaryKeyConstraint("message_id", "user_id", name="one_opinion_per_message_and_user"),
    ForeignKeyConstraint(
        ["organization_id", "chat_id"],
        ["chats.organization_id", "chats.id"],
        name="an_opinion_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["chat_id", "message_id"],
        ["chat_messages.chat_id", "chat_messages.id"],
        name="an_opinion_is_of_a_message",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="an_opinions_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("opinions_of_chats", "chat_id"),
    Index("opinions_of_users", "user_id", "organization_id"),
)
