"""Every attempt to compact a conversation, and what the calls of conversations cost."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
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

# Every attempt. What failed has a reason and no number; what was activated counts from 1.
conversation_compactions = table(
    "conversation_compactions",
    id_column(),
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    name_column("status"),
    name_column("cause"),
    name_column("summarizer"),
    Column("reason", Text()),
    Column("number", Integer()),
    count_column("messages"),
    count_column("tokens_before"),
    count_column("tokens_after"),
    # The list up to the boundary by its length and its digest: as it was, as a run was given it, as it became.
    count_column("source_length"),
    Column("source_digest", String(), nullable=False),
    count_column("loaded_length"),
    Column("loaded_digest", String(), nullable=False),
    count_column("result_length"),
    Column("result_digest", String(), nullable=False),
    time_column("created_at"),
    UniqueConstraint("conversation_id", "number", name="one_compaction_at_a_time"),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="a_compaction_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    CheckConstraint("(status = 'activated') = (number IS NOT NULL)", name="what_counts_is_active"),
)

# One row per call of a provider, and per compaction that asked one. A conversation that is gone
# leaves what it cost, and nothing that was said.
conversation_usage = table(
    "conversation_usage",
    id_column(),
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    name_column("workflow_id", nullable=True),
    Column("agent_id", Uuid()),
    Column("user_id", Uuid()),
    name_column("kind"),
    name_column("provider"),
    name_column("model"),
    name_column("call_id", nullable=True),
    Column("input_tokens", BigInteger(), nullable=False),
    Column("output_tokens", BigInteger(), nullable=False),
    Column("cached_tokens", BigInteger(), nullable=False),
    Column("cost_micros", BigInteger(), nullable=False),
    time_column("created_at"),
    UniqueConstraint("conversation_id", "call_id", name="one_row_per_call"),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_usages_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_usages_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index("usage_of_workflows", "organization_id", "workflow_id"),
    *(
        Index(
            f"usage_of_{name}s",
            f"{name}_id",
            "organization_id",
            sqlite_where=text(f"{name}_id IS NOT NULL"),
            postgresql_where=text(f"{name}_id IS NOT NULL"),
        )
        for name in ("user", "agent")
    ),
    CheckConstraint(
        "input_tokens >= 0 AND output_tokens >= 0 AND cached_tokens >= 0 AND cost_micros >= 0",
        name="usage_only_grows",
    ),
)
