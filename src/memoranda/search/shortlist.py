"""Which documents are ranked where there are more than one search may look at: those whose words stand together."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.search.document import TermCount
from memoranda.search.plan import LIMITS, Limits
from memoranda.search.postings import BLOCK_BITS, Numbers
from memoranda.search.rows import Ids, TermRows, ids_of, numbered, unpack_all
from memoranda.search.weights import WEIGHTS, weighed

_BLOCK_BITS: Final = 32
"""A block's number has fewer."""


def shortlist(
    held: Mapping[str, TermRows],
    counts: Mapping[str, TermCount],
    passages: int,
    limits: Limits = LIMITS,
) -> Ids:
    """Return the documents to rank, in the order of their ids.

    `held` has the rows of the terms that were fetched in full; `passages` is how many the searcher
    has in all. A document promises what its best two neighboring blocks
    hold of the terms: rare ones count more, and so does what is said often. Where there are too many passages, whole documents
    are taken until `limits.passages` are reached, those that promise most first, then by id.
    """
    if not held:
        return ids_of(b"")
    rows = [held[term] for term in sorted(held)]  # one order of adding: sums agree to the last bit
    every = np.concatenate([each.documents for each in rows])
    documents, owners = numbered(every)
    if passages <= limits.passages and len(documents) <= limits.documents:
        return documents
    weights = [_weight(counts[term], passages) for term in sorted(held)]
    found = _blocks(len(documents), rows, owners, weights)
    order = np.argsort(-found.promise, kind="stable")[: limits.documents]
    if passages > limits.passages:
        sizes = np.cumsum(found.sizes[order])
        order = order[: max(1, int(np.searchsorted(sizes, limits.passages, side="right")))]
    return documents[np.sort(order)]


class _Blocks(NamedTuple):
    """Of each document, what its best blocks hold, and about how many passages it has."""

    promise: NDArray[np.float64]
    sizes: Numbers


def _blocks(
    documents: int, rows: Sequence[TermRows], owners: Numbers, weights: Sequence[float]
) -> _Blocks:
    unpacked, _ = unpack_all(rows)
    of_row = np.repeat(np.arange(len(owners)), unpacked.entries)
    # Ordinals of a row ascend, and no block is of two rows: what is the same stands together.
    block = unpacked.ordinals >> BLOCK_BITS
    first = np.flatnonzero(np.diff(of_row, prepend=-1) | np.diff(block, prepend=-1))
    times = np.add.reduceat(unpacked.times, first).astype(np.float64)
    of_row, block = of_row[first], block[first]
    weight = np.repeat(weights, [len(each.sizes) for each in rows])[of_row]
    weight *= weighed(1.0, times, 1.0, WEIGHTS)
    # Of a million passages' blocks hardly any hold a rare word: only those that do are looked at.
    keys, place = np.unique(owners[of_row] << _BLOCK_BITS | block, return_inverse=True)
    promised = np.bincount(place, weight)
    pairs = promised.copy()
    beside = np.flatnonzero(np.diff(keys) == 1)
    pairs[beside + 1] += promised[beside]  # each block with the one before it
    firsts = np.searchsorted(keys, np.arange(documents) << _BLOCK_BITS)
    lasts = np.append(firsts[1:], len(keys)) - 1
    last = keys[lasts] & ((1 << _BLOCK_BITS) - 1)
    promise = np.maximum.reduceat(pairs, firsts).round(6)
    return _Blocks(promise, (last + 1) << BLOCK_BITS)


def _weight(count: TermCount, passages: int) -> float:
    return math.log(1 + (max(passages - count.passages, 0) + 0.5) / (count.passages + 0.5))
