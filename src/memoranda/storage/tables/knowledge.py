"""Knowledge: documents of an organization or of the platform, and the chunks that they are searched by."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    false,
    text,
)

from memoranda.storage.scope import NIL, Tenant, Through
from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)
from memoranda.storage.vectors import Vector

_PLATFORM = text("organization_id IS NULL")
_UNREADY = text("status <> 'ready'")

knowledge_sources = table(
    "knowledge_sources",
    id_column(),
    organization_column(nullable=True),
    name_column("kind"),
    name_column("title"),
    name_column("uri", nullable=True),
    name_column("object_key", nullable=True),
    Column("summary", Text()),
    Column("digest", String(64), nullable=False),
    name_column("status"),
    name_column("reason", nullable=True),
    count_column("size"),
    count_column("chunks"),
    count_column("attempts"),
    Column("lease_owner", Uuid()),
    time_column("lease_until", nullable=True),
    time_column("created_at"),
    time_column("updated_at"),
    CheckConstraint("status IN ('pending', 'ready', 'failed')", name="known_source_status"),
    CheckConstraint("status <> 'failed' OR reason IS NOT NULL", name="a_failed_source_says_why"),
    UniqueConstraint("organization_id", "object_key", name="one_source_per_object"),
    UniqueConstraint("organization_id", "uri", name="one_source_per_uri"),
    # NULLs never collide in a unique key, so the platform's own sources have theirs apart.
    Index(
        "one_platform_source_per_object",
        "object_key",
        unique=True,
        sqlite_where=_PLATFORM,
        postgresql_where=_PLATFORM,
    ),
    Index(
        "one_platform_source_per_uri",
        "uri",
        unique=True,
        sqlite_where=_PLATFORM,
        postgresql_where=_PLATFORM,
    ),
    Index("knowledge_sources_by_age", "organization_id", "id"),
    Index("knowledge_sources_by_status", "organization_id", "status", "updated_at"),
    tenancy=Tenant(platform="null"),
)

# What was uploaded, kept until the source is ready, so that a killed ingestion goes on and a failed one can be tried again.
knowledge_uploads = table(
    "knowledge_uploads",
    Column(
        "source_id",
        Uuid(),
        ForeignKey("knowledge_sources.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("content", LargeBinary(), nullable=False),
    tenancy=Through("source_id", "knowledge_sources"),
)

knowledge_chunks = table(
    "knowledge_chunks",
    id_column(),
    Column(
        "source_id", Uuid(), ForeignKey("knowledge_sources.id", ondelete="CASCADE"), nullable=False
    ),
    count_column("ordinal", default=None),
    Column("text", Text(), nullable=False),
    count_column("tokens", default=None),
    Column("place", String(), nullable=False, server_default=""),
    name_column("external_id", nullable=True),
    name_column("speaker", nullable=True),
    name_column("at", nullable=True),
    UniqueConstraint("source_id", "ordinal", name="one_chunk_per_ordinal"),
    tenancy=Through("source_id", "knowledge_sources"),
)


def _source_column() -> Column[Any]:
    return Column(
        "source_id", Uuid(), ForeignKey("knowledge_sources.id", ondelete="CASCADE"), nullable=False
    )


# One vector per chunk and model; NULL for a text that the model makes nothing of, which is near nothing.
# What finds the nearest of many is made in PostgreSQL alone: see `dialects/postgres_vectors.py`.
knowledge_vectors = table(
    "knowledge_vectors",
    _source_column(),
    Column("model", String(), nullable=False),
    count_column("ordinal", default=None),
    Column("vector", Vector()),
    PrimaryKeyConstraint("source_id", "model", "ordinal", name="one_vector_per_chunk_and_model"),
    tenancy=Through("source_id", "knowledge_sources"),
)

# Whether a source is ready under a model. Until it is, its row is the work of making it so. `digest` is that
# of the texts that were embedded: kept vectors are taken up only where the texts are the same.
knowledge_embeddings = table(
    "knowledge_embeddings",
    _source_column(),
    Column("model", String(), nullable=False),
    name_column("status"),
    name_column("reason", nullable=True),
    Column("digest", String(64), nullable=False, server_default=""),
    count_column("done"),
    count_column("attempts"),
    Column("stamp", BigInteger(), nullable=False, server_default="0"),
    time_column("retry_at", nullable=True),
    Column("lease_owner", Uuid()),
    time_column("lease_until", nullable=True),
    time_column("updated_at"),
    CheckConstraint("status IN ('pending', 'ready', 'failed')", name="known_embedding_status"),
    CheckConstraint("status <> 'failed' OR reason IS NOT NULL", name="a_failed_embedding_says_why"),
    PrimaryKeyConstraint("source_id", "model", name="one_embedding_per_source_and_model"),
    # Of those that are not ready alone, which are few: whoever looks for one that is, has its source.
    Index(
        "embeddings_to_make",
        "model",
        "status",
        "source_id",
        sqlite_where=_UNREADY,
        postgresql_where=_UNREADY,
    ),
    tenancy=Through("source_id", "knowledge_sources"),
)

# One row per organization, and one of the platform: `scope_id` is the organization, or the nil id, so that
# the key refuses a second row of either. `changes` grows with every change of what is found by meaning, and
# `forced` says that a source which fails under the next model does not keep it from serving.
knowledge_settings = table(
    "knowledge_settings",
    Column("scope_id", Uuid(), nullable=False),
    organization_column(nullable=True),
    name_column("active_embedding_model", nullable=True),
    name_column("next_embedding_model", nullable=True),
    Column("forced", Boolean(), nullable=False, server_default=false()),
    Column("changes", BigInteger(), nullable=False, server_default="0"),
    time_column("since"),
    CheckConstraint(
        f"scope_id = coalesce(organization_id, '{NIL.hex}')", name="settings_are_of_their_scope"
    ),
    PrimaryKeyConstraint("scope_id", name="one_row_of_settings_per_scope"),
    UniqueConstraint("organization_id", name="one_row_of_settings_per_organization"),
    tenancy=Tenant(platform="null"),
)
