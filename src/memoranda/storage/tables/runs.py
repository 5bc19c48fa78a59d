"""Runs of agents, the log of each, and what happened in an organization."""

from sqlalchemy import Column, ForeignKey, Index, String, UniqueConstraint, Uuid

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
    Column("agent_id", Uuid(), ForeignKey("agents.id", ondelete="CASCADE")),
    Column("user_id", Uuid(), ForeignKey("users.id", ondelete="CASCADE")),
    Column("trigger_id", Uuid()),
    Column("parent_id", Uuid(), ForeignKey("runs.id", ondelete="CASCADE")),
    name_column("status"),
    Column("input", Json()),
    time_column("created_at"),
    UniqueConstraint("organization_id", "id", name="runs_in_organization"),
    Index("runs_by_age", "organization_id", "created_at", "id"),
)

run_logs = table(
    "run_logs",
    id_column(),
    organization_column(),
    Column("run_id", Uuid(), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("level", String(), nullable=False),
    name_column("step"),
    Column("metadata", Json(), nullable=False),
    time_column("created_at"),
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
