"""What runs are told before they begin, and the skills that agents are bound to."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def _in_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"{table}_organization_id_exists",
        ondelete="CASCADE",
    )


def _skills() -> None:
    op.add_column(
        "definitions", sa.Column("body", sa.Text(), nullable=False, server_default=sa.text("''"))
    )
    op.create_table(
        "agent_skills",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("definition_id", sa.Uuid(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("bound_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id", "agent_id", "definition_id", name="one_binding_per_skill"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_bound_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "definition_id"],
            ["definitions.organization_id", "definitions.id"],
            name="a_bound_skill_is_of_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("agent_skills"),
    )
    op.create_index("agent_skills_by_skill", "agent_skills", ["organization_id", "definition_id"])


def _agent_instructions() -> None:
    op.create_table(
        "agent_instructions",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("capabilities", sa.Text(), nullable=False),
        sa.Column("skills_cap", sa.Integer(), nullable=True),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.CheckConstraint("skills_cap BETWEEN 0 AND 8000", name="a_skills_cap_is_in_its_bounds"),
        sa.PrimaryKeyConstraint(
            "organization_id", "agent_id", name="one_row_of_instructions_per_agent"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="an_instructions_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("agent_instructions"),
    )


def _run_instructions() -> None:
    op.create_table(
        "run_instructions",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("digest", sa.String(64), nullable=True),
        sa.Column("load", Json(), nullable=False),
        sa.Column("assembled_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "stage", name="one_instruction_per_stage"),
        sa.ForeignKeyConstraint(
            ["organization_id", "run_id"],
            ["runs.organization_id", "runs.id"],
            name="an_instruction_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("run_instructions"),
    )
    for name, columns, there in (
        ("of_agents", ["agent_id", "organization_id", "assembled_at"], "agent_id IS NOT NULL"),
        ("with_a_text", ["organization_id", "assembled_at"], "text IS NOT NULL"),
    ):
        op.create_index(
            f"run_instructions_{name}",
            "run_instructions",
            columns,
            sqlite_where=sa.text(there),
            postgresql_where=sa.text(there),
        )


def _run_instruction_facts() -> None:
    op.create_table(
        "run_instruction_facts",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "stage", "memory_id", name="one_fact_per_memory"),
        sa.ForeignKeyConstraint(
            ["run_id", "stage"],
            ["run_instructions.run_id", "run_instructions.stage"],
            name="a_fact_belongs_to_its_instruction",
            ondelete="CASCADE",
        ),
        _in_organization("run_instruction_facts"),
    )
    op.create_index(
        "run_instruction_facts_by_memory",
        "run_instruction_facts",
        ["organization_id", "memory_id"],
    )


def _activities() -> None:
    there = sa.text("agent_id IS NOT NULL")
    op.create_index(
        "activities_of_agents",
        "activities",
        ["agent_id", "organization_id", "id"],
        sqlite_where=there,
        postgresql_where=there,
    )


def upgrade() -> None:
    _skills()
    _agent_instructions()
    _run_instructions()
    _run_instruction_facts()
    _activities()
