"""What agents' tools are bound to, what they may do, and what came of each call."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
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

# A node of a workflow that calls tools. `space` spells both ids as one text that no other node has,
# and is what its memories carry.
tool_spaces = table(
    "tool_spaces",
    id_column(),
    organization_column(),
    name_column("workflow_id"),
    name_column("node_id"),
    name_column("space"),
    Column("agent_id", Uuid()),
    Column("tools", Json(), nullable=False),
    # Whether its memories outlive a reset of the workflow.
    Column("reset_policy", String(), nullable=False, server_default="keep"),
    time_column("created_at"),
    time_column("published_at"),
    UniqueConstraint("organization_id", "id", name="spaces_in_organization"),
    UniqueConstraint("organization_id", "space", name="one_space_per_node"),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_spaces_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
)

# Which keys are bound to a space, and so know nothing else.
key_spaces = table(
    "key_spaces",
    organization_column(),
    Column("key_id", Uuid(), ForeignKey("api_keys.id", ondelete="CASCADE"), primary_key=True),
    Column("space_id", Uuid(), nullable=False),
    ForeignKeyConstraint(
        ["organization_id", "space_id"],
        ["tool_spaces.organization_id", "tool_spaces.id"],
        name="a_keys_space_is_of_its_organization",
        ondelete="CASCADE",
    ),
)

# What one agent may do with one tool. No row is the default: its writes are asked about.
tool_policies = table(
    "tool_policies",
    organization_column(),
    Column("agent_id", Uuid(), nullable=False),
    name_column("tool"),
    Column("decision", String(), nullable=False),
    Column("set_by", Uuid()),
    time_column("set_at"),
    PrimaryKeyConstraint("organization_id", "agent_id", "tool", name="one_policy_per_tool"),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_policys_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint("decision IN ('allow', 'ask', 'deny')", name="known_decision"),
)

# What a call that changed something was answered, so that the same call again changes nothing.
# The answer holds ids and versions and no text; the digest of what was asked is salted, row by row.
# Without a digest it is known that there was a call, and no more: what it was about is erased.
tool_receipts = table(
    "tool_receipts",
    organization_column(),
    name_column("caller"),
    name_column("key"),
    name_column("tool"),
    Column("salt", LargeBinary()),
    Column("digest", LargeBinary()),
    Column("answer", Json()),
    Column("memory_id", Uuid()),
    time_column("created_at"),
    PrimaryKeyConstraint("organization_id", "caller", "key", name="one_receipt_per_key"),
    Index(
        "receipts_of_memories",
        "organization_id",
        "memory_id",
        sqlite_where=text("memory_id IS NOT NULL"),
        postgresql_where=text("memory_id IS NOT NULL"),
    ),
    Index("receipts_by_age", "organization_id", "created_at"),
    CheckConstraint("(salt IS NULL) = (digest IS NULL)", name="a_digest_comes_with_its_salt"),
    CheckConstraint("(answer IS NULL) = (digest IS NULL)", name="an_answer_comes_with_its_digest"),
)

# A call that waits for a person. What it asks for is kept for as long as it waits; the digest, salted
# row by row, tells after that whether another call asks for the same.
tool_approvals = table(
    "tool_approvals",
    id_column(),
    organization_column(),
    name_column("tool"),
    Column("status", String(), nullable=False),
    Column("arguments", Json()),
    Column("answer", Json()),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    Column("space_id", Uuid()),
    Column("run_id", Uuid()),
    Column("conversation_id", Uuid()),
    Column("memory_id", Uuid()),
    name_column("caller"),
    name_column("key", nullable=True),
    Column("decided_by", Uuid()),
    time_column("decided_at", nullable=True),
    time_column("created_at"),
    Column("salt", LargeBinary()),
    Column("digest", LargeBinary()),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="an_approvals_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="an_approvals_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "space_id"],
        ["tool_spaces.organization_id", "tool_spaces.id"],
        name="an_approvals_space_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("approvals_by_status", "organization_id", "status", "id"),
    Index(
        "approvals_of_memories",
        "organization_id",
        "memory_id",
        sqlite_where=text("memory_id IS NOT NULL"),
        postgresql_where=text("memory_id IS NOT NULL"),
    ),
    CheckConstraint(
        "status IN ('waiting', 'approved', 'denied', 'failed')", name="known_status_of_approval"
    ),
    CheckConstraint(
        "(arguments IS NOT NULL) = (status = 'waiting')", name="only_a_waiting_call_is_kept"
    ),
    CheckConstraint(
        "(decided_at IS NULL) = (status = 'waiting')", name="a_decided_approval_says_when"
    ),
)

# The journal: ids, counts and codes of every call, never what was said.
tool_calls = table(
    "tool_calls",
    id_column(),
    organization_column(),
    name_column("tool"),
    Column("outcome", String(), nullable=False),
    name_column("code", nullable=True),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    Column("space_id", Uuid()),
    Column("run_id", Uuid()),
    Column("conversation_id", Uuid()),
    Column("memory_id", Uuid()),
    Column("version", Integer()),
    Column("proposal_id", Uuid()),
    Column("approval_id", Uuid()),
    Column("items", Integer()),
    count_column("milliseconds", default=None),
    time_column("created_at"),
    Index("tool_calls_by_run", "organization_id", "run_id", "id"),
    Index("tool_calls_by_age", "organization_id", "id"),
    CheckConstraint(
        "outcome IN ('done', 'asked', 'replayed', 'refused', 'failed')", name="known_outcome"
    ),
)

# How often a run has called a tool: a row that concurrent calls add to in turn. Each caller has a
# count of its own, so that nobody uses up another's by naming its run.
tool_counts = table(
    "tool_counts",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    name_column("caller"),
    name_column("tool"),
    count_column("calls"),
    time_column("created_at"),
    PrimaryKeyConstraint(
        "organization_id", "run_id", "caller", "tool", name="one_count_per_run_and_tool"
    ),
    Index("tool_counts_by_age", "organization_id", "created_at"),
)
