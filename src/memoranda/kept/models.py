"""The values of what frameworks keep: how much of each kind there is, and how much was written down."""

from pydantic import BaseModel, ConfigDict


class KeptCounts(BaseModel):
    """How much frameworks keep that the caller may see, by kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpoints: int
    items: int
    histories: int
    history_entries: int
    sessions: int
    session_events: int
    session_states: int
    branches: int


class KeptEnd(BaseModel):
    """How many lines of each kind an export wrote: without it, what is written is not all of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: int
    threads: int
    parts: int
    histories: int
    history_entries: int
    sessions: int
    session_events: int
    session_states: int
    branches: int
    branch_messages: int
