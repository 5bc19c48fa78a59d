"""Context policies that an organization published, version by version."""

from sqlalchemy import Column, UniqueConstraint, Uuid

from memoranda.storage.tables.base import (
    count_column,
    id_column,
    name_column,
    organization_column,
    table,
    time_column,
)
from memoranda.storage.types import Json

context_policies = table(
    "context_policies",
    id_column(),
    organization_column(),
    name_column(),
    count_column("version", default=None),
    Column("policy", Json(), nullable=False),
    Column("published_by", Uuid()),
    time_column("created_at"),
    UniqueConstraint("organization_id", "name", "version", name="one_policy_per_version"),
)
