"""What an organization says of itself, and what its agents, workflows and skills are for."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def _dossiers() -> None:
    op.create_table(
        "dossiers",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("company", Json(), nullable=False),
        sa.Column("services", Json(), nullable=False),
        sa.Column("ideal_customer_profiles", Json(), nullable=False),
        sa.Column("offers", Json(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_by", sa.Uuid(), nullable=True),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="dossiers_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name="one_dossier_per_organization"),
    )


def _dossier_sections() -> None:
    op.create_table(
        "dossier_sections",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_by", sa.Uuid(), nullable=True),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="dossier_sections_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_sections_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "user_id", name="one_section_per_user"),
    )


def _definitions() -> None:
    op.create_table(
        "definitions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column(
            "folded_name",
            sa.String().with_variant(sa.String(collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("nodes", Json(), nullable=False),
        sa.Column("visibility", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.Column("published_at", UtcTime(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('agent', 'workflow', 'skill')", name="known_kind_of_definition"
        ),
        sa.CheckConstraint("visibility IN ('organization', 'viewers')", name="known_visibility"),
        sa.CheckConstraint(
            "(agent_id IS NOT NULL) = (kind = 'agent')",
            name="only_a_definition_of_an_agent_names_one",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_definitions_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="definitions_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="definitions_pk"),
        sa.UniqueConstraint("organization_id", "id", name="definitions_in_organization"),
        sa.UniqueConstraint("organization_id", "kind", "slug", name="one_definition_per_slug"),
    )
    op.create_index("definitions_by_age", "definitions", ["organization_id", "id"])
    op.create_index("definitions_by_name", "definitions", ["organization_id", "folded_name", "id"])


def _definition_viewers() -> None:
    op.create_table(
        "definition_viewers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("definition_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.CheckConstraint("(user_id IS NULL) <> (agent_id IS NULL)", name="a_viewer_is_one"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_viewers_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "definition_id"],
            ["definitions.organization_id", "definitions.id"],
            name="a_viewers_definition_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_viewers_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="definition_viewers_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="definition_viewers_pk"),
    )
    op.create_index(
        "viewers_of_definitions", "definition_viewers", ["organization_id", "definition_id"]
    )


def upgrade() -> None:
    _dossiers()
    _dossier_sections()
    _definitions()
    _definition_viewers()
    op.add_column("knowledge_sources", sa.Column("summary", sa.Text(), nullable=True))
