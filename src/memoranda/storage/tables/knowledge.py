"""Knowledge: documents of an organization or of the platform, and the chunks that they are searched by."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from memoranda.storage.scope import Tenant, Through
from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)

_PLATFORM = text("organization_id IS NULL")

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
