"""What is said of a purge of rows once it is done."""

from pydantic import BaseModel, ConfigDict


class RowsPurged(BaseModel):
    """How many rows were deleted for good.

    `scrubbed` is False where their last traces still wait to leave the database's files: a worker, or the
    next purge, finishes that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int
    scrubbed: bool
