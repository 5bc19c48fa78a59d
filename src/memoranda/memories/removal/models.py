"""What is said of a removal once it is done."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Erased(BaseModel):
    """What an erasure took away: how many memories and proposals.

    `quoted_in` lists the conversations that quote what is erased; they stay as they are, for a
    person to decide. `scrubbed` is False where the last traces still wait to leave the
    database's files: a worker, or the next erasure, finishes that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memories: int
    proposals: int
    quoted_in: list[UUID]
    scrubbed: bool
