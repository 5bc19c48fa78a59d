"""The one table of weights that ranking uses; docs/retrieval.md says how each was chosen."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

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


def weighed(most: float, frequency: Scores, length: Scores | float, weights: Weights) -> Scores:
    """What a term adds: more the more often it is there, at most `most`, and less where it is long.

    `length` is relative to the average.
    """
    norm = weights.saturation * (1 - weights.length + weights.length * length)
    return most * frequency / (frequency + norm)


@dataclass(frozen=True, slots=True)
class Fusion:
    """How words and meaning weigh where both are known; `words`, `meaning` and `around` sum to 1.

    `words` weighs how much of the query the words of a passage and of its window hold.
    `meaning` weighs how near the passage itself is to the query, `around` how near its window is,
    whose passages weigh as the kernel says; one that nothing proposed counts as far.
    `speaker` is added where a query names one speaker and the passage is theirs.
    `softness` is the power that a relevance is taken to before it is weighed: with less than 1,
    passages that are far from the query still differ, so that the weak half of them has an order.
    `faint` is the least relevance that a passage needs to be found by meaning alone. What has
    nothing to do with any passage stays below it.
    `most` is how many passages each of words and meaning propose.
    """

    words: float = 0.6
    meaning: float = 0.3
    around: float = 0.1
    speaker: float = 0.3
    softness: float = 0.5
    faint: float = 0.25
    most: int = 100


FUSION: Final = Fusion()
