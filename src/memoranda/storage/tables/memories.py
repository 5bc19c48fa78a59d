"""Memories: the chain's identity, and its revisions, which are only ever added to."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    false,
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

# `audience` spells user, agent and space as one text, because NULLs never collide in a unique key.
# head_id, version, live, folded, recorded_at and expires_at repeat the newest revision: the
# projection of the head. `folded_digest` stands in for `folded` where an index must hold it, since
# PostgreSQL's indexes take no text of thousands of bytes.
memories = table(
    "memories",
    id_column(),
    organization_column(),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    name_column("space", nullable=True),
    name_column("audience"),
    name_column("subject_key", nullable=True),
    Column("subject_refs", Json(), nullable=False),
    Column("pinned", Boolean(), nullable=False, server_default=false()),
    Column("head_id", Uuid(), nullable=False),
    count_column("version", default=None),
    Column("live", Boolean(), nullable=False),
    Column("folded", Text()),
    Column("folded_digest", LargeBinary()),
    time_column("recorded_at"),
    time_column("expires_at", nullable=True),
    time_column("created_at"),
    count_column("uses"),
    time_column("used_at", nullable=True),
    # Which way of reading words its rows in the index were made with; 0 says that there are none.
    count_column("words_version"),
    UniqueConstraint("organization_id", "id", name="memories_in_organization"),
    UniqueConstraint("head_id", name="one_head_per_memory"),
    UniqueConstraint("organization_id", "audience", "subject_key", name="one_memory_per_key"),
    # Both columns, so that a memory can't name another organization's user or agent.
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_memorys_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_memorys_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "one_live_memory_per_text",
        "organization_id",
        "audience",
        "folded_digest",
        unique=True,
        sqlite_where=text("live = 1 AND subject_key IS NULL"),
        postgresql_where=text("live AND subject_key IS NULL"),
    ),
    # The other half, where a text may stand under several keys; no row is in both.
    Index(
        "keyed_memories_by_text",
        "organization_id",
        "audience",
        "folded_digest",
        sqlite_where=text("live = 1 AND subject_key IS NOT NULL"),
        postgresql_where=text("live AND subject_key IS NOT NULL"),
    ),
    Index(
        "memories_by_recency",
        "organization_id",
        "recorded_at",
        "id",
        sqlite_where=text("live = 1"),
        postgresql_where=text("live"),
    ),
    Index(
        "forgotten_memories_by_time",
        "organization_id",
        "recorded_at",
        "id",
        sqlite_where=text("live = 0"),
        postgresql_where=text("NOT live"),
    ),
    Index(
        "pinned_memories_by_recency",
        "organization_id",
        "recorded_at",
        "id",
        sqlite_where=text("live = 1 AND pinned = 1"),
        postgresql_where=text("live AND pinned"),
    ),
    Index(
        "expiring_memories",
        "organization_id",
        "expires_at",
        sqlite_where=text("live = 1 AND expires_at IS NOT NULL"),
        postgresql_where=text("live AND expires_at IS NOT NULL"),
    ),
    # Of each user, and of none, in both orders of lists. The organization comes second, so that these
    # never look as good as the indexes that begin with it.
    Index("memories_of_users", "user_id", "organization_id", "id"),
    Index("memories_of_users_by_recency", "user_id", "organization_id", "recorded_at", "id"),
    Index(
        "spaced_memories",
        "organization_id",
        sqlite_where=text("live = 1 AND space IS NOT NULL"),
        postgresql_where=text("live AND space IS NOT NULL"),
    ),
    CheckConstraint("live = (folded IS NOT NULL)", name="live_memories_have_a_text"),
    CheckConstraint(
        "(folded IS NULL) = (folded_digest IS NULL)", name="a_text_comes_with_its_digest"
    ),
    CheckConstraint(
        "(audience = 'all') = (user_id IS NULL AND agent_id IS NULL AND space IS NULL)",
        name="an_audience_spells_its_parts",
    ),
)

memory_revisions = table(
    "memory_revisions",
    id_column(),
    organization_column(),
    Column("memory_id", Uuid(), nullable=False),
    count_column("version", default=None),
    Column("supersedes_id", Uuid()),
    Column("text", Text()),
    name_column("title", nullable=True),
    name_column("category", nullable=True),
    Column("tags", Json(), nullable=False),
    time_column("expires_at", nullable=True),
    Column("origin", String(), nullable=False),
    Column("author_user_id", Uuid()),
    Column("author_agent_id", Uuid()),
    Column("run_id", Uuid()),
    Column("conversation_id", Uuid()),
    time_column("forgotten_at", nullable=True),
    # A move or a merge ends one memory and goes on in another. Ids alone: either may be purged later.
    Column("continues_id", Uuid()),
    Column("continued_by_id", Uuid()),
    time_column("created_at"),
    UniqueConstraint("memory_id", "version", name="one_revision_per_version"),
    UniqueConstraint("memory_id", "id", name="revisions_in_memory"),
    UniqueConstraint("supersedes_id", name="one_child_per_revision"),
    Index(
        "one_root_per_memory",
        "memory_id",
        unique=True,
        sqlite_where=text("supersedes_id IS NULL"),
        postgresql_where=text("supersedes_id IS NULL"),
    ),
    ForeignKeyConstraint(
        ["organization_id", "memory_id"],
        ["memories.organization_id", "memories.id"],
        name="a_revision_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["memory_id", "supersedes_id"],
        ["memory_revisions.memory_id", "memory_revisions.id"],
        name="a_child_stays_in_its_memory",
        ondelete="CASCADE",
    ),
    CheckConstraint("(version = 1) = (supersedes_id IS NULL)", name="only_the_root_has_no_parent"),
    CheckConstraint("supersedes_id <> id", name="no_revision_follows_itself"),
    CheckConstraint("(text IS NULL) = (forgotten_at IS NOT NULL)", name="a_tombstone_has_no_text"),
    CheckConstraint("origin IN ('user', 'agent', 'consolidation', 'import')", name="known_origin"),
    CheckConstraint(
        "continued_by_id IS NULL OR forgotten_at IS NOT NULL",
        name="only_a_tombstone_points_onward",
    ),
    CheckConstraint(
        "continues_id IS NULL OR supersedes_id IS NULL", name="only_a_root_continues_another_memory"
    ),
)

# Apart from the chains, so that nothing that reads memories for a run can meet what no person accepted.
# `memory_id` is what an accepted proposal became, and the survivor of a merge; `merges` lists the other
# memories of a merge with the versions that it was made from.
memory_proposals = table(
    "memory_proposals",
    id_column(),
    organization_column(),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    name_column("space", nullable=True),
    name_column("audience"),
    name_column("subject_key", nullable=True),
    Column("kind", String(), nullable=False),
    Column("status", String(), nullable=False),
    Column("text", Text()),
    name_column("title", nullable=True),
    name_column("category", nullable=True),
    Column("tags", Json(), nullable=False),
    time_column("expires_at", nullable=True),
    Column("folded_digest", LargeBinary()),
    Column("subject_refs", Json(), nullable=False, server_default=text("'[]'")),
    Column("merges", Json(), nullable=False),
    Column("memory_id", Uuid()),
    Column("origin", String(), nullable=False),
    Column("author_user_id", Uuid()),
    Column("author_agent_id", Uuid()),
    Column("run_id", Uuid()),
    Column("conversation_id", Uuid()),
    Column("decided_by", Uuid()),
    time_column("decided_at", nullable=True),
    time_column("created_at"),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_proposals_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_proposals_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "one_waiting_proposal_per_text",
        "organization_id",
        "audience",
        "folded_digest",
        unique=True,
        sqlite_where=text("status = 'waiting' AND kind = 'memory' AND subject_key IS NULL"),
        postgresql_where=text("status = 'waiting' AND kind = 'memory' AND subject_key IS NULL"),
    ),
    Index(
        "one_waiting_proposal_per_key_and_text",
        "organization_id",
        "audience",
        "subject_key",
        "folded_digest",
        unique=True,
        sqlite_where=text("status = 'waiting' AND kind = 'memory' AND subject_key IS NOT NULL"),
        postgresql_where=text("status = 'waiting' AND kind = 'memory' AND subject_key IS NOT NULL"),
    ),
    Index(
        "one_waiting_merge_per_survivor",
        "organization_id",
        "memory_id",
        unique=True,
        sqlite_where=text("status = 'waiting' AND kind = 'merge'"),
        postgresql_where=text("status = 'waiting' AND kind = 'merge'"),
    ),
    Index("proposals_by_status", "organization_id", "status", "id"),
    CheckConstraint("kind IN ('memory', 'merge')", name="known_kind_of_proposal"),
    CheckConstraint(
        "status IN ('waiting', 'accepted', 'discarded')", name="known_status_of_proposal"
    ),
    # What was accepted says it in its chain, and nowhere twice.
    CheckConstraint(
        "(text IS NULL) = (status = 'accepted')", name="an_accepted_proposal_has_no_text"
    ),
    CheckConstraint(
        "(decided_at IS NULL) = (status = 'waiting')", name="a_decided_proposal_says_when"
    ),
)

# How many there are, kept with every change: limits must hold, and lists must not count again and again.
memory_counts = table(
    "memory_counts",
    Column(
        "organization_id",
        Uuid(),
        ForeignKey("organizations.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    count_column("active"),
    count_column("forgotten"),
    count_column("pinned"),
    count_column("waiting"),
    count_column("discarded"),
    count_column("dropped"),
    CheckConstraint(
        "active >= 0 AND forgotten >= 0 AND pinned >= 0 AND waiting >= 0 AND discarded >= 0",
        name="nothing_is_counted_below_zero",
    ),
)

# What is left of a purged memory: that it was, for whom, and when it went. Nothing of what it said.
purged_memories = table(
    "purged_memories",
    id_column(),
    organization_column(),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    name_column("space", nullable=True),
    name_column("reason"),
    time_column("purged_at"),
    # NULL in a row of an earlier version: it may have been there at any time.
    time_column("began_at", nullable=True),
    CheckConstraint("reason IN ('retention', 'erased')", name="known_reason_of_purge"),
)
