"""Indexes in the order of lists: of what users and agents may see, and of sources."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def _memories() -> None:
    op.drop_index("memories_of_users", "memories")
    op.create_index("memories_of_users", "memories", ["user_id", "organization_id", "id"])
    op.create_index(
        "memories_of_users_by_recency",
        "memories",
        ["user_id", "organization_id", "recorded_at", "id"],
    )


def _conversations() -> None:
    for column, name in (
        ("user_id", "conversations_of_users"),
        ("agent_id", "conversations_of_agents"),
    ):
        op.create_index(
            name,
            "conversations",
            [column, "organization_id", "id"],
            sqlite_where=sa.text(f"{column} IS NOT NULL"),
            postgresql_where=sa.text(f"{column} IS NOT NULL"),
        )


def upgrade() -> None:
    _memories()
    _conversations()
    op.create_index("knowledge_sources_by_age", "knowledge_sources", ["organization_id", "id"])
