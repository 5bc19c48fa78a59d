"""The ranking of short texts, from plain values alone: which items are hits, and how good each is.

A text is as relevant as the better of two shares: how much of the query it holds, and how much of
it the query holds. The second lets a long task bring back a short text.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memoranda.search.calibration import Calibration, calibration_of
from memoranda.search.terms import Query
from memoranda.search.texts.scale import Scale

WORDS: Final = "words"
"""The name of the curve that makes a score of a relevance."""

DIGITS: Final = 6
"""Scores are rounded to this many decimals before they are compared."""

LEAST: Final = 0.05
"""What scores less shares next to nothing with the query, and is no hit unless it is asked for."""

Groups = Mapping[tuple[str, ...], Sequence[UUID]]
"""Items by the terms of the query that they hold, which are in order: but for their length, all of
a group are alike."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """An item whose text holds words of the query: `words` as typed, `score` in [0, 1]."""

    item_id: UUID
    score: float
    words: tuple[str, ...]


def grouped(terms_of: Mapping[UUID, Collection[str]]) -> Groups:
    """Put items together that hold the same terms."""
    groups: defaultdict[tuple[str, ...], list[UUID]] = defaultdict(list)
    for item_id, terms in terms_of.items():
        groups[tuple(sorted(terms))].append(item_id)
    return groups


def promising(
    groups: Groups, scale: Scale, *, at_least: float, perhaps: Sequence[str] = ()
) -> list[tuple[str, UUID]]:
    """Return the items that may score so much, each after a term that it holds.

    They may hold `perhaps` besides, and be as short as can be. Those that hold most of the query
    come first, and of equal ones the newest.
    """
    bar = _bar(at_least)
    found: list[tuple[float, UUID, str]] = []
    for terms, items in groups.items():
        if scale.best((*terms, *perhaps)) >= bar:
            share = scale.share(terms)
            found += [(share, item_id, terms[0]) for item_id in items]
    return [(term, item_id) for _, item_id, term in sorted(found, reverse=True)]


def unsure(groups: Groups, scale: Scale, *, at_least: float) -> list[tuple[str, UUID]]:
    """Return the promising items whose score depends on their length, as `promising` does."""
    open_ones = {
        terms: items
        for terms, items in groups.items()
        if scale.share(terms) < scale.cover(terms, 0)
    }
    return promising(open_ones, scale, at_least=at_least)


def rank(
    query: Query,
    groups: Groups,
    lengths: Mapping[UUID, int],
    scale: Scale,
    *,
    at_least: float = LEAST,
) -> list[TextHit]:
    """Return the items that score at least so much, best first; equal scores go by id.

    Nothing but the arguments moves a score, and their order does not matter. An item without a
    length is judged by how much of the query it holds.
    """
    curve = calibration_of(WORDS)
    hits: list[TextHit] = []
    for terms, items in groups.items():
        words: tuple[str, ...] | None = None
        least = _score(curve, scale.share(terms))
        for item_id in items:
            length = lengths.get(item_id)
            score = least
            if length is not None:
                score = max(least, _score(curve, scale.cover(terms, length)))
            if score >= at_least:
                words = words or words_held(query, frozenset(terms))
                hits.append(TextHit(item_id, score, words))
    return sorted(hits, key=lambda hit: (-hit.score, hit.item_id))


def _score(curve: Calibration, relevance: float) -> float:
    return round(curve.score(relevance), DIGITS)


def _bar(at_least: float) -> float:
    """The relevance from which on a rounded score can be so much."""
    if at_least <= 0:
        return 0.0
    if at_least >= 1:
        return 1.0
    return calibration_of(WORDS).cosine(at_least) - 10.0**-DIGITS


def words_held(query: Query, terms: Collection[str]) -> tuple[str, ...]:
    """What was found, in the query's order: words as typed, or those pairs of a stretch that are there."""
    found: dict[str, None] = {}
    for asked, typed in query.words.items():
        held = [term for term in asked if term in terms]
        found |= dict.fromkeys([typed] if len(held) == len(asked) else held)
    return tuple(found)
