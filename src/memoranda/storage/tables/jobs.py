"""Which organizations have work waiting, and what is due at set times."""

from sqlalchemy import Column, PrimaryKeyConstraint, String, Uuid

from memoranda.storage.scope import Shared, Tenant
from memoranda.storage.tables.base import table, time_column

# A hint and not the job: the rows that wait are in the organization's own tables, read in its own scope.
# Only the platform, whose worker it is, sees all of them; an organization sees and raises its own.
# `token` is new with every signal, so that a worker deletes only the hint that it has seen through.
work_signals = table(
    "work_signals",
    Column("kind", String(), nullable=False),
    Column("organization", Uuid(), nullable=False),
    Column("token", Uuid(), nullable=False),
    time_column("raised_at"),
    PrimaryKeyConstraint("kind", "organization", name="one_signal_per_kind"),
    tenancy=Tenant("organization", platform="nil", listed=True),
)

# What happens at set times, once among all workers: `due_at` is the next time, and the lease is whose turn it is.
schedules = table(
    "schedules",
    Column("name", String(), primary_key=True),
    time_column("due_at"),
    Column("lease_owner", Uuid()),
    time_column("lease_until", nullable=True),
    tenancy=Shared(),
)
