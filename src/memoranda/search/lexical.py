"""The one ranking: BM25 over passages and over windows of neighbors, from plain values alone."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.candidates import BLOCK, Candidates, Place
from memoranda.search.document import TermCount
from memoranda.search.field import Field, likeliest, with_places
from memoranda.search.postings import Numbers
from memoranda.search.terms import Query
from memoranda.search.weights import REACH, WEIGHTS, Scores, Weights, weighed

DIGITS = 6
"""Scores are rounded to this many decimals before they are compared."""

_FEW = 50
"""A word that one cell in so many holds, or fewer, is widened cell by cell, and not over the whole row."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """How much there is to search: all of it the searcher's own."""

    passages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers. `score` is above 0 and at most 1."""

    document_id: UUID
    ordinal: int
    score: float


@dataclass(frozen=True, slots=True)
class Words:
    """What words say of a passage.

    `share` is how much of the query the passage and its window hold, in [0, 1]; `theirs` says that
    the query names one speaker and the passage is theirs.
    """

    document_id: UUID
    ordinal: int
    share: float
    theirs: bool = False


def rank(
    query: Query,
    candidates: Candidates,
    counts: Mapping[str, TermCount],
    corpus: Corpus,
    *,
    limit: int,
    blocks: int | None = None,
    weights: Weights = WEIGHTS,
) -> list[Hit]:
    """Return the best passages, best first; equal scores go by document id, then by ordinal.

    A passage scores by its own words and by those of its window, which never leaves its
    document. The best possible answer, all words of the query close together, scores about 1.
    Nothing but the arguments moves a score. With `blocks`, only so many blocks of passages are
    scored, those that promise most.
    """
    if limit <= 0:
        return []
    judged = judge(query, candidates, counts, corpus, blocks=blocks, weights=weights)
    return [] if judged is None else judged.best(limit)


def judge(
    query: Query,
    candidates: Candidates,
    counts: Mapping[str, TermCount],
    corpus: Corpus,
    *,
    blocks: int | None = None,
    also: Collection[Place] = (),
    weights: Weights = WEIGHTS,
) -> "Judged | None":
    """Score the passages of the candidates by words; None where no window holds any of them.

    With `blocks`, so many blocks of passages, those that promise most, and `also` those of these passages.
    """
    if corpus.tokens <= 0:
        return None
    if candidates.said.keys().isdisjoint(query.terms):
        return None
    speaker = candidates.speaker(query.names)
    wanted = None
    if blocks is not None and blocks * BLOCK < candidates.cells:
        worth = {term: _worth(query, term, counts, corpus) for term in query.terms}
        average = corpus.tokens / corpus.passages
        wanted = likeliest(candidates, worth, average, blocks, weights=weights, speaker=speaker)
        wanted = with_places(wanted, candidates, also)
    field = Field(candidates, wanted)
    own, windows = _bm25(query, field, counts, corpus, weights)
    best_own, best_window = float(own.max()), float(windows.max())
    if best_window <= 0:
        return None
    share = weights.passage * own / (best_own or 1.0) + weights.window * windows / best_window
    strength = _strength(best_window, query, counts, corpus)
    score, whole = share.copy(), 1.0
    theirs = np.zeros(len(score), np.bool_)
    if speaker is not None:
        theirs[field.kept(speaker)] = True
        score[theirs] += weights.speaker
        whole += weights.speaker
    score *= strength / whole
    nothing = (windows <= 0) | ~field.real
    score[nothing] = 0.0
    return Judged(field, np.round(score, DIGITS), share * strength, theirs & ~nothing)


class Judged:
    """What words say of the passages that were scored."""

    def __init__(
        self, field: Field, score: Scores, share: Scores, theirs: NDArray[np.bool_]
    ) -> None:
        self._field = field
        self._score = score
        self._share = share
        self._theirs = theirs

    def best(self, limit: int) -> list[Hit]:
        """The best passages, best first; equal scores go by document id, then by ordinal."""
        score = self._score
        cells = np.flatnonzero(score > 0)
        if len(cells) > limit:
            bar = np.sort(score[cells])[len(cells) - limit]
            cells = cells[score[cells] >= bar]
        # A stable sort keeps equal scores in the order of cells: document, then ordinal.
        order = cells[np.argsort(-score[cells], kind="stable")][:limit]
        scores = score[order].tolist()
        return [
            Hit(*place, each) for place, each in zip(self._field.places(order), scores, strict=True)
        ]

    def words(self, places: Iterable[Place]) -> list[Words]:
        """What words say of these passages, one for one; nothing of one that was not scored."""
        asked = list(places)
        cells = self._field.cells(asked)
        known = (cells >= 0) & (self._score[cells] > 0)
        shares = np.where(known, self._share[cells], 0.0).tolist()
        theirs = (known & self._theirs[cells]).tolist()
        said = zip(asked, shares, theirs, strict=True)
        return [Words(*place, share, named) for place, share, named in said]


def _bm25(
    query: Query,
    field: Field,
    counts: Mapping[str, TermCount],
    corpus: Corpus,
    weights: Weights,
) -> tuple[Scores, Scores]:
    """The two sums over the query's terms: of each passage, and of each window."""
    average = corpus.tokens / corpus.passages
    around, wide_average = _spread(field.lengths, weights), average * sum(weights.kernel)
    own, windows = np.zeros(len(around)), np.zeros(len(around))
    for term in sorted(query.terms):  # one order of adding, so that sums agree to the last bit
        found = field.said(term)
        if found is None:
            continue
        cells, times = found
        said = query.terms[term] * (weights.saturation + 1)
        frequency = times.astype(np.float64)
        idf = _idf(counts[term].passages, corpus.passages)
        own[cells] += weighed(said * idf, frequency, field.lengths[cells] / average, weights)
        cells, frequency = _widen(cells, frequency, len(own), weights)
        idf = _idf(counts[term].windows, corpus.passages)
        windows[cells] += weighed(said * idf, frequency, around[cells] / wide_average, weights)
    return own, windows


