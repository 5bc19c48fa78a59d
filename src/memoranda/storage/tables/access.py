"""Organizations, their people and agents, and the keys that open them."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    Uuid,
    false,
    text,
)

from memoranda.storage.scope import Tenant
from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)

organizations = table(
    "organizations",
    id_column(),
    name_column(),
    name_column("external_id", nullable=True),
    # The user that it was made with. No foreign key: each of the two rows would have to come first.
    Column("owner_id", Uuid(), nullable=False),
    Column("is_default", Boolean(), nullable=False, server_default=false()),
    time_column("created_at"),
    Index(
        "one_default_organization",
        "is_default",
        unique=True,
        sqlite_where=text("is_default"),
        postgresql_where=text("is_default"),
    ),
    UniqueConstraint("external_id", name="one_organization_per_external_id"),
    tenancy=Tenant("id", listed=True),
)

users = table(
    "users",
    id_column(),
    organization_column(),
    name_column(),
    name_column("external_id", nullable=True),
    time_column("created_at"),
    UniqueConstraint("organization_id", "external_id", name="one_user_per_external_id"),
    UniqueConstraint("organization_id", "id", name="users_in_organization"),
)

agents = table(
    "agents",
    id_column(),
    organization_column(),
    name_column("slug"),
    name_column(),
    name_column("external_id", nullable=True),
    time_column("created_at"),
    UniqueConstraint("organization_id", "slug", name="one_agent_per_slug"),
    UniqueConstraint("organization_id", "external_id", name="one_agent_per_external_id"),
    UniqueConstraint("organization_id", "id", name="agents_in_organization"),
)

api_keys = table(
    "api_keys",
    id_column(),
    organization_column(nullable=True),
    name_column(),
    name_column("role"),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    Column("secret_hash", String(64), nullable=False),
    time_column("created_at"),
    time_column("expires_at", nullable=True),
    time_column("revoked_at", nullable=True),
    UniqueConstraint("secret_hash", name="one_key_per_secret"),
    # Both columns, so that a key can't open another organization's user or agent.
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_keys_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_keys_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint(
        "role IN ('owner', 'member', 'agent', 'read_only', 'operator')", name="known_role"
    ),
    CheckConstraint(
        "(role = 'operator') = (organization_id IS NULL)", name="only_operators_stand_outside"
    ),
    CheckConstraint("role <> 'member' OR user_id IS NOT NULL", name="members_are_users"),
    CheckConstraint("role <> 'agent' OR agent_id IS NOT NULL", name="agent_keys_name_an_agent"),
    Index("api_keys_by_organization", "organization_id"),
    tenancy=Tenant(platform="null"),
)

# How often somebody asked within a window of time, where several processes have to count together.
rate_windows = table(
    "rate_windows",
    organization_column(),
    name_column("who"),
    name_column("kind"),
    time_column("window_start"),
    count_column("used"),
    PrimaryKeyConstraint(
        "organization_id", "who", "kind", "window_start", name="one_count_per_window"
    ),
)
