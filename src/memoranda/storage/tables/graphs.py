"""What the graphs of a host keep: items under namespaces, and the checkpoints of their threads."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
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

from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)


def _ordered(name: str, *, nullable: bool = False) -> Column[Any]:
    """A text that is compared by code points, so that both databases have it in one order."""
    kind = String().with_variant(String(collation="C"), "postgresql")
    return Column(name, kind, nullable=nullable)


def _of_holder(promise: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["organization_id", "holder_id"],
        ["graph_holders.organization_id", "graph_holders.id"],
        name=promise,
        ondelete="CASCADE",
    )


# Whose items and checkpoints are kept together: a user's, an agent's, both's, or the organization's own.
# The `for_` columns repeat the ids with the nil id for none, because NULLs never collide.
graph_holders = table(
    "graph_holders",
    id_column(),
    organization_column(),
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    Column("for_user", Uuid(), nullable=False),
    Column("for_agent", Uuid(), nullable=False),
    time_column("created_at"),
    UniqueConstraint("organization_id", "id", name="graph_holders_in_organization"),
    UniqueConstraint("organization_id", "for_user", "for_agent", name="one_graph_holder_each"),
    ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name="a_graph_holders_user_is_of_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "agent_id"],
        ["agents.organization_id", "agents.id"],
        name="a_graph_holders_agent_is_of_its_organization",
        ondelete="CASCADE",
    ),
    Index(
        "graph_holders_of_users",
        "user_id",
        "organization_id",
        sqlite_where=text("user_id IS NOT NULL"),
        postgresql_where=text("user_id IS NOT NULL"),
    ),
    Index(
        "graph_holders_of_agents",
        "agent_id",
        "organization_id",
        sqlite_where=text("agent_id IS NOT NULL"),
        postgresql_where=text("agent_id IS NOT NULL"),
    ),
)

# `namespace` is its labels, each with a period after it, so that what begins with a namespace lies below
# it. `value` is JSON as it was written. `ttl_ms` is how long an item lives after it was last asked for.
graph_items = table(
    "graph_items",
    id_column(),
    organization_column(),
    Column("holder_id", Uuid(), nullable=False),
    _ordered("namespace"),
    _ordered("key"),
    Column("value", Text(), nullable=False),
    count_column("bytes", default=None),
    time_column("created_at"),
    time_column("updated_at"),
    Column("ttl_ms", BigInteger()),
    time_column("expires_at", nullable=True),
    UniqueConstraint("organization_id", "id", name="graph_items_in_organization"),
    UniqueConstraint(
        "organization_id", "holder_id", "namespace", "key", name="one_graph_item_per_key"
    ),
    _of_holder("a_graph_item_stays_in_its_organization"),
    CheckConstraint("bytes >= 0", name="bytes_count_what_a_graph_item_holds"),
    CheckConstraint(
        "(ttl_ms IS NULL) = (expires_at IS NULL)", name="a_graph_item_expires_or_does_not"
    ),
    Index("graph_items_by_age", "holder_id", "updated_at", "id"),
    Index(
        "graph_items_that_expire",
        "organization_id",
        "expires_at",
        sqlite_where=text("expires_at IS NOT NULL"),
        postgresql_where=text("expires_at IS NOT NULL"),
    ),
)

# One vector for each text of an item that is searched by meaning, as little-endian float32 numbers.
graph_item_vectors = table(
    "graph_item_vectors",
    organization_column(),
    Column("item_id", Uuid(), nullable=False),
    count_column("number", default=None),
    Column("model", String(), nullable=False),
    Column("numbers", LargeBinary(), nullable=False),
    PrimaryKeyConstraint("item_id", "number", name="one_graph_vector_per_text"),
    ForeignKeyConstraint(
        ["organization_id", "item_id"],
        ["graph_items.organization_id", "graph_items.id"],
        name="a_graph_vector_stays_in_its_organization",
        ondelete="CASCADE",
    ),
)

# A thread's state at one moment, as its host serialized it, but for what its channels held: `channels` names
# the version of each, and the rows of graph_channels hold them once for all checkpoints.
graph_checkpoints = table(
    "graph_checkpoints",
    organization_column(),
    Column("holder_id", Uuid(), nullable=False),
    _ordered("thread_id"),
    _ordered("namespace"),
    _ordered("checkpoint_id"),
    name_column("parent_id", nullable=True),
    name_column("run_id", nullable=True),
    Column("channels", Text(), nullable=False),
    # Its state is made of what came before too, so that nothing before it may go.
    Column("partial", Boolean(), nullable=False, server_default=false()),
    name_column("kind"),
    Column("body", LargeBinary(), nullable=False),
    name_column("metadata_kind"),
    Column("metadata", LargeBinary(), nullable=False),
    time_column("created_at"),
    PrimaryKeyConstraint(
        "organization_id",
        "holder_id",
        "thread_id",
        "namespace",
        "checkpoint_id",
        name="one_checkpoint_per_id",
    ),
    _of_holder("a_checkpoint_stays_in_its_organization"),
    Index(
        "checkpoints_of_runs",
        "holder_id",
        "run_id",
        sqlite_where=text("run_id IS NOT NULL"),
        postgresql_where=text("run_id IS NOT NULL"),
    ),
)

graph_channels = table(
    "graph_channels",
    organization_column(),
    Column("holder_id", Uuid(), nullable=False),
    _ordered("thread_id"),
    _ordered("namespace"),
    _ordered("channel"),
    _ordered("version"),
    name_column("kind"),
    Column("body", LargeBinary(), nullable=False),
    PrimaryKeyConstraint(
        "organization_id",
        "holder_id",
        "thread_id",
        "namespace",
        "channel",
        "version",
        name="one_value_per_version",
    ),
    _of_holder("a_channels_value_stays_in_its_organization"),
)

# What a step's tasks wrote on the way to the next checkpoint. It may come before the checkpoint itself.
graph_writes = table(
    "graph_writes",
    organization_column(),
    Column("holder_id", Uuid(), nullable=False),
    _ordered("thread_id"),
    _ordered("namespace"),
    _ordered("checkpoint_id"),
    _ordered("task_id"),
    count_column("number", default=None),
    name_column("channel"),
    _ordered("task_path"),
    name_column("kind"),
    Column("body", LargeBinary(), nullable=False),
    PrimaryKeyConstraint(
        "organization_id",
        "holder_id",
        "thread_id",
        "namespace",
        "checkpoint_id",
        "task_id",
        "number",
        name="one_write_per_place_of_a_task",
    ),
    _of_holder("a_write_stays_in_its_organization"),
)
