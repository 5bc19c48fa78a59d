"""The runs that answer in chats: what each began from, what it says meanwhile, and the branches that were left."""

from sqlalchemy import (
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

_LIVE = text("ended_at IS NULL")
_ENDED = text("ended_at IS NOT NULL")

# A run of `runs` that answers a message. At most one of a chat is live.
chat_runs = table(
    "chat_runs",
    id_column(),
    organization_column(),
    Column("chat_id", Uuid(), nullable=False),
    # The chat's own, so that a list of somebody's runs is read from one index.
    Column("user_id", Uuid()),
    Column("agent_id", Uuid()),
    Column("message_id", Uuid(), nullable=False),
    Column("answer_id", Uuid()),
    # The chat's revision that began it: the order of its runs.
    count_column("revision", default=None),
    name_column("status"),
    Column("reason", Text()),
    # The number of its last event, and up to which one they are folded into its state.
    count_column("last_event"),
    count_column("event_bytes"),
    count_column("folded_upto"),
    time_column("created_at"),
    time_column("picked_up_at", nullable=True),
    # When its host was heard of last; a queued one waits since then.
    time_column("seen_at"),
    time_column("ended_at", nullable=True),
    UniqueConstraint("organization_id", "id", name="chat_runs_in_organization"),
    ForeignKeyConstraint(
        ["organization_id", "id"],
        ["runs.organization_id", "runs.id"],
        name="a_chats_run_is_a_run",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["organization_id", "chat_id"],
        ["chats.organization_id", "chats.id"],
        name="a_chats_run_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["chat_id", "message_id"],
        ["chat_messages.chat_id", "chat_messages.id"],
        name="a_chats_run_answers_a_message_of_it",
        ondelete="CASCADE",
    ),
    Index(
        "one_live_run_per_chat",
        "chat_id",
        unique=True,
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    ),
    Index("chat_runs_in_order", "chat_id", "revision"),
    Index("chat_runs_by_message", "message_id"),
    Index(
        "live_chat_runs",
        "organization_id",
        "seen_at",
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    ),
    *(
        Index(name, *columns, sqlite_where=_ENDED, postgresql_where=_ENDED)
        for name, columns in (
            ("ended_chat_runs", ("organization_id", "status", "id")),
            ("ended_chat_runs_of_users", ("user_id", "status", "organization_id", "id")),
            ("ended_chat_runs_of_agents", ("agent_id", "status", "organization_id", "id")),
        )
    ),
    CheckConstraint(
        "(status IN ('completed', 'stopped', 'failed')) = (ended_at IS NOT NULL)",
        name="a_chats_run_ends_once",
    ),
)

# What a run's events up to one make together, as JSON. It grows with the run, and its run's row is written with
# each event: SQLite would write both anew each time.
chat_run_states = table(
    "chat_run_states",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    Column("state", Text(), nullable=False),
    PrimaryKeyConstraint("organization_id", "run_id", name="one_state_per_run"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["chat_runs.organization_id", "chat_runs.id"],
        name="a_runs_state_stays_in_its_organization",
        ondelete="CASCADE",
    ),
)

# How an agent's stored conversation was when the run began from it: as it is stored (`length`, `digest`), and
# as the run was given it (`given_…`), of all that is said in it. The nil id is no agent.
chat_run_cursors = table(
    "chat_run_cursors",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    Column("agent_id", Uuid(), nullable=False),
    count_column("generation", default=None),
    count_column("fence", default=None),
    count_column("compactions", default=None),
    count_column("length", default=None),
    Column("digest", String(), nullable=False),
    count_column("given_length", default=None),
    Column("given_digest", String(), nullable=False),
    # When the run saved what it came to, which no later run has to be told then.
    time_column("saved_at", nullable=True),
    time_column("created_at"),
    PrimaryKeyConstraint("run_id", "agent_id", name="one_cursor_per_run_and_agent"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["chat_runs.organization_id", "chat_runs.id"],
        name="a_cursor_stays_in_its_organization",
        ondelete="CASCADE",
    ),
)

# What an agent's conversation was when a branch was left: all of it, so that it comes back as it was, unless it
# was cleared (`fence`) or compacted since.
chat_branch_snapshots = table(
    "chat_branch_snapshots",
    id_column(),
    organization_column(),
    Column("chat_id", Uuid(), nullable=False),
    Column("leaf_id", Uuid(), nullable=False),
    Column("agent_id", Uuid(), nullable=False),
    count_column("fence", default=None),
    count_column("compactions", default=None),
    count_column("bytes", default=None),
    Column("messages", Text(), nullable=False),
    # The chat's revision that left it: the oldest go first.
    count_column("revision", default=None),
    time_column("kept_at"),
    UniqueConstraint("leaf_id", "agent_id", name="one_snapshot_per_leaf_and_agent"),
    ForeignKeyConstraint(
        ["organization_id", "chat_id"],
        ["chats.organization_id", "chats.id"],
        name="a_snapshot_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["chat_id", "leaf_id"],
        ["chat_messages.chat_id", "chat_messages.id"],
        name="a_snapshot_is_of_a_leaf",
        ondelete="CASCADE",
    ),
    Index("snapshots_of_chats", "chat_id", "revision"),
)

# What a run says while it runs, numbered from 1 without a gap.
chat_run_events = table(
    "chat_run_events",
    organization_column(),
    Column("run_id", Uuid(), nullable=False),
    count_column("sequence", default=None),
    name_column("type"),
    Column("data", Text(), nullable=False),
    time_column("created_at"),
    PrimaryKeyConstraint("run_id", "sequence", name="one_event_per_sequence"),
    ForeignKeyConstraint(
        ["organization_id", "run_id"],
        ["chat_runs.organization_id", "chat_runs.id"],
        name="a_runs_event_stays_in_its_organization",
        ondelete="CASCADE",
    ),
    Index("chat_run_events_by_age", "organization_id", "created_at"),
)
