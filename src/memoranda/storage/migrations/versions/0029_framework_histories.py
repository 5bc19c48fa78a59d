"""Histories that branch, and sessions with state in three scopes, as agent frameworks keep them."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0029"
down_revision = "0028"
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


def _of_users(name: str, table: str) -> None:
    there = sa.text("user_id IS NOT NULL")
    op.create_index(
        name,
        table,
        ["user_id", "organization_id", "id"],
        sqlite_where=there,
        postgresql_where=there,
    )


def _entries() -> None:
    op.create_table(
        "history_entries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("tree_id", sa.Uuid(), nullable=False),
        sa.Column("strand_id", sa.Uuid(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("path_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint("place >= 1", name="places_count_from_one"),
        sa.PrimaryKeyConstraint("id", name="history_entries_pk"),
        sa.UniqueConstraint("organization_id", "owner_id", "name", name="one_entry_per_name"),
        sa.UniqueConstraint("organization_id", "strand_id", "place", name="one_entry_per_place"),
        sa.UniqueConstraint("organization_id", "id", name="entries_in_organization"),
        _of("users", "user_id", "an_entrys_user_is_of_its_organization"),
        _in_organization("history_entries"),
    )
    _of_users("entries_of_users", "history_entries")
    op.create_index("entries_of_trees", "history_entries", ["tree_id", "organization_id"])


def _histories() -> None:
    op.create_table(
        "histories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=True),
        sa.Column("revision", sa.String(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="histories_pk"),
        sa.UniqueConstraint("organization_id", "owner_id", "name", name="one_history_per_name"),
        sa.UniqueConstraint("organization_id", "id", name="histories_in_organization"),
        _of("users", "user_id", "a_historys_user_is_of_its_organization"),
        _in_organization("histories"),
    )
    _of_users("histories_of_users", "histories")
    op.create_index(
        "histories_newest_first",
        "histories",
        ["organization_id", "owner_id", "updated_at", "id"],
    )
    op.create_table(
        "history_tips",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("history_id", sa.Uuid(), nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("history_id", "entry_id", name="a_tip_is_named_once"),
        _of("histories", "history_id", "a_tip_is_of_a_history"),
        _of("history_entries", "entry_id", "a_tip_is_an_entry"),
        _in_organization("history_tips"),
    )
    op.create_index("tips_by_entry", "history_tips", ["entry_id", "organization_id"])


def _sessions() -> None:
    op.create_table(
        "agent_sessions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("application", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("bytes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint("bytes >= 0", name="bytes_count_what_events_hold"),
        sa.PrimaryKeyConstraint("id", name="agent_sessions_pk"),
        sa.UniqueConstraint(
            "organization_id", "application", "person", "name", name="one_session_per_name"
        ),
        sa.UniqueConstraint("organization_id", "id", name="sessions_in_organization"),
        _of("users", "user_id", "a_sessions_user_is_of_its_organization"),
        _in_organization("agent_sessions"),
    )
    op.create_index("sessions_of_users", "agent_sessions", ["user_id", "organization_id", "id"])
    op.create_table(
        "agent_session_events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="agent_session_events_pk"),
        sa.UniqueConstraint("session_id", "position", name="one_event_per_position"),
        _of("agent_sessions", "session_id", "an_event_stays_in_its_organization"),
        _in_organization("agent_session_events"),
    )
    op.create_index("session_events_by_name", "agent_session_events", ["session_id", "name"])


def _states() -> None:
    op.create_table(
        "agent_session_states",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("application", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id", "application", "person", name="one_state_per_person"
        ),
        _of("users", "user_id", "a_states_user_is_of_its_organization"),
        _in_organization("agent_session_states"),
    )
    op.create_index("states_of_users", "agent_session_states", ["user_id", "organization_id"])


def upgrade() -> None:
    _entries()
    _histories()
    _sessions()
    _states()
