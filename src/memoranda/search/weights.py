"""The one table of weights that ranking uses; docs/retrieval.md says how each was chosen."""

from dataclasses import dataclass
from typing import Final

REACH: Final = 2
"""How many neighbors a window takes on each side. Term counts in the index depend on it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How the parts of a score weigh; `passage` and `window` sum to 1.

    `passage` and `window` weigh the two BM25 scores, each divided by the best one of the query.
    `speaker` is added where a query names one speaker and the passage is theirs.
    `kernel` weighs the passages of a window, from two before to two after: what came before
    explains a passage more than what came after.
    `saturation` and `length` are BM25's k1 and b.
    """

    passage: float = 0.3
    window: float = 0.7
    speaker: float = 0.3
    kernel: tuple[float, float, float, float, float] = (1.0, 1.0, 1.0, 0.5, 0.5)
    saturation: float = 1.2
    length: float = 0.5


WEIGHTS: Final = Weights()
