"""The values of histories: entries, and records that point at the newest of them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HistoryEntry(_Value):
    """One entry, which never changes, and the name of the one before it (None for a first one)."""

    name: str
    parent: str | None
    content: str


class History(_Value):
    """A record: what it holds as the framework wrote it, and the entries that it points at.

    `revision` is another one after each write; `scope` is by what a host lists histories. `tips` are the newest
    entry and the last ones of branches that were left.
    """

    name: str
    scope: str | None
    revision: str
    record: str
    tips: tuple[str, ...]
    updated_at: datetime
