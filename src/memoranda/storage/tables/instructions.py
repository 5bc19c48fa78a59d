"""Instructions: what an agent adds to its own, and what each run was told before it began."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Text,
    Uuid,
    text,
)

from memoranda.storage.tables.base import count_column, organization_column, table, time_column
from memoranda.storage.types import Json

# What is kept of an agent beside its files. No row is as good as an empty one.
agent_instructions = table(
    "agent_instructions",
    organization_column(),
    Column("agent_id", Uuid(), nullable=False),
    Column("capabilities", Text(), nullable=False),
    Column("skills_cap", Integer()),
    time_column("updated_at"),
    PrimaryKeyConstraint("organization_id", "agent_id", name="one_row_of_instructions_per_agent"),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="an_instructions_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint("skills_cap BETWEEN 0 AND 8000", name="a_skills_cap_is_in_its_bounds"),
)

# What a stage of a run was told, byte for byte, and the account of it. What is erased, and in time
# every text, leaves its row without it: the account is counts and revisions alone.
run_instructions = table(
    "run_instructions",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("stage", default=None),
    Column("agent_id", Uuid()),
    Column("text", Text()),
    Column("digest", String(64)),
    Column("load", Json(), nullable=False),
    time_column("assembled_at"),
    PrimaryKeyConstraint("run_id", "stage", name="one_instruction_per_stage"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["runs.organization_id", "runs.id"],
        name="an_instruction_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "run_instructions_of_agents",
        "agent_id",
        "organization_id",
        "assembled_at",
        sqlite_where=text("agent_id IS NOT NULL"),
        postgresql_where=text("agent_id IS NOT NULL"),
    ),
    # What the night looks through for texts that were kept long enough.
    Index(
        "run_instructions_with_a_text",
        "organization_id",
        "assembled_at",
        sqlite_where=text("text IS NOT NULL"),
        postgresql_where=text("text IS NOT NULL"),
    ),
)

# The memories that an instruction quotes, by which those that hold an erased one are found.
run_instruction_facts = table(
    "run_instruction_facts",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("stage", default=None),
    Column("memory_id", Uuid(), nullable=False),
    PrimaryKeyConstraint("run_id", "stage", "memory_id", name="one_fact_per_memory"),
    ForeignKeyConstraint(
        ["run_id", "stage"],
        ["run_instructions.run_id", "run_instructions.stage"],
        name="a_fact_belongs_to_its_instruction",
        ondelete="CASCADE",
    ),
    Index("run_instruction_facts_by_memory", "organization_id", "memory_id"),
)
