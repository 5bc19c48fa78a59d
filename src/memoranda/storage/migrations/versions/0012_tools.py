"""Tools: spaces, policies, receipts, approvals, the journal and its counts."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def _tool_spaces() -> None:
    op.create_table(
        "tool_spaces",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("space", sa.String(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("tools", Json(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("published_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_spaces_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="tool_spaces_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="tool_spaces_pk"),
        sa.UniqueConstraint("organization_id", "id", name="spaces_in_organization"),
        sa.UniqueConstraint("organization_id", "space", name="one_space_per_node"),
    )


def _key_spaces() -> None:
    op.create_table(
        "key_spaces",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["key_id"], ["api_keys.id"], name="key_spaces_key_id_exists", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "space_id"],
            ["tool_spaces.organization_id", "tool_spaces.id"],
            name="a_keys_space_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="key_spaces_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key_id", name="key_spaces_pk"),
    )


def _tool_policies() -> None:
    op.create_table(
        "tool_policies",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("set_by", sa.Uuid(), nullable=True),
        sa.Column("set_at", UtcTime(), nullable=False),
        sa.CheckConstraint("decision IN ('allow', 'ask', 'deny')", name="known_decision"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_policys_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="tool_policies_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "agent_id", "tool", name="one_policy_per_tool"),
    )


def _tool_receipts() -> None:
    op.create_table(
        "tool_receipts",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=True),
        sa.Column("digest", sa.LargeBinary(), nullable=True),
        sa.Column("answer", Json(), nullable=True),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(answer IS NULL) = (digest IS NULL)", name="an_answer_comes_with_its_digest"
        ),
        sa.CheckConstraint(
            "(salt IS NULL) = (digest IS NULL)", name="a_digest_comes_with_its_salt"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="tool_receipts_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "caller", "key", name="one_receipt_per_key"),
    )


def _tool_receipts_indexes() -> None:
    with op.batch_alter_table("tool_receipts", schema=None) as batch_op:
        batch_op.create_index("receipts_by_age", ["organization_id", "created_at"], unique=False)
        batch_op.create_index(
            "receipts_of_memories",
            ["organization_id", "memory_id"],
            unique=False,
            sqlite_where=sa.text("memory_id IS NOT NULL"),
            postgresql_where=sa.text("memory_id IS NOT NULL"),
        )


def _tool_approvals() -> None:
    op.create_table(
        "tool_approvals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("arguments", Json(), nullable=True),
        sa.Column("answer", Json(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(arguments IS NOT NULL) = (status = 'waiting')", name="only_a_waiting_call_is_kept"
        ),
        sa.CheckConstraint(
            "(decided_at IS NULL) = (status = 'waiting')", name="a_decided_approval_says_when"
        ),
        sa.CheckConstraint(
            "status IN ('waiting', 'approved', 'denied', 'failed')", name="known_status_of_approval"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="an_approvals_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "space_id"],
            ["tool_spaces.organization_id", "tool_spaces.id"],
            name="an_approvals_space_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="an_approvals_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="tool_approvals_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="tool_approvals_pk"),
    )


def _tool_approvals_indexes() -> None:
    with op.batch_alter_table("tool_approvals", schema=None) as batch_op:
        batch_op.create_index(
            "approvals_by_status", ["organization_id", "status", "id"], unique=False
        )
        batch_op.create_index(
            "approvals_of_memories",
            ["organization_id", "memory_id"],
            unique=False,
            sqlite_where=sa.text("memory_id IS NOT NULL"),
            postgresql_where=sa.text("memory_id IS NOT NULL"),
        )


def _tool_calls() -> None:
    op.create_table(
        "tool_calls",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("proposal_id", sa.Uuid(), nullable=True),
        sa.Column("approval_id", sa.Uuid(), nullable=True),
        sa.Column("items", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('done', 'asked', 'replayed', 'refused', 'failed')", name="known_outcome"
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="tool_calls_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="tool_calls_pk"),
    )


def _tool_calls_indexes() -> None:
    with op.batch_alter_table("tool_calls", schema=None) as batch_op:
        batch_op.create_index("tool_calls_by_age", ["organization_id", "id"], unique=False)
        batch_op.create_index(
            "tool_calls_by_run", ["organization_id", "run_id", "id"], unique=False
        )


def _tool_counts() -> None:
    op.create_table(
        "tool_counts",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="tool_counts_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "run_id", "caller", "tool", name="one_count_per_run_and_tool"
        ),
    )


def _tool_counts_indexes() -> None:
    with op.batch_alter_table("tool_counts", schema=None) as batch_op:
        batch_op.create_index("tool_counts_by_age", ["organization_id", "created_at"], unique=False)


def upgrade() -> None:
    _tool_spaces()
    _key_spaces()
    _tool_policies()
    _tool_receipts()
    _tool_receipts_indexes()
    _tool_approvals()
    _tool_approvals_indexes()
    _tool_calls()
    _tool_calls_indexes()
    _tool_counts()
    _tool_counts_indexes()
