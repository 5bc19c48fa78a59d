"""Context files, what they said before, and changes of them that wait for a person."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def _author() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("author_kind", sa.String(), nullable=False),
        sa.Column("author_user_id", sa.Uuid(), nullable=True),
        sa.Column("author_agent_id", sa.Uuid(), nullable=True),
    )


def _said() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("load_mode", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("restored_from", sa.Integer(), nullable=True),
        sa.Column("proposal_id", sa.Uuid(), nullable=True),
        *_author(),
        sa.Column("written_at", UtcTime(), nullable=False),
    )


def _in_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"{table}_organization_id_exists",
        ondelete="CASCADE",
    )


def _context_files() -> None:
    op.create_table(
        "context_files",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        *_said(),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(agent_id IS NULL AND name IN "
            "('about-you', 'organization', 'people', 'glossary', 'voice', 'roster')) OR "
            "(agent_id IS NOT NULL AND name IN "
            "('SOUL.md', 'AGENTS.md', 'NOTES.md', 'HEARTBEAT.md', 'TOOLS.md', 'agent.yml'))",
            name="known_context_file",
        ),
        sa.CheckConstraint(
            "(load_mode IS NULL) = (agent_id IS NOT NULL)",
            name="only_a_workspace_file_has_a_load_mode",
        ),
        sa.CheckConstraint("load_mode IN ('always', 'on_demand')", name="known_load_mode"),
        sa.CheckConstraint("bytes <= 65536", name="a_context_file_is_small"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_files_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("context_files"),
        sa.PrimaryKeyConstraint("id", name="context_files_pk"),
        sa.UniqueConstraint("organization_id", "id", name="context_files_in_organization"),
    )
    op.create_index(
        "one_workspace_file_per_name",
        "context_files",
        ["organization_id", "name"],
        unique=True,
        sqlite_where=sa.text("agent_id IS NULL"),
        postgresql_where=sa.text("agent_id IS NULL"),
    )
    op.create_index(
        "one_agent_file_per_name",
        "context_files",
        ["organization_id", "agent_id", "name"],
        unique=True,
        sqlite_where=sa.text("agent_id IS NOT NULL"),
        postgresql_where=sa.text("agent_id IS NOT NULL"),
    )


def _context_file_revisions() -> None:
    op.create_table(
        "context_file_revisions",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("file_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        *_said(),
        sa.Column("replaced_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "file_id"],
            ["context_files.organization_id", "context_files.id"],
            name="a_file_revision_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("context_file_revisions"),
        sa.PrimaryKeyConstraint(
            "organization_id", "file_id", "number", name="one_file_revision_per_number"
        ),
    )
    op.create_index(
        "file_revisions_by_age", "context_file_revisions", ["organization_id", "replaced_at"]
    )


def _context_file_proposals() -> None:
    op.create_table(
        "context_file_proposals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("file_id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("base_revision", sa.Integer(), nullable=False),
        sa.Column("base_hash", sa.String(64), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("bytes", sa.Integer(), nullable=False),
        *_author(),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "status IN ('waiting', 'applied', 'discarded')", name="known_status_of_file_proposal"
        ),
        sa.CheckConstraint(
            "(body IS NOT NULL) = (status = 'waiting')", name="only_a_waiting_change_is_kept"
        ),
        sa.CheckConstraint(
            "(decided_at IS NULL) = (status = 'waiting')", name="a_decided_change_says_when"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "file_id"],
            ["context_files.organization_id", "context_files.id"],
            name="a_file_proposal_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("context_file_proposals"),
        sa.PrimaryKeyConstraint("id", name="context_file_proposals_pk"),
    )
    op.create_index(
        "file_proposals_by_status", "context_file_proposals", ["organization_id", "status", "id"]
    )


def upgrade() -> None:
    _context_files()
    _context_file_revisions()
    _context_file_proposals()
