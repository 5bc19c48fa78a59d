"""What the graphs of a host keep, and branches of conversations."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import UtcTime

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def _ordered(name: str) -> sa.Column[Any]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False)


def _in_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"{table}_organization_id_exists",
        ondelete="CASCADE",
    )


def _of(table: str, column: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id", column],
        [f"{table}.organization_id", f"{table}.id"],
        name=name,
        ondelete="CASCADE",
    )


def _index_where_there(name: str, table: str, columns: list[str], there: str) -> None:
    given = sa.text(f"{there} IS NOT NULL")
    op.create_index(name, table, columns, sqlite_where=given, postgresql_where=given)


def _holders() -> None:
    op.create_table(
        "graph_holders",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("agent_id", sa.Uuid(), nullable=True),
        sa.Column("for_user", sa.Uuid(), nullable=False),
        sa.Column("for_agent", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="graph_holders_pk"),
        sa.UniqueConstraint("organization_id", "id", name="graph_holders_in_organization"),
        sa.UniqueConstraint(
            "organization_id", "for_user", "for_agent", name="one_graph_holder_each"
        ),
        _of("users", "user_id", "a_graph_holders_user_is_of_its_organization"),
        _of("agents", "agent_id", "a_graph_holders_agent_is_of_its_organization"),
        _in_organization("graph_holders"),
    )
    for name in ("user", "agent"):
        column = f"{name}_id"
        _index_where_there(
            f"graph_holders_of_{name}s", "graph_holders", [column, "organization_id"], column
        )


def _items() -> None:
    op.create_table(
        "graph_items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("holder_id", sa.Uuid(), nullable=False),
        _ordered("namespace"),
        _ordered("key"),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.Column("ttl_ms", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.CheckConstraint("bytes >= 0", name="bytes_count_what_a_graph_item_holds"),
        sa.CheckConstraint(
            "(ttl_ms IS NULL) = (expires_at IS NULL)", name="a_graph_item_expires_or_does_not"
        ),
        sa.PrimaryKeyConstraint("id", name="graph_items_pk"),
        sa.UniqueConstraint("organization_id", "id", name="graph_items_in_organization"),
        sa.UniqueConstraint(
            "organization_id", "holder_id", "namespace", "key", name="one_graph_item_per_key"
        ),
        _of("graph_holders", "holder_id", "a_graph_item_stays_in_its_organization"),
        _in_organization("graph_items"),
    )
    op.create_index("graph_items_by_age", "graph_items", ["holder_id", "updated_at", "id"])
    _index_where_there(
        "graph_items_that_expire", "graph_items", ["organization_id", "expires_at"], "expires_at"
    )
    op.create_table(
        "graph_item_vectors",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("item_id", "number", name="one_graph_vector_per_text"),
        _of("graph_items", "item_id", "a_graph_vector_stays_in_its_organization"),
        _in_organization("graph_item_vectors"),
    )


def _checkpoints() -> None:
    op.create_table(
        "graph_checkpoints",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("holder_id", sa.Uuid(), nullable=False),
        _ordered("thread_id"),
        _ordered("namespace"),
        _ordered("checkpoint_id"),
        sa.Column("parent_id", sa.String(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("channels", sa.Text(), nullable=False),
        sa.Column("partial", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("metadata_kind", sa.String(), nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id",
            "holder_id",
            "thread_id",
            "namespace",
            "checkpoint_id",
            name="one_checkpoint_per_id",
        ),
        _of("graph_holders", "holder_id", "a_checkpoint_stays_in_its_organization"),
        _in_organization("graph_checkpoints"),
    )
    _index_where_there(
        "checkpoints_of_runs", "graph_checkpoints", ["holder_id", "run_id"], "run_id"
    )


def _channels() -> None:
    op.create_table(
        "graph_channels",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("holder_id", sa.Uuid(), nullable=False),
        _ordered("thread_id"),
        _ordered("namespace"),
        _ordered("channel"),
        _ordered("version"),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id",
            "holder_id",
            "thread_id",
            "namespace",
            "channel",
            "version",
            name="one_value_per_version",
        ),
        _of("graph_holders", "holder_id", "a_channels_value_stays_in_its_organization"),
        _in_organization("graph_channels"),
    )


def _writes() -> None:
    op.create_table(
        "graph_writes",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("holder_id", sa.Uuid(), nullable=False),
        _ordered("thread_id"),
        _ordered("namespace"),
        _ordered("checkpoint_id"),
        _ordered("task_id"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        _ordered("task_path"),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "organization_id",
            "holder_id",
            "thread_id",
            "namespace",
            "checkpoint_id",
            "task_id",
            "number",
            name="one_write_per_place_of_a_task",
        ),
        _of("graph_holders", "holder_id", "a_write_stays_in_its_organization"),
        _in_organization("graph_writes"),
    )


def _branches() -> None:
    op.create_table(
        "conversation_branches",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("workflow_id", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("ended", sa.String(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "(ended IS NULL) = (conversation_id IS NOT NULL)",
            name="a_branch_has_a_conversation_until_it_ends",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id",
            "workflow_id",
            "generation",
            "agent_id",
            "name",
            name="a_branchs_name_is_given_once",
        ),
        _of("conversations", "conversation_id", "a_branch_stays_in_its_organization"),
        _in_organization("conversation_branches"),
    )
    _index_where_there(
        "branches_by_conversation",
        "conversation_branches",
        ["conversation_id", "organization_id"],
        "conversation_id",
    )


def upgrade() -> None:
    _holders()
    _items()
    _checkpoints()
    _channels()
    _writes()
    _branches()
