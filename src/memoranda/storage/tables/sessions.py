"""Sessions of agent frameworks: their events, and state that sessions, users and applications keep."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    Uuid,
)

from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)

# `person` is what the application calls its user, and `user_id` whom that is here.
agent_sessions = table(
    "agent_sessions",
    id_column(),
    organization_column(),
    name_column("application"),
    name_column("person"),
    Column("user_id", Uuid(), nullable=False),
    name_column(),
    # JSON as text, whose keys keep their order.
    Column("state", Text(), nullable=False),
    # Grows with each event.
    count_column("revision"),
    count_column("bytes"),
    # By the framework's own clock, as the number that stands for it.
    Column("updated", BigInteger(), nullable=False),
    time_column("created_at"),
    UniqueConstraint(
        "organization_id", "application", "person", "name", name="one_session_per_name"
    ),
    UniqueConstraint("organization_id", "id", name="sessions_in_organization"),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_sessions_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("sessions_of_users", "user_id", "organization_id", "id"),
    CheckConstraint("bytes >= 0", name="bytes_count_what_events_hold"),
)

agent_session_events = table(
    "agent_session_events",
    id_column(),
    organization_column(),
    Column("session_id", Uuid(), nullable=False),
    count_column("position", default=None),
    name_column(),
    Column("at", BigInteger(), nullable=False),
    Column("content", Text(), nullable=False),
    UniqueConstraint("session_id", "position", name="one_event_per_position"),
    ForeignKeyConstraint(
        ["organization_id", "session_id"],
        ["agent_sessions.organization_id", "agent_sessions.id"],
        name="an_event_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index("session_events_by_name", "session_id", "name"),
)

# State that outlives sessions: of an application (an empty `person` and no user), or of one of its users.
agent_session_states = table(
    "agent_session_states",
    organization_column(),
    name_column("application"),
    name_column("person"),
    Column("user_id", Uuid()),
    Column("state", Text(), nullable=False),
    time_column("updated_at"),
    PrimaryKeyConstraint("organization_id", "application", "person", name="one_state_per_person"),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_states_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("states_of_users", "user_id", "organization_id"),
)
