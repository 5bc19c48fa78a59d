"""The one ranking: BM25 over passages and over windows of neighbors, from plain values alone."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search.document import TermCount
from memoranda.search.postings import Numbers, unpack_each, unpack_lengths
from memoranda.search.terms import Query
from memoranda.search.weights import REACH, WEIGHTS, Weights

Scores = NDArray[np.float64]

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
class Candidate:
    """A document that may answer: its packed lengths, and its packed postings by term."""

    document_id: UUID
    lengths: bytes
    postings: Mapping[str, bytes]


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
    candidates: Sequence[Candidate],
    counts: Mapping[str, TermCount],
    corpus: Corpus,
    *,
    limit: int,
    weights: Weights = WEIGHTS,
) -> list[Hit]:
    """Return the best passages, best first; equal scores go by document id, then by ordinal.

    A passage scores by its own words and by those of its window, which never leaves its
    document. The best possible answer, all words of the query close together, scores about 1.
    Nothing but the arguments moves a score, and the order of candidates does not matter.
    """
    judged = judge(query, candidates, counts, corpus, weights) if limit > 0 else None
    return [] if judged is None else judged.best(limit)


def judge(
    query: Query,
    candidates: Sequence[Candidate],
    counts: Mapping[str, TermCount],
    corpus: Corpus,
    weights: Weights = WEIGHTS,
) -> "Judged | None":
    """Score every passage of the candidates by words; None where no window holds any of them."""
    if not candidates or corpus.tokens <= 0:
        return None
    field = _Field(candidates)
    own, windows = _bm25(query, field, counts, corpus, weights)
    best_own, best_window = float(own.max()), float(windows.max())
    if best_window <= 0:
        return None
    share = weights.passage * own / (best_own or 1.0) + weights.window * windows / best_window
    strength = _strength(best_window, query, counts, corpus)
    score, whole = share.copy(), 1.0
    theirs = np.zeros(len(score), np.bool_)
    speaker = field.speaker(query.names)
    if speaker is not None:
        theirs[speaker] = True
        score[speaker] += weights.speaker
        whole += weights.speaker
    score *= strength / whole
    nothing = (windows <= 0) | ~field.real
    score[nothing] = 0.0
    return Judged(field, np.round(score, DIGITS), share * strength, theirs & ~nothing)


class Judged:
    """What words say of every passage of the candidates."""

    def __init__(
        self, field: "_Field", score: Scores, share: Scores, theirs: NDArray[np.bool_]
    ) -> None:
        self._field = field
        self._score = score
        self._share = share
        self._theirs = theirs

    def best(self, limit: int) -> list[Hit]:
        """The best passages, best first; equal scores go by document id, then by ordinal."""
        return self._field.best(self._score, limit)

    def words(self, places: Iterable[tuple[UUID, int]]) -> list["Words"]:
        """What words say of these passages, one for one; nothing of one that is no candidate's."""
        found = []
        for document_id, ordinal in places:
            cell = self._field.cell(document_id, ordinal)
            known = cell is not None and self._score[cell] > 0
            share, theirs = (self._share[cell], self._theirs[cell]) if known else (0.0, False)
            found.append(Words(document_id, ordinal, float(share), bool(theirs)))
        return found


class _Field:
    """All candidate passages in one row of cells, documents kept apart by empty cells."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.documents = sorted(candidates, key=lambda candidate: candidate.document_id)
        lengths = [unpack_lengths(document.lengths) for document in self.documents]
        gap = np.zeros(REACH, np.int64)
        self.lengths: Numbers = np.concatenate(
            [gap, *(part for one in lengths for part in (one, gap))]
        )
        sizes = np.array([len(one) + REACH for one in lengths])
        self.starts: Numbers = REACH + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.real = np.zeros(len(self.lengths), np.bool_)
        self.spans: dict[UUID, tuple[int, int]] = {}
        for start, one, document in zip(self.starts.tolist(), lengths, self.documents, strict=True):
            self.real[start : start + len(one)] = True
            self.spans[document.document_id] = start, len(one)
        self._held: dict[str, tuple[list[bytes], list[int]]] = {}
        for start, document in zip(self.starts.tolist(), self.documents, strict=True):
            for term, packed in document.postings.items():
                rows, starts = self._held.setdefault(term, ([], []))
                rows.append(packed)
                starts.append(start)

    def occurrences(self, term: str) -> tuple[Numbers, Numbers] | None:
        """The cells that hold a term, and how often; None where no candidate does."""
        held = self._held.get(term)
        return None if held is None else unpack_each(held[0], held[1])

    def speaker(self, names: Sequence[str]) -> Numbers | None:
        """The cells of the one speaker that is named; None where it is none or more than one.

        "John Smith" is two names of one speaker: the cells of one name lie within the other's.
        """
        named = [found[0] for name in names if (found := self.occurrences(name)) is not None]
        if not named:
            return None
        fewest = min(named, key=len)
        within_all = all(np.isin(fewest, cells, assume_unique=True).all() for cells in named)
        return fewest if within_all else None

    def cell(self, document_id: UUID, ordinal: int) -> int | None:
        """Where a passage is; None where it is no candidate's."""
        start, size = self.spans.get(document_id, (0, 0))
        return start + ordinal if 0 <= ordinal < size else None

    def best(self, score: Scores, limit: int) -> list[Hit]:
        cells = np.flatnonzero(score > 0)
        if len(cells) > limit:
            bar = np.partition(score[cells], len(cells) - limit)[len(cells) - limit]
            cells = cells[score[cells] >= bar]
        # A stable sort keeps equal scores in the order of cells: document, then ordinal.
        order = cells[np.argsort(-score[cells], kind="stable")][:limit]
        owners = np.searchsorted(self.starts, order, side="right") - 1
        return [
            Hit(
                self.documents[owner].document_id,
                cell - int(self.starts[owner]),
                float(score[cell]),
            )
            for cell, owner in zip(order.tolist(), owners.tolist(), strict=True)
        ]


def _bm25(
    query: Query,
    field: _Field,
    counts: Mapping[str, TermCount],
    corpus: Corpus,
    weights: Weights,
) -> tuple[Scores, Scores]:
    """The two sums over the query's terms: of each passage, and of each window."""
    average = corpus.tokens / corpus.passages
    around, wide_average = _spread(field.lengths, weights), average * sum(weights.kernel)
    own, windows = np.zeros(len(around)), np.zeros(len(around))
    for term in sorted(query.terms):  # one order of adding, so that sums agree to the last bit
        found = field.occurrences(term)
        if found is None:
            continue
        cells, times = found
        said = query.terms[term] * (weights.saturation + 1)
        frequency = times.astype(np.float64)
        idf = _idf(counts[term].passages, corpus.passages)
        own[cells] += _weighed(said * idf, frequency, field.lengths[cells] / average, weights)
        cells, frequency = _widen(cells, frequency, len(own), weights)
        idf = _idf(counts[term].windows, corpus.passages)
        windows[cells] += _weighed(said * idf, frequency, around[cells] / wide_average, weights)
    return own, windows


def _weighed(most: float, frequency: Scores, length: Scores, weights: Weights) -> Scores:
    """What a term adds: more the more often it is there, at most `most`, and less where it is long.

    `length` is relative to the average.
    """
    norm = weights.saturation * (1 - weights.length + weights.length * length)
    return most * frequency / (frequency + norm)


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
    nothing = TermCount(0, 0, 0)
    asked = sum(
        times * _idf(counts.get(term, nothing).windows, corpus.passages)
        for term, times in sorted(query.terms.items())
    )
    return min(1.0, best_window / asked) if asked > 0 else 1.0
