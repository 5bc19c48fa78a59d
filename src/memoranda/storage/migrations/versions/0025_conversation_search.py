"""What was said can be found: segments of conversations, and which conversations wait to be read."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def _lease() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcTime(), nullable=True),
    )


def _of_a_conversation(table: str, promise: str) -> tuple[sa.ForeignKeyConstraint, ...]:
    return (
        sa.ForeignKeyConstraint(
            ["organization_id", "conversation_id"],
            ["conversations.organization_id", "conversations.id"],
            name=promise,
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"{table}_organization_id_exists",
            ondelete="CASCADE",
        ),
    )


def _marks() -> None:
    op.create_table(
        "conversation_marks",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("marked_at", UtcTime(), nullable=False),
        *_lease(),
        *_of_a_conversation("conversation_marks", "a_mark_stays_in_its_organization"),
        sa.PrimaryKeyConstraint(
            "organization_id", "conversation_id", name="one_mark_per_conversation"
        ),
    )
    op.create_index(
        "conversation_marks_by_age", "conversation_marks", ["organization_id", "marked_at"]
    )


def _segments() -> None:
    op.create_table(
        "conversation_segments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first_position", sa.Integer(), nullable=False),
        sa.Column("last_position", sa.Integer(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False, server_default=sa.text("''")),
        sa.Column("embedded", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("stamp", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("lacks", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("failures", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("retry_at", UtcTime(), nullable=True),
        *_lease(),
        sa.Column("places", sa.LargeBinary(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=True),
        *_of_a_conversation("conversation_segments", "a_segment_stays_in_its_organization"),
        sa.PrimaryKeyConstraint("id", name="conversation_segments_pk"),
        sa.UniqueConstraint("conversation_id", "number", name="one_segment_per_number"),
    )
    op.create_index(
        "segments_to_embed",
        "conversation_segments",
        ["organization_id", "id"],
        sqlite_where=sa.text("lacks"),
        postgresql_where=sa.text("lacks"),
    )


# Conversations from before there was a search wait to be read too.
_MARK_ALL = (
    "INSERT INTO conversation_marks (organization_id, conversation_id, stamp, marked_at) "
    "SELECT organization_id, id, 1, updated_at FROM conversations WHERE length > 0"
)


def upgrade() -> None:
    _marks()
    _segments()
    op.execute(_MARK_ALL)
