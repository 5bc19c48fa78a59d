"""Conversations are saved whole, fenced and reset."""

from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_AT_ONCE = 500
_MESSAGES = sa.table(
    "conversation_messages",
    *(sa.column(name) for name in ("id", "conversation_id", "position", "role", "content")),
    *(sa.column(name) for name in ("bytes", "digest", "chain", "placed_at", "created_at")),
)
_CONVERSATIONS = sa.table(
    "conversations",
    *(sa.column(name) for name in ("id", "length", "bytes", "digest", "last_position")),
)


def _in_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"{table}_organization_id_exists",
        ondelete="CASCADE",
    )


def _conversations() -> None:
    for column in (
        sa.Column("bytes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("fence", sa.Integer(), server_default="0", nullable=False),
        sa.Column("digest", sa.String(), server_default="", nullable=False),
        sa.Column("last_position", sa.Integer(), server_default="0", nullable=False),
        sa.Column("whole_since", UtcTime(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
    ):
        op.add_column("conversations", column)


def _messages() -> None:
    for column in (
        sa.Column("metadata", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("bytes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("digest", sa.String(), nullable=True),
        sa.Column("chain", sa.String(), nullable=True),
        sa.Column("placed_at", UtcTime(), nullable=True),
    ):
        op.add_column("conversation_messages", column)


def _digest() -> None:
    """Give what was said before its digests, a few messages at a time."""
    connection, c = op.get_bind(), _CONVERSATIONS.c
    for conversation in connection.execute(sa.select(c.id).where(c.length > 0)).all():
        last, size, chain = _digest_one(connection, conversation.id)
        connection.execute(
            sa.update(_CONVERSATIONS)
            .where(c.id == conversation.id)
            .values(bytes=size, digest=chain, last_position=last)
        )


def _digest_one(connection: sa.Connection, conversation: Any) -> tuple[int, int, str]:
    """The last position, the bytes and the chain of a conversation whose messages were given theirs."""
    m, last, size, chain = _MESSAGES.c, 0, 0, ""
    some = (
        sa.select(m.id, m.position, m.role, m.content)
        .where(m.conversation_id == conversation, m.position > sa.bindparam("after"))
        .order_by(m.position)
        .limit(_AT_ONCE)
    )
    while rows := connection.execute(some, {"after": last}).all():
        for row in rows:
            digest = sha256(f"{row.role}\n{row.content}\n{{}}".encode()).hexdigest()
            chain = sha256(f"{chain}{digest}".encode()).hexdigest()
            bytes_ = len(row.role) + len(row.content.encode()) + len("{}")
            connection.execute(
                sa.update(_MESSAGES)
                .where(m.id == row.id)
                .values(bytes=bytes_, digest=digest, chain=chain, placed_at=m.created_at)
            )
            last, size = row.position, size + bytes_
    return last, size, chain


def _close_messages() -> None:
    with op.batch_alter_table("conversation_messages") as batch_op:
        for name, kind in (
            ("digest", sa.String()),
            ("chain", sa.String()),
            ("placed_at", UtcTime()),
        ):
            batch_op.alter_column(name, existing_type=kind, nullable=False)


def _archive() -> None:
    op.create_table(
        "conversation_archive",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("placed_at", UtcTime(), nullable=False),
        sa.Column("left_at", UtcTime(), nullable=False),
        sa.Column("compaction_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id", "conversation_id"],
            ["conversations.organization_id", "conversations.id"],
            name="an_archived_message_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        _in_organization("conversation_archive"),
        sa.PrimaryKeyConstraint("id", name="conversation_archive_pk"),
    )
    op.create_index(
        "archived_messages_in_order", "conversation_archive", ["conversation_id", "position", "id"]
    )
    op.create_index(
        "replaced_messages_by_age",
        "conversation_archive",
        ["organization_id", "left_at"],
        sqlite_where=sa.text("compaction_id IS NULL"),
        postgresql_where=sa.text("compaction_id IS NULL"),
    )


def _generations() -> None:
    op.create_table(
        "workflow_generations",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("reset_at", UtcTime(), nullable=False),
        sa.CheckConstraint("generation >= 1", name="the_generation_counts_from_one"),
        _in_organization("workflow_generations"),
        sa.PrimaryKeyConstraint("organization_id", "workflow_id", name="one_generation_goes_on"),
    )
    op.create_table(
        "conversation_fences",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        _in_organization("conversation_fences"),
        sa.PrimaryKeyConstraint(
            "organization_id", "workflow_id", "generation", "agent_id", name="one_fence_per_key"
        ),
    )


def upgrade() -> None:
    _conversations()
    _messages()
    _digest()
    _close_messages()
    _archive()
    _generations()
    op.add_column(
        "tool_spaces",
        sa.Column("reset_policy", sa.String(), server_default="keep", nullable=False),
    )
