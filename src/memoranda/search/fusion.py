"""Words and meaning become one score: from plain values alone, the same for the same values in any order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration
from memoranda.search.candidates import Place
from memoranda.search.lexical import DIGITS, Hit, Words
from memoranda.search.weights import FUSION, REACH, WEIGHTS, Fusion

_STEPS: Final = range(-REACH, REACH + 1)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query's vector, the model that made it, and the curve of that model's cosines."""

    model: str
    vector: NDArray[np.float32]
    curve: Calibration


class _Passage(NamedTuple):
    """What is known of a passage: each in [0, 1], and softened where it weighs so."""

    said: Words
    relevance: float
    meaning: float
    around: float


def fuse(
    words: Iterable[Words],
    cosines: Mapping[Place, float],
    curve: Calibration,
    *,
    limit: int,
    weights: Fusion = FUSION,
) -> list[Hit]:
    """Return the best of the passages that words or meaning proposed, best first.

    `words` has one entry for each of them, with nothing in it for one that holds no word of the
    query. `cosines` has the raw cosine of each that has a vector. A score is
    above 0 and at most 1: it reaches what the best passage is worth by words or by meaning,
    whichever is more, and what meaning alone found is worth no more than the curve says. Equal
    scores go by document id, then by ordinal.
    """
    passages = [_read(said, cosines, curve, weights) for said in words]
    passages = [each for each in passages if each.said.share > 0 or each.relevance >= weights.faint]
    if limit <= 0 or not passages:
        return []
    whole = (
        weights.words * max(each.said.share for each in passages)
        + weights.meaning * max(each.meaning for each in passages)
        + weights.around * max(each.around for each in passages)
        + weights.speaker * any(each.said.theirs for each in passages)
    )
    worth = max(max(each.said.share, each.relevance) for each in passages)
    hits = [_hit(each, worth / whole, weights) for each in passages]
    hits = [hit for hit in hits if hit.score > 0]
    return sorted(hits, key=lambda hit: (-hit.score, hit.document_id.int, hit.ordinal))[:limit]


def _read(
    said: Words, cosines: Mapping[Place, float], curve: Calibration, weights: Fusion
) -> _Passage:
    place = said.document_id, said.ordinal
    own = cosines.get(place)
    relevance = 0.0 if own is None else curve.score(own)
    around = curve.score(_around(place, cosines))
    return _Passage(said, relevance, relevance**weights.softness, around**weights.softness)


def _around(place: Place, cosines: Mapping[Place, float]) -> float:
    """The weighted mean of the cosines in a window; what nothing proposed is far from the query."""
    document_id, ordinal = place
    near = (
        share * cosines.get((document_id, ordinal + step), 0.0)
        for step, share in zip(_STEPS, WEIGHTS.kernel, strict=True)
    )
    return sum(near) / sum(WEIGHTS.kernel)


def _hit(passage: _Passage, scale: float, weights: Fusion) -> Hit:
    said = passage.said
    score = scale * (
        weights.words * said.share
        + weights.meaning * passage.meaning
        + weights.around * passage.around
        + weights.speaker * said.theirs
    )
    if said.share <= 0:
        score = min(score, passage.relevance)
    return Hit(said.document_id, said.ordinal, round(min(score, 1.0), DIGITS))
