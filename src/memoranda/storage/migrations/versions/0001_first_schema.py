"""The first schema."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

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
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.create_index(
            "one_default_organization",
            ["is_default"],
            unique=True,
            sqlite_where=sa.text("is_default"),
            postgresql_where=sa.text("is_default"),
        )


def _search_documents() -> None:
    op.create_table(
        "search_documents",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("lengths", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "scope_id", "collection", "document_id", name="one_row_per_document"
        ),
    )


def _search_postings() -> None:
    op.create_table(
        "search_postings",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("postings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "scope_id",
            "collection",
            "term",
            "document_id",
            name="one_posting_per_term_and_document",
        ),
    )
    with op.batch_alter_table("search_postings", schema=None) as batch_op:
        batch_op.create_index(
            "search_postings_by_document", ["scope_id", "document_id"], unique=False
        )


def _search_terms() -> None:
    op.create_table(
        "search_terms",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("windows", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "collection", "term", name="one_count_per_term"),
    )


def _search_totals() -> None:
    op.create_table(
        "search_totals",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "collection", name="one_total_per_collection"),
    )


def _work_signals() -> None:
    op.create_table(
        "work_signals",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("organization", sa.Uuid(), nullable=False),
        sa.Column("token", sa.Uuid(), nullable=False),
        sa.Column("raised_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "organization", name="one_signal_per_kind"),
    )


def _activities() -> None:
    op.create_table(
        "activities",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("subject_id", sa.Uuid(), nullable=True),
        sa.Column("metadata", Json(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="activities_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="activities_pk"),
    )
    with op.batch_alter_table("activities", schema=None) as batch_op:
        batch_op.create_index("activities_by_age", ["organization_id", "id"], unique=False)


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


def _context_policies() -> None:
    op.create_table(
        "context_policies",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("policy", Json(), nullable=False),
        sa.Column("published_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="context_policies_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="context_policies_pk"),
        sa.UniqueConstraint("organization_id", "name", "version", name="one_policy_per_version"),
    )
    with op.batch_alter_table("context_policies", schema=None) as batch_op:
        batch_op.create_index(
            "context_policies_by_name", ["organization_id", "name", "version"], unique=False
        )


def _knowledge_sources() -> None:
    op.create_table(
        "knowledge_sources",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("uri", sa.String(), nullable=True),
        sa.Column("object_key", sa.String(), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("size", sa.Integer(), server_default="0", nullable=False),
        sa.Column("chunks", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "status <> 'failed' OR reason IS NOT NULL", name="a_failed_source_says_why"
        ),
        sa.CheckConstraint("status IN ('pending', 'ready', 'failed')", name="known_source_status"),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="knowledge_sources_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="knowledge_sources_pk"),
        sa.UniqueConstraint("organization_id", "object_key", name="one_source_per_object"),
        sa.UniqueConstraint("organization_id", "uri", name="one_source_per_uri"),
    )
    with op.batch_alter_table("knowledge_sources", schema=None) as batch_op:
        batch_op.create_index(
            "knowledge_sources_by_status", ["organization_id", "status", "updated_at"], unique=False
        )
        batch_op.create_index(
            "one_platform_source_per_object",
            ["object_key"],
            unique=True,
            sqlite_where=sa.text("organization_id IS NULL"),
            postgresql_where=sa.text("organization_id IS NULL"),
        )
        batch_op.create_index(
            "one_platform_source_per_uri",
            ["uri"],
            unique=True,
            sqlite_where=sa.text("organization_id IS NULL"),
            postgresql_where=sa.text("organization_id IS NULL"),
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
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.create_index("api_keys_by_organization", ["organization_id"], unique=False)


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=True),
        sa.Column("generation", sa.Integer(), server_default="1", nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("length", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.CheckConstraint("generation >= 1", name="generations_count_from_one"),
        sa.CheckConstraint("length >= 0", name="length_counts_messages"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_conversations_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_conversations_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="conversations_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="conversations_pk"),
        sa.UniqueConstraint("organization_id", "id", name="conversations_in_organization"),
        sa.UniqueConstraint(
            "organization_id",
            "workflow_id",
            "generation",
            "agent_id",
            name="one_conversation_per_key",
        ),
    )
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index(
            "one_conversation_per_key_without_agent",
            ["organization_id", "workflow_id", "generation"],
            unique=True,
            sqlite_where=sa.text("agent_id IS NULL"),
            postgresql_where=sa.text("agent_id IS NULL"),
        )


def _knowledge_chunks() -> None:
    op.create_table(
        "knowledge_chunks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(), server_default="", nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("speaker", sa.String(), nullable=True),
        sa.Column("at", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name="knowledge_chunks_source_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="knowledge_chunks_pk"),
        sa.UniqueConstraint("source_id", "ordinal", name="one_chunk_per_ordinal"),
    )


def _knowledge_uploads() -> None:
    op.create_table(
        "knowledge_uploads",
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name="knowledge_uploads_source_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", name="knowledge_uploads_pk"),
    )


def _memories() -> None:
    op.create_table(
        "memories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("space", sa.String(), nullable=True),
        sa.Column("audience", sa.String(), nullable=False),
        sa.Column("subject_key", sa.String(), nullable=True),
        sa.Column("subject_refs", Json(), nullable=False),
        sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("head_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=True),
        sa.Column("folded_digest", sa.LargeBinary(), nullable=True),
        sa.Column("recorded_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(audience = 'all') = (user_id IS NULL AND agent_id IS NULL AND space IS NULL)",
            name="an_audience_spells_its_parts",
        ),
        sa.CheckConstraint(
            "(folded IS NULL) = (folded_digest IS NULL)", name="a_text_comes_with_its_digest"
        ),
        sa.CheckConstraint("live = (folded IS NOT NULL)", name="live_memories_have_a_text"),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_memorys_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_memorys_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="memories_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="memories_pk"),
        sa.UniqueConstraint("head_id", name="one_head_per_memory"),
        sa.UniqueConstraint(
            "organization_id", "audience", "subject_key", name="one_memory_per_key"
        ),
        sa.UniqueConstraint("organization_id", "id", name="memories_in_organization"),
    )
    with op.batch_alter_table("memories", schema=None) as batch_op:
        batch_op.create_index(
            "keyed_memories_by_text",
            ["organization_id", "audience", "folded_digest"],
            unique=False,
            sqlite_where=sa.text("live = 1 AND subject_key IS NOT NULL"),
            postgresql_where=sa.text("live AND subject_key IS NOT NULL"),
        )
        batch_op.create_index(
            "memories_by_recency",
            ["organization_id", "recorded_at", "id"],
            unique=False,
            sqlite_where=sa.text("live = 1"),
            postgresql_where=sa.text("live"),
        )
        batch_op.create_index(
            "one_live_memory_per_text",
            ["organization_id", "audience", "folded_digest"],
            unique=True,
            sqlite_where=sa.text("live = 1 AND subject_key IS NULL"),
            postgresql_where=sa.text("live AND subject_key IS NULL"),
        )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("trigger_id", sa.Uuid(), nullable=True),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("input", Json(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name="a_runs_agent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "parent_id"],
            ["runs.organization_id", "runs.id"],
            name="a_runs_parent_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["users.organization_id", "users.id"],
            name="a_runs_user_is_of_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="runs_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="runs_pk"),
        sa.UniqueConstraint("organization_id", "id", name="runs_in_organization"),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("runs_by_age", ["organization_id", "created_at", "id"], unique=False)


def _conversation_messages() -> None:
    op.create_table(
        "conversation_messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "conversation_id"],
            ["conversations.organization_id", "conversations.id"],
            name="a_message_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="conversation_messages_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="conversation_messages_pk"),
        sa.UniqueConstraint("conversation_id", "position", name="one_message_per_position"),
    )


def _memory_revisions() -> None:
    op.create_table(
        "memory_revisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("supersedes_id", sa.Uuid(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("tags", Json(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("author_user_id", sa.Uuid(), nullable=True),
        sa.Column("author_agent_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("forgotten_at", UtcTime(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "origin IN ('user', 'agent', 'consolidation', 'import')", name="known_origin"
        ),
        sa.CheckConstraint(
            "(text IS NULL) = (forgotten_at IS NOT NULL)", name="a_tombstone_has_no_text"
        ),
        sa.CheckConstraint(
            "(version = 1) = (supersedes_id IS NULL)", name="only_the_root_has_no_parent"
        ),
        sa.CheckConstraint("supersedes_id <> id", name="no_revision_follows_itself"),
        sa.ForeignKeyConstraint(
            ["memory_id", "supersedes_id"],
            ["memory_revisions.memory_id", "memory_revisions.id"],
            name="a_child_stays_in_its_memory",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "memory_id"],
            ["memories.organization_id", "memories.id"],
            name="a_revision_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="memory_revisions_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="memory_revisions_pk"),
        sa.UniqueConstraint("memory_id", "id", name="revisions_in_memory"),
        sa.UniqueConstraint("memory_id", "version", name="one_revision_per_version"),
        sa.UniqueConstraint("supersedes_id", name="one_child_per_revision"),
    )
    with op.batch_alter_table("memory_revisions", schema=None) as batch_op:
        batch_op.create_index(
            "one_root_per_memory",
            ["memory_id"],
            unique=True,
            sqlite_where=sa.text("supersedes_id IS NULL"),
            postgresql_where=sa.text("supersedes_id IS NULL"),
        )


def _run_logs() -> None:
    op.create_table(
        "run_logs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("metadata", Json(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "run_id"],
            ["runs.organization_id", "runs.id"],
            name="a_log_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="run_logs_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="run_logs_pk"),
    )
    with op.batch_alter_table("run_logs", schema=None) as batch_op:
        batch_op.create_index("run_logs_by_run", ["run_id", "id"], unique=False)


def upgrade() -> None:
    _organizations()
    _search_documents()
    _search_postings()
    _search_terms()
    _search_totals()
    _work_signals()
    _activities()
    _agents()
    _context_policies()
    _knowledge_sources()
    _users()
    _api_keys()
    _conversations()
    _knowledge_chunks()
    _knowledge_uploads()
    _memories()
    _runs()
    _conversation_messages()
    _memory_revisions()
    _run_logs()
