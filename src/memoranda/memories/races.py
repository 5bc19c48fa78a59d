"""Writes that meet another writer of the same memory, and decide again on what that one wrote."""

from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.storage import ConstraintViolated, Storage, StorageBusy, Transaction

P = ParamSpec("P")
T = TypeVar("T")

RACES: Final = frozenset(
    {
        "one_memory_per_key",
        "one_live_memory_per_text",
        "one_child_per_revision",
        "one_revision_per_version",
        "one_waiting_proposal_per_text",
        "one_waiting_proposal_per_key_and_text",
        "one_waiting_merge_per_survivor",
        "memory_counts_pk",
    }
)
"""What the database says to the loser of a race, who tries again on what the winner wrote."""
TRIES: Final = 8


async def write_again(
    storage: Storage,
    organization_id: UUID,
    change: Callable[Concatenate[Transaction, P], T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Write `change(transaction, …)`; where another writer was first, let it decide again.

    Raises `StorageBusy` once it has lost so many times that somebody has to be told.
    """
    for _ in range(TRIES):
        try:
            return await storage.write(organization_id, change, *args, **kwargs)
        except ConstraintViolated as lost:
            if lost.name not in RACES:
                raise
    raise StorageBusy("Others kept changing this memory first. Nothing was written: try again.")
