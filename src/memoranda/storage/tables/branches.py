"""Branches of a conversation: each has a conversation of its own, and a name that is given once."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    String,
    Uuid,
    text,
)

from memoranda.storage.tables.base import (
    count_column,
    name_column,
    organization_column,
    table,
    time_column,
)

# Under the key of the conversation that they branched off; the nil id is no agent. What ended has no
# conversation any more, and keeps its name, so that nobody who still holds it writes into another.
conversation_branches = table(
    "conversation_branches",
    organization_column(),
    name_column("workflow_id"),
    count_column("generation", default=None),
    Column("agent_id", Uuid(), nullable=False),
    name_column("name"),
    Column("conversation_id", Uuid()),
    Column("ended", String()),
    time_column("created_at"),
    PrimaryKeyConstraint(
        "organization_id",
        "workflow_id",
        "generation",
        "agent_id",
        "name",
        name="a_branchs_name_is_given_once",
    ),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="a_branch_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "branches_by_conversation",
        "conversation_id",
        "organization_id",
        sqlite_where=text("conversation_id IS NOT NULL"),
        postgresql_where=text("conversation_id IS NOT NULL"),
    ),
    CheckConstraint(
        "(ended IS NULL) = (conversation_id IS NOT NULL)",
        name="a_branch_has_a_conversation_until_it_ends",
    ),
)
