"""Which organizations have work waiting, so that a worker need not look into all of them."""

from sqlalchemy import Column, PrimaryKeyConstraint, String, Uuid

from memoranda.storage.scope import Tenant
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
