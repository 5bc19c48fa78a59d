"""What is said of a removal once it is done."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.storage import Transaction


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


class Elsewhere(NamedTuple):
    """What other rooms keep about memories, by id: each is called within the transaction that removes them."""

    of_memories: Callable[[Transaction, Sequence[UUID]], None]
    of_user: Callable[[Transaction, UUID], None]


def _nothing(_: Transaction, __: object) -> None:
    """Nobody else keeps anything."""


NOTHING_ELSEWHERE: Final = Elsewhere(_nothing, _nothing)
