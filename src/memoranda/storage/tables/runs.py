"""Runs of agents, the log of each, and what happened in an organization."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
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
    Column("result", Json()),
    Column("waiting_reason", Text()),
    Column("failure_reason", Text()),
    count_column("stage"),
    # NULL where it has not changed since it was created, as those from before there was a change.
    time_column("updated_at", nullable=True),
    time_column("ended_at", nullable=True),
    # The chat that it answers in, and since when what it answered is on a branch that was left.
    Column("chat_id", Uuid()),
    time_column("left_at", nullable=True),
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
    # Lists go by the id, and what is looked back at by the time of creation.
    Index("runs_by_status", "organization_id", "status", "id"),
    *(
        Index(
            f"runs_of_{name}s",
            f"{name}_id",
            "organization_id",
            "id",
            sqlite_where=text(f"{name}_id IS NOT NULL"),
            postgresql_where=text(f"{name}_id IS NOT NULL"),
        )
        for name in ("user", "agent", "parent")
    ),
    *(
        Index(
            f"runs_of_{name}s_by_age",
            f"{name}_id",
            "organization_id",
            "created_at",
            "id",
            sqlite_where=text(f"{name}_id IS NOT NULL"),
            postgresql_where=text(f"{name}_id IS NOT NULL"),
        )
        for name in ("user", "trigger")
    ),
)

# What a run's result names, so that the runs about a row are found by an index. `created_at` is the
# run's, and is fixed like it.
run_refs = table(
    "run_refs",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("ordinal", default=None),
    name_column("kind"),
    name_column("ref_id"),
    time_column("created_at"),
    PrimaryKeyConstraint("run_id", "ordinal", name="one_ref_per_place"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["runs.organization_id", "runs.id"],
        name="a_ref_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index("run_refs_by_row", "organization_id", "kind", "ref_id", "created_at"),
)

# That a run went on or waited, and why: how it stood at a past time. Its end is in its own row for good.
run_changes = table(
    "run_changes",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("stage", default=None),
    name_column("status"),
    Column("reason", Text()),
    time_column("created_at"),
    PrimaryKeyConstraint("run_id", "stage", "status", name="a_stage_begins_and_waits_once"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["runs.organization_id", "runs.id"],
        name="a_change_stays_in_its_organization",
        ondelete="CASCADE",
    ),
)

# The block of text that a run was given, one row for each stage that had one built. What is
# erased leaves a row without its text, so that nobody takes it for one that never was.
run_blocks = table(
    "run_blocks",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("stage", default=None),
    Column("conversation_id", Uuid()),
    Column("text", Text()),
    Column("digest", String()),
    count_column("tokens", default=None),
    Column("policy", Json(), nullable=False),
    Column("account", Json()),
    Column("explain", Json()),
    time_column("built_at"),
    PrimaryKeyConstraint("run_id", "stage", name="one_block_per_stage"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["runs.organization_id", "runs.id"],
        name="a_block_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "run_blocks_of_conversations",
        "conversation_id",
        "organization_id",
        "built_at",
        sqlite_where=text("conversation_id IS NOT NULL"),
        postgresql_where=text("conversation_id IS NOT NULL"),
    ),
    # What the night looks through for texts that were kept long enough.
    Index(
        "run_blocks_with_a_text",
        "organization_id",
        "built_at",
        sqlite_where=text("text IS NOT NULL"),
        postgresql_where=text("text IS NOT NULL"),
    ),
)

# The rows that a block was offered, by which the blocks that hold an erased one are found.
run_block_items = table(
    "run_block_items",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("stage", default=None),
    name_column("kind"),
    name_column("ref_id"),
    PrimaryKeyConstraint("run_id", "stage", "kind", "ref_id", name="one_item_per_row_of_a_block"),
    ForeignKeyConstraint(
        ["run_id", "stage"],
        ["run_blocks.run_id", "run_blocks.stage"],
        name="an_item_belongs_to_its_block",
        ondelete="CASCADE",
    ),
    Index("run_block_items_by_row", "organization_id", "kind", "ref_id"),
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
    # What an agent did lately is what its next run is told.
    Index(
        "activities_of_agents",
        "agent_id",
        "organization_id",
        "id",
        sqlite_where=text("agent_id IS NOT NULL"),
        postgresql_where=text("agent_id IS NOT NULL"),
    ),
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
