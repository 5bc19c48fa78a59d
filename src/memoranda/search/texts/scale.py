"""What words weigh: the two shares that say how much a query and a short text have in common."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from memoranda.search.terms import STOP_TERMS

PRIOR: Final = 100
"""Texts that are thought to be there besides: of a few alone, no word can be said to be rare."""

CHANCE: Final = 0.5
"""What a text's word loses for being asked by chance, in logarithms of the query's length."""

SPARE: Final = 0.1
"""What each word of a text weighs that was not asked for, beside one that occurs nowhere."""

DOUBT: Final = 0.5
"""What weighs against every text, likewise: a single common word is no evidence."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What each term of one query weighs, when texts are held to the query and the other way round.

    Terms come in order, so that sums agree to the last bit.
    """

    asked: Mapping[str, float]
    covers: Mapping[str, float]
    whole: float
    unknown: float
    idle: frozenset[str]

    def share(self, terms: Collection[str]) -> float:
        """Return how much of the query a text holds that holds these terms of it, in [0, 1]."""
        return min(1.0, sum(map(self.asked.__getitem__, terms)) / self.whole)

    def cover(self, terms: Collection[str], length: int) -> float:
        """Return how much of a text of so many telling terms the query holds, in [0, 1]."""
        held = sum(map(self.covers.__getitem__, terms))
        spare = max(0, length - len(terms) + len(self.idle.intersection(terms)))
        return held / (held + (SPARE * spare + DOUBT) * self.unknown)

    def best(self, terms: Collection[str]) -> float:
        """Return how relevant a text can be at the most that holds these terms."""
        return max(self.share(terms), self.cover(terms, 0))


def scale(terms: Collection[str], counts: Mapping[str, int], total: int) -> Scale:
    """Weigh the terms of a query, of which there is at least one, by how many of `total` texts hold each.

    A term weighs more the fewer texts hold it, and most where none does. In a long query every word
    is likelier to stand by chance, so there it counts for less that a text's words were asked.
    """
    every = max(0, total) + PRIOR
    asked = {term: _weight(counts.get(term, 0), every) for term in sorted(terms)}
    chance = CHANCE * math.log(len(asked))
    return Scale(
        asked=asked,
        covers={term: max(0.0, weight - chance) for term, weight in asked.items()},
        whole=sum(asked.values()),
        unknown=_weight(0, every),
        idle=STOP_TERMS & asked.keys(),
    )


def _weight(holding: int, every: int) -> float:
    return math.log(1 + (max(0, every - holding) + 0.5) / (holding + 0.5))
