"""Which documents are ranked where there are more than one search may look at: those whose words stand together."""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.search.document import TermCount
from memoranda.search.plan import LIMITS, Limits
from memoranda.search.postings import BLOCK_BITS, Numbers
from memoranda.search.rows import TermRows

_ORDINAL_BITS: Final = 32


def shortlist(
    held: Mapping[str, TermRows],
    counts: Mapping[str, TermCount],
    passages: int,
    limits: Limits = LIMITS,
) -> list[bytes]:
    """Return the documents to rank, those that promise most first, then by id.

    `held` has the rows of the terms that were fetched in full; `passages` is how many the searcher
    has in all. A document promises what its best two neighboring blocks
    hold of the terms, rare ones counting more. Where there are too many passages, whole documents
    are taken until `limits.passages` are reached.
    """
    documents = sorted({document for rows in held.values() for document in rows.documents})
    if not documents:
        return []
    found = _blocks(documents, held, counts, passages)
    order = np.argsort(-found.promise, kind="stable")[: limits.documents]
    if passages > limits.passages:
        sizes = np.cumsum(found.sizes[order])
        order = order[: max(1, int(np.searchsorted(sizes, limits.passages, side="right")))]
    return [documents[place] for place in order.tolist()]


class _Blocks(NamedTuple):
    """Of each document, what its best blocks hold, and about how many passages it has."""

    promise: NDArray[np.float64]
    sizes: Numbers


def _blocks(
    documents: list[bytes],
    held: Mapping[str, TermRows],
    counts: Mapping[str, TermCount],
    passages: int,
) -> _Blocks:
    place = {document: number << _ORDINAL_BITS for number, document in enumerate(documents)}
    owners, blocks, weights = [], [], []
    for term in sorted(held):  # one order of adding, so that sums agree to the last bit
        places, _ = held[term].unpacked(place)
        # Ordinals of a row ascend, and no block is of two rows: what is the same stands together.
        within = places >> BLOCK_BITS
        within = within[np.flatnonzero(np.diff(within, prepend=-1))]
        owners.append(within >> (_ORDINAL_BITS - BLOCK_BITS))
        blocks.append(within & ((1 << (_ORDINAL_BITS - BLOCK_BITS)) - 1))
        weights.append(np.full(len(within), _weight(counts[term], passages)))
    owner, block = np.concatenate(owners), np.concatenate(blocks)
    last = np.zeros(len(documents), np.int64)
    np.maximum.at(last, owner, block)
    # An empty block after each document keeps it apart from the next.
    starts_at = np.concatenate([[0], np.cumsum(last + 2)])
    weighed = np.bincount(starts_at[owner] + block, np.concatenate(weights), int(starts_at[-1]))
    pairs = weighed.copy()
    pairs[1:] += weighed[:-1]  # each block with the one before it
    promise = np.maximum.reduceat(pairs, starts_at[:-1]).round(6)
    return _Blocks(promise, (last + 1) << BLOCK_BITS)


def _weight(count: TermCount, passages: int) -> float:
    return math.log(1 + (max(passages - count.passages, 0) + 0.5) / (count.passages + 0.5))
