"""Makes one ranking of what meaning, words and letters found. Pure."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.memories.models import Match
from memoranda.search.texts.rank import TextHit

DIGITS: Final = 6
"""Scores are rounded to this many decimals before they are compared."""


class Ranked(NamedTuple):
    """A memory that was found, and why: of thousands, of which a few are shown."""

    memory_id: UUID
    score: float
    meaning: float | None
    words: tuple[str, ...]
    literal: bool

    @property
    def match(self) -> Match:
        """The reason as it is shown."""
        return Match(score=self.score, meaning=self.meaning, words=self.words, literal=self.literal)


def fuse(
    meaning: Mapping[UUID, float],
    words: Mapping[UUID, TextHit],
    literal: Collection[UUID],
    *,
    at_least: float,
) -> list[Ranked]:
    """Rank what scores `at_least` by meaning or by words, and all that holds the query literally.

    A memory scores by the better of the two, for both are on one scale; a literal hit scores
    `at_least` at least. What the caller keeps of the front is what a cap may keep: literal hits
    come before all others, each part is best first, and equal ones have the newest chain first.
    """
    found: list[Ranked] = []
    for memory_id in {*meaning, *words, *literal}:
        said = words.get(memory_id)
        near = round(meaning[memory_id], DIGITS) if memory_id in meaning else None
        score = max(near or 0.0, said.score if said else 0.0)
        exact = memory_id in literal
        if exact or score >= at_least:
            score = max(score, at_least) if exact else score
            found.append(Ranked(memory_id, score, near, said.words if said else (), exact))
    return sorted(found, key=lambda each: (not each.literal, *_best_first(each)))


def best_first(ranked: Collection[Ranked]) -> list[Ranked]:
    """In the order that people read: by score, then literal hits first, then the newest chain."""
    return sorted(ranked, key=_best_first)


def _best_first(ranked: Ranked) -> tuple[float, bool, int]:
    return -ranked.score, not ranked.literal, -ranked.memory_id.int