def _idf(holding: int, passages: int) -> float:
    return math.log(1 + (max(passages - holding, 0) + 0.5) / (holding + 0.5))


def _spread(values: Numbers | Scores, weights: Weights) -> Scores:
    """The weighted sum over each cell's window; the gaps hold zeros, so documents stay apart."""
    wide = np.zeros(len(values))
    for step, weight in zip(range(-REACH, REACH + 1), weights.kernel, strict=True):
        low, high = max(0, -step), len(values) - max(0, step)
        wide[low:high] += weight * values[low + step : high + step].astype(np.float64)
    return wide


def _widen(
    cells: Numbers, frequency: Scores, size: int, weights: Weights
) -> tuple[Numbers, Scores]:
    """The cells whose windows hold a term, and its weighted count there."""
    steps = range(-REACH, REACH + 1)
    if len(cells) * _FEW < size:
        reached = np.concatenate([cells - step for step in steps])
        touched, place = np.unique(reached, return_inverse=True)
        parts = np.concatenate([weight * frequency for weight in weights.kernel])
        # It adds in the order of the steps, as below: the sums agree to the last bit.
        sums: Scores = np.bincount(place, parts).astype(np.float64)
        return touched, sums
    wide = np.zeros(size)
    for step, weight in zip(steps, weights.kernel, strict=True):
        wide[cells - step] += weight * frequency  # no two cells of one step are the same
    touched = np.flatnonzero(wide)
    return touched, wide[touched]


def _strength(
    best_window: float, query: Query, counts: Mapping[str, TermCount], corpus: Corpus
) -> float:
    """How much of what the query asks for its best window holds: 1 is every word about once."""
    asked = sum(_worth(query, term, counts, corpus) for term in sorted(query.terms))
    return min(1.0, best_window / asked) if asked > 0 else 1.0


def _worth(query: Query, term: str, counts: Mapping[str, TermCount], corpus: Corpus) -> float:
    """What a window that holds a term once is worth: the more, the fewer hold it."""
    holding = counts[term].windows if term in counts else 0
    return query.terms[term] * _idf(holding, corpus.passages)
