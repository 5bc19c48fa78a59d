"""Chats: their trees, the runs that answer in them, and what is kept of branches that were left."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def _in_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"{table}_organization_id_exists",
        ondelete="CASCADE",
    )


def _of(table: str, columns: list[str], keys: list[str], name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        columns, [f"{table}.{key}" for key in keys], name=name, ondelete="CASCADE"
    )


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def _chats() -> None:
    op.create_table(
        "chats",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("workflow_id", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), server_default="1", nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("active_leaf", sa.Uuid(), nullable=True),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_sequence", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="chats_pk"),
        sa.CheckConstraint("generation >= 1", name="a_chats_generation_counts_from_one"),
        _of(
            "agents",
            ["organization_id", "agent_id"],
            ["organization_id", "id"],
            "a_chats_agent_is_of_its_organization",
        ),
        _of(
            "users",
            ["organization_id", "user_id"],
            ["organization_id", "id"],
            "a_chats_user_is_of_its_organization",
        ),
        _in_organization("chats"),
        sa.UniqueConstraint("organization_id", "id", name="chats_in_organization"),
        sa.UniqueConstraint("organization_id", "workflow_id", name="one_chat_per_workflow"),
    )
    op.create_index(
        "chats_of_agents",
        "chats",
        ["agent_id", "organization_id", "id"],
        **_where("agent_id IS NOT NULL"),
    )
    op.create_index("chats_of_users", "chats", ["user_id", "organization_id", "id"])


def _chat_messages() -> None:
    op.create_table(
        "chat_messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("client_message_id", sa.String(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="chat_messages_pk"),
        _of(
            "chats",
            ["organization_id", "chat_id"],
            ["organization_id", "id"],
            "a_chats_message_stays_in_its_organization",
        ),
        _of(
            "chat_messages",
            ["chat_id", "parent_id"],
            ["chat_id", "id"],
            "a_message_and_its_parent_are_of_one_chat",
        ),
        _in_organization("chat_messages"),
        sa.UniqueConstraint("chat_id", "id", name="messages_of_a_chat"),
        sa.UniqueConstraint("chat_id", "sequence", name="one_chat_message_per_sequence"),
    )
    op.create_index("chat_messages_by_parent", "chat_messages", ["parent_id"])
    op.create_index(
        "one_message_per_client_id",
        "chat_messages",
        ["chat_id", "client_message_id"],
        unique=True,
        **_where("client_message_id IS NOT NULL"),
    )


def _chat_notes() -> None:
    op.create_table(
        "chat_notes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("claimed_by", sa.Uuid(), nullable=True),
        sa.Column("told_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="chat_notes_pk"),
        _of(
            "chats",
            ["organization_id", "chat_id"],
            ["organization_id", "id"],
            "a_note_stays_in_its_organization",
        ),
        _in_organization("chat_notes"),
    )
    op.create_index("notes_of_chats", "chat_notes", ["chat_id", "id"])
    op.create_index(
        "one_waiting_note_per_key",
        "chat_notes",
        ["chat_id", "key"],
        unique=True,
        **_where("told_at IS NULL AND claimed_by IS NULL"),
    )


def _chat_feedback() -> None:
    op.create_table(
        "chat_feedback",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("rating", sa.String(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", "user_id", name="one_opinion_per_message_and_user"),
        _of(
            "chat_messages",
            ["chat_id", "message_id"],
            ["chat_id", "id"],
            "an_opinion_is_of_a_message",
        ),
        _of(
            "chats",
            ["organization_id", "chat_id"],
            ["organization_id", "id"],
            "an_opinion_stays_in_its_organization",
        ),
        _of(
            "users",
            ["organization_id", "user_id"],
            ["organization_id", "id"],
            "an_opinions_user_is_of_its_organization",
        ),
        _in_organization("chat_feedback"),
    )
    op.create_index("opinions_of_chats", "chat_feedback", ["chat_id"])
    op.create_index("opinions_of_users", "chat_feedback", ["user_id", "organization_id"])


def _chat_runs() -> None:
    op.create_table(
        "chat_runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("answer_id", sa.Uuid(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("last_event", sa.Integer(), server_default="0", nullable=False),
        sa.Column("event_bytes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("folded_upto", sa.Integer(), server_default="0", nullable=False),
        sa.Column("folded", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("picked_up_at", UtcTime(), nullable=True),
        sa.Column("seen_at", UtcTime(), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="chat_runs_pk"),
        sa.CheckConstraint(
            "(status IN ('completed', 'stopped', 'failed')) = (ended_at IS NOT NULL)",
            name="a_chats_run_ends_once",
        ),
        _of(
            "chat_messages",
            ["chat_id", "message_id"],
            ["chat_id", "id"],
            "a_chats_run_answers_a_message_of_it",
        ),
        _of("runs", ["organization_id", "id"], ["organization_id", "id"], "a_chats_run_is_a_run"),
        _of(
            "chats",
            ["organization_id", "chat_id"],
            ["organization_id", "id"],
            "a_chats_run_stays_in_its_organization",
        ),
        _in_organization("chat_runs"),
        sa.UniqueConstraint("organization_id", "id", name="chat_runs_in_organization"),
    )
    op.create_index("chat_runs_by_message", "chat_runs", ["message_id"])
    op.create_index("chat_runs_in_order", "chat_runs", ["chat_id", "revision"])
    op.create_index(
        "live_chat_runs", "chat_runs", ["organization_id", "seen_at"], **_where("ended_at IS NULL")
    )
    op.create_index(
        "one_live_run_per_chat", "chat_runs", ["chat_id"], unique=True, **_where("ended_at IS NULL")
    )


def _chat_run_cursors() -> None:
    op.create_table(
        "chat_run_cursors",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("compactions", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("given_length", sa.Integer(), nullable=False),
        sa.Column("given_digest", sa.String(), nullable=False),
        sa.Column("saved_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "agent_id", name="one_cursor_per_run_and_agent"),
        _of(
            "chat_runs",
            ["organization_id", "run_id"],
            ["organization_id", "id"],
            "a_cursor_stays_in_its_organization",
        ),
        _in_organization("chat_run_cursors"),
    )


def _chat_branch_snapshots() -> None:
    op.create_table(
        "chat_branch_snapshots",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("chat_id", sa.Uuid(), nullable=False),
        sa.Column("leaf_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("compactions", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("kept_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="chat_branch_snapshots_pk"),
        _of("chat_messages", ["chat_id", "leaf_id"], ["chat_id", "id"], "a_snapshot_is_of_a_leaf"),
        _of(
            "chats",
            ["organization_id", "chat_id"],
            ["organization_id", "id"],
            "a_snapshot_stays_in_its_organization",
        ),
        _in_organization("chat_branch_snapshots"),
        sa.UniqueConstraint("leaf_id", "agent_id", name="one_snapshot_per_leaf_and_agent"),
    )
    op.create_index("snapshots_of_chats", "chat_branch_snapshots", ["chat_id", "revision"])


def _chat_run_events() -> None:
    op.create_table(
        "chat_run_events",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "sequence", name="one_event_per_sequence"),
        _of(
            "chat_runs",
            ["organization_id", "run_id"],
            ["organization_id", "id"],
            "a_runs_event_stays_in_its_organization",
        ),
        _in_organization("chat_run_events"),
    )
    op.create_index("chat_run_events_by_age", "chat_run_events", ["organization_id", "created_at"])


def upgrade() -> None:
    _chats()
    _chat_messages()
    _chat_notes()
    _chat_feedback()
    _chat_runs()
    _chat_run_cursors()
    _chat_branch_snapshots()
    _chat_run_events()
    op.add_column("runs", sa.Column("chat_id", sa.Uuid(), nullable=True))
    op.add_column("runs", sa.Column("left_at", UtcTime(), nullable=True))
