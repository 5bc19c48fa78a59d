"""Definitions: what an organization's agents, workflows and skills are for, and who may see them."""

from sqlalchemy import (
    CheckConstraint,
    Column,
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

# `folded_name` is what lists are in the order of: by code points, so that both databases agree.
definitions = table(
    "definitions",
    id_column(),
    organization_column(),
    name_column("kind"),
    name_column("slug"),
    name_column("name"),
    Column(
        "folded_name",
        String().with_variant(String(collation="C"), "postgresql"),
        nullable=False,
    ),
    Column("summary", Text(), nullable=False),
    # A skill's own text, which the agents that are bound to it are given whole.
    Column("body", Text(), nullable=False, server_default=text("''")),
    Column("agent_id", Uuid()),
    Column("nodes", Json(), nullable=False),
    name_column("visibility"),
    count_column("version", default=None),
    time_column("created_at"),
    time_column("updated_at"),
    time_column("published_at", nullable=True),
    UniqueConstraint("organization_id", "id", name="definitions_in_organization"),
    UniqueConstraint("organization_id", "kind", "slug", name="one_definition_per_slug"),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_definitions_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint("kind IN ('agent', 'workflow', 'skill')", name="known_kind_of_definition"),
    CheckConstraint("visibility IN ('organization', 'viewers')", name="known_visibility"),
    CheckConstraint(
        "(agent_id IS NOT NULL) = (kind = 'agent')", name="only_a_definition_of_an_agent_names_one"
    ),
    Index("definitions_by_age", "organization_id", "id"),
    Index("definitions_by_name", "organization_id", "folded_name", "id"),
)

# Who sees a definition that is not for everybody: a user or an agent in each row.
definition_viewers = table(
    "definition_viewers",
    id_column(),
    organization_column(),
    Column("definition_id", Uuid(), nullable=False),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    ForeignKeyConstraint(
        ["organization_id", "definition_id"],
        ["definitions.organization_id", "definitions.id"],
        name="a_viewers_definition_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_viewers_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_viewers_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint("(user_id IS NULL) <> (agent_id IS NULL)", name="a_viewer_is_one"),
    Index("viewers_of_definitions", "organization_id", "definition_id"),
)

# Which agents are given which skills; those of a higher priority are the last to be cut.
agent_skills = table(
    "agent_skills",
    organization_column(),
    Column("agent_id", Uuid(), nullable=False),
    Column("definition_id", Uuid(), nullable=False),
    count_column("priority", default=None),
    time_column("bound_at"),
    PrimaryKeyConstraint(
        "organization_id", "agent_id", "definition_id", name="one_binding_per_skill"
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_bound_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "definition_id"],
        ["definitions.organization_id", "definitions.id"],
        name="a_bound_skill_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("agent_skills_by_skill", "organization_id", "definition_id"),
)
