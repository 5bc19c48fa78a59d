"""Histories that branch: entries that each are kept once, and records that point at their newest."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    String,
    Text,
    UniqueConstraint,
    Uuid,
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


def _of_user(name: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["organization_id", "user_id"],
        ["users.organization_id", "users.id"],
        name=name,
        ondelete="CASCADE",
    )


def _of_users(name: str) -> Index:
    there = text("user_id IS NOT NULL")
    return Index(
        name, "user_id", "organization_id", "id", sqlite_where=there, postgresql_where=there
    )


# An entry never changes. Those that follow each other without a branch are one strand, in which `place` counts
# from 1, so that a history is read strand by strand; all that grew from one first entry are one tree.
# `owner_id` is the user, or the nil id: names are each owner's own, and NULLs never collide.
history_entries = table(
    "history_entries",
    id_column(),
    organization_column(),
    Column("owner_id", Uuid(), nullable=False),
    Column("user_id", Uuid()),
    name_column(),
    Column("parent_id", Uuid()),
    Column("tree_id", Uuid(), nullable=False),
    Column("strand_id", Uuid(), nullable=False),
    count_column("place", default=None),
    # JSON as text, as it was given.
    Column("content", Text(), nullable=False),
    # What the history up to here holds.
    Column("path_bytes", BigInteger(), nullable=False),
    time_column("created_at"),
    UniqueConstraint("organization_id", "owner_id", "name", name="one_entry_per_name"),
    UniqueConstraint("organization_id", "strand_id", "place", name="one_entry_per_place"),
    UniqueConstraint("organization_id", "id", name="entries_in_organization"),
    _of_user("an_entrys_user_is_of_its_organization"),
    _of_users("entries_of_users"),
    Index("entries_of_trees", "tree_id", "organization_id"),
    CheckConstraint("place >= 1", name="places_count_from_one"),
)

histories = table(
    "histories",
    id_column(),
    organization_column(),
    Column("owner_id", Uuid(), nullable=False),
    Column("user_id", Uuid()),
    name_column(),
    # By which a host lists them: whose or where, in its own words.
    name_column("scope", nullable=True),
    Column("revision", String(), nullable=False),
    Column("record", Text(), nullable=False),
    time_column("updated_at"),
    UniqueConstraint("organization_id", "owner_id", "name", name="one_history_per_name"),
    UniqueConstraint("organization_id", "id", name="histories_in_organization"),
    _of_user("a_historys_user_is_of_its_organization"),
    _of_users("histories_of_users"),
    Index("histories_newest_first", "organization_id", "owner_id", "updated_at", "id"),
)

# What a history points at: its newest entry, and the last entries of branches that it left.
history_tips = table(
    "history_tips",
    organization_column(),
    Column("history_id", Uuid(), nullable=False),
    Column("entry_id", Uuid(), nullable=False),
    PrimaryKeyConstraint("history_id", "entry_id", name="a_tip_is_named_once"),
    ForeignKeyConstraint(
        ["organization_id", "history_id"],
        ["histories.organization_id", "histories.id"],
        name="a_tip_is_of_a_history",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "entry_id"],
        ["history_entries.organization_id", "history_entries.id"],
        name="a_tip_is_an_entry",
        ondelete="CASCADE",
    ),
    Index("tips_by_entry", "entry_id", "organization_id"),
)
