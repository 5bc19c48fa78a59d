"""Runs of agents, the log of each, and what happened in an organization."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    Uuid,
)

from memoranda.storage.tables.base import (
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)
from memoranda.storage.types import Json

runs = table(
    "runs",
    id_column(),
    organization_column(),
    Column("agent_id", Uuid()),
    Column("user_id", Uuid()),
    Column("trigger_id", Uuid()),
    Column("parent_id", Uuid()),
    name_column("status"),
    Column("input", Json()),
    time_column("created_at"),
    UniqueConstraint("organization_id", "id", name="runs_in_organization"),
    # Both columns each time, so that a run can't name another organization's rows.
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_runs_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_runs_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "parent_id"],
        ["runs.organization_id", "runs.id"],
        name="a_runs_parent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("runs_by_age", "organization_id", "created_at", "id"),
)

run_logs = table(
    "run_logs",
    id_column(),
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    Column("level", String(), nullable=False),
    name_column("step"),
    Column("metadata", Json(), nullable=False),
    time_column("created_at"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["runs.organization_id", "runs.id"],
        name="a_log_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index("run_logs_by_run", "run_id", "id"),
)

activities = table(
    "activities",
    id_column(),
    organization_column(),
    name_column("type"),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    Column("subject_id", Uuid()),
    Column("metadata", Json(), nullable=False),
    time_column("created_at"),
    Index("activities_by_age", "organization_id", "id"),
)

# What listeners are told, in the order of the commits: `number` is dealt out under the lock of the
# counter's row, so that whoever has seen one number has seen, or can see, every lower one.
# The audience says who may be told; `metadata` is ids and counts.
events = table(
    "events",
    organization_column(),
    Column("number", BigInteger(), nullable=False),
    name_column("type"),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    name_column("space", nullable=True),
    Column("metadata", Json(), nullable=False),
    time_column("created_at"),
    PrimaryKeyConstraint("organization_id", "number", name="one_event_per_number"),
)

event_counters = table(
    "event_counters",
    Column(
        "organization_id",
        Uuid(),
        ForeignKey("organizations.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("last", BigInteger(), nullable=False),
)
