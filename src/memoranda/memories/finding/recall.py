"""Which memories a run is given: pinned ones, then the nearest, as many as have room. Pure."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from memoranda.memories.finding.block import write_block
from memoranda.memories.models import Match, Memory
from memoranda.words.tokens import Estimator, estimate_tokens

LIMIT: Final = 8
"""How many memories a run is given at most, beside the pinned ones."""
MAX_TOKENS: Final = 1_200
"""What the whole block may cost, its fences included."""
LEAST_TOKENS: Final = 64
"""What a block without any memory has room in."""


class Offered(NamedTuple):
    """A memory that may be given; a pinned one needs no match."""

    memory: Memory
    match: Match | None = None


class Kept(NamedTuple):
    """What is given: the block, the memories in it, what it costs, and how many had no room."""

    block: str
    offers: Sequence[Offered]
    tokens: int
    dropped: int


Keeping: TypeAlias = Callable[[Sequence[Offered], Sequence[Offered]], Kept]
"""Chooses of the pinned memories and of those found, each in its order, what is given."""


def keep(
    pinned: Sequence[Offered],
    found: Sequence[Offered],
    *,
    max_tokens: int = MAX_TOKENS,
    estimator: Estimator = estimate_tokens,
) -> Kept:
    """Write what fits: the pinned memories, the newest first, then those found, the best first.

    Both come in that order. A memory is given whole or not at all. What has no room goes from the
    end: the lowest score first, and of the pinned ones, when they alone are too much, the oldest. A
    memory that has no room even by itself goes before all and takes no other with it.
    """

    def cost(memories: int) -> int:
        return estimator(_written(offers[:memories]))

    every = [*pinned, *found]
    offers = [each for each in every if estimator(_written([each])) <= max_tokens]
    count = bisect_right(range(1, len(offers) + 1), max_tokens, key=cost)
    kept, dropped = offers[:count], len(every) - count
    block = write_block([each.memory for each in kept], left_out=dropped)
    return Kept(block, kept, estimator(block), dropped)


def _written(offers: Sequence[Offered]) -> str:
    return write_block([each.memory for each in offers])
