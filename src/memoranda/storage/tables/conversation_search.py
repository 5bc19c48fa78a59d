"""What was said, as it is searched: segments of conversations, and which conversations wait to be read."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    Uuid,
    text,
    true,
)

from memoranda.storage.tables.base import (
    count_column,
    id_column,
    organization_column,
    table,
    time_column,
)

# A conversation with messages that no search finds yet. The row is the work: whoever adds messages makes
# it or lets `stamp` grow, and whoever has read them up to that stamp takes it away.
conversation_marks = table(
    "conversation_marks",
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    Column("stamp", BigInteger(), nullable=False),
    time_column("marked_at"),
    Column("lease_owner", Uuid()),
    time_column("lease_until", nullable=True),
    PrimaryKeyConstraint("organization_id", "conversation_id", name="one_mark_per_conversation"),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="a_mark_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index("conversation_marks_by_age", "organization_id", "marked_at"),
)

# A part of a conversation, which is one document of the index. `places` says which part of which message
# each passage is. Of its passages the first `embedded` have a vector of `model`; where others lack one,
# `lacks` says that the row is work. What is wide stands last, so that lists of segments do not read it.
conversation_segments = table(
    "conversation_segments",
    id_column(),
    organization_column(),
    Column("conversation_id", Uuid(), nullable=False),
    count_column("number", default=None),
    count_column("first_position", default=None),
    count_column("last_position", default=None),
    count_column("passages", default=None),
    Column("model", String(), nullable=False, server_default=""),
    count_column("embedded"),
    Column("stamp", BigInteger(), nullable=False, server_default="0"),
    Column("lacks", Boolean(), nullable=False, server_default=true()),
    count_column("failures"),
    time_column("retry_at", nullable=True),
    Column("lease_owner", Uuid()),
    time_column("lease_until", nullable=True),
    Column("places", LargeBinary(), nullable=False),
    Column("vectors", LargeBinary()),
    UniqueConstraint("conversation_id", "number", name="one_segment_per_number"),
    ForeignKeyConstraint(
        ["organization_id", "conversation_id"],
        ["conversations.organization_id", "conversations.id"],
        name="a_segment_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "segments_to_embed",
        "organization_id",
        "id",
        sqlite_where=text("lacks"),
        postgresql_where=text("lacks"),
    ),
)
