"""Context files: what people write for every run to know, each with all that it said before."""

from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
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


def _said() -> tuple[Column[Any], ...]:
    """One state of a file: what it said, how it was loaded, and how it came to that."""
    return (
        Column("body", Text(), nullable=False),
        Column("hash", String(64), nullable=False),
        count_column("bytes", default=None),
        name_column("load_mode", nullable=True),
        name_column("action"),
        Column("restored_from", Integer()),
        Column("proposal_id", Uuid()),
        *_author(),
        time_column("written_at"),
    )


def _author() -> tuple[Column[Any], ...]:
    return (
        name_column("author_kind"),
        Column("author_user_id", Uuid()),
        Column("author_agent_id", Uuid()),
    )


# A file as it stands. One without an agent is the organization's; what it said before is in the
# revisions, numbered from 1 without a gap up to `revision`, which is this one.
context_files = table(
    "context_files",
    id_column(),
    organization_column(),
    Column("agent_id", Uuid()),
    name_column("name"),
    count_column("revision", default=None),
    *_said(),
    time_column("created_at"),
    UniqueConstraint("organization_id", "id", name="context_files_in_organization"),
    # Both columns, so that a file can't name another organization's agent.
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_files_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint(
        "(agent_id IS NULL AND name IN "
        "('about-you', 'organization', 'people', 'glossary', 'voice', 'roster')) OR "
        "(agent_id IS NOT NULL AND name IN "
        "('SOUL.md', 'AGENTS.md', 'NOTES.md', 'HEARTBEAT.md', 'TOOLS.md', 'agent.yml'))",
        name="known_context_file",
    ),
    CheckConstraint(
        "(load_mode IS NULL) = (agent_id IS NOT NULL)", name="only_a_workspace_file_has_a_load_mode"
    ),
    CheckConstraint("load_mode IN ('always', 'on_demand')", name="known_load_mode"),
    CheckConstraint("bytes <= 65536", name="a_context_file_is_small"),
    Index(
        "one_workspace_file_per_name",
        "organization_id",
        "name",
        unique=True,
        sqlite_where=text("agent_id IS NULL"),
        postgresql_where=text("agent_id IS NULL"),
    ),
    Index(
        "one_agent_file_per_name",
        "organization_id",
        "agent_id",
        "name",
        unique=True,
        sqlite_where=text("agent_id IS NOT NULL"),
        postgresql_where=text("agent_id IS NOT NULL"),
    ),
)

# What a file said before, from `written_at` until `replaced_at`.
context_file_revisions = table(
    "context_file_revisions",
    organization_column(),
    Column("file_id", Uuid(), nullable=False),
    count_column("number", default=None),
    *_said(),
    time_column("replaced_at"),
    ForeignKeyConstraint(
        ["organization_id", "file_id"],
        ["context_files.organization_id", "context_files.id"],
        name="a_file_revision_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    PrimaryKeyConstraint(
        "organization_id", "file_id", "number", name="one_file_revision_per_number"
    ),
    Index("file_revisions_by_age", "organization_id", "replaced_at"),
)

# A change that waits for a person. What was decided keeps nothing of what it would have said.
context_file_proposals = table(
    "context_file_proposals",
    id_column(),
    organization_column(),
    Column("file_id", Uuid(), nullable=False),
    name_column("status"),
    count_column("base_revision", default=None),
    Column("base_hash", String(64), nullable=False),
    Column("body", Text()),
    count_column("bytes", default=None),
    *_author(),
    Column("run_id", Uuid()),
    Column("conversation_id", Uuid()),
    Column("revision", Integer()),
    Column("decided_by", Uuid()),
    time_column("decided_at", nullable=True),
    time_column("created_at"),
    ForeignKeyConstraint(
        ["organization_id", "file_id"],
        ["context_files.organization_id", "context_files.id"],
        name="a_file_proposal_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint(
        "status IN ('waiting', 'applied', 'discarded')", name="known_status_of_file_proposal"
    ),
    CheckConstraint(
        "(body IS NOT NULL) = (status = 'waiting')", name="only_a_waiting_change_is_kept"
    ),
    CheckConstraint(
        "(decided_at IS NULL) = (status = 'waiting')", name="a_decided_change_says_when"
    ),
    Index("file_proposals_by_status", "organization_id", "status", "id"),
)
