"""Organizations, users, agents and keys."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _organizations() -> None:
    op.create_table(
        "organizations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("is_default", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="organizations_pk"),
        sa.UniqueConstraint("external_id", name="one_organization_per_external_id"),
    )


def _organizations_indexes() -> None:
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.create_index(
            "one_default_organization",
            ["is_default"],
            unique=True,
            sqlite_where=sa.text("is_default"),
            postgresql_where=sa.text("is_default"),
        )


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="users_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="users_pk"),
        sa.UniqueConstraint("organization_id", "external_id", name="one_user_per_external_id"),
        sa.UniqueConstraint("organization_id", "id", name="users_in_organization"),
    )


def _agents() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="agents_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="agents_pk"),
        sa.UniqueConstraint("organization_id", "external_id", name="one_agent_per_external_id"),
        sa.UniqueConstraint("organization_id", "id", name="agents_in_organization"),
        sa.UniqueConstraint("organization_id", "slug", name="one_agent_per_slug"),
    )


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("revoked_at", UtcTime(), nullable=True),
        sa.CheckConstraint(
            "(role = 'operator') = (organization_id IS NULL)", name="only_operators_stand_outside"
        ),
        sa.CheckConstraint(
            "role <> 'agent' OR agent_id IS NOT NULL", name="agent_keys_name_an_agent"
        ),
        sa.CheckConstraint("role <> 'member' OR user_id IS NOT NULL", name="members_are_users"),
        sa.CheckConstraint(
            "role IN ('owner', 'member', 'agent', 'read_only', 'operator')", name="known_role"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_keys_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_keys_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="api_keys_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="api_keys_pk"),
        sa.UniqueConstraint("secret_hash", name="one_key_per_secret"),
    )


def _api_keys_indexes() -> None:
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.create_index("api_keys_by_organization", ["organization_id"], unique=False)


def upgrade() -> None:
    _organizations()
    _organizations_indexes()
    _users()
    _agents()
    _api_keys()
    _api_keys_indexes()
