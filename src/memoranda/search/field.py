"""The cells that are scored: those of all passages, or of those that promise most where there are many."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memoranda.search.candidates import BLOCK, Candidates, Place, Said
from memoranda.search.postings import BLOCK_BITS, Numbers
from memoranda.search.weights import Weights, weighed

Blocks = NDArray[np.bool_]
"""Of each block of the candidates' cells, whether it is meant."""


class Field:
    """Cells of candidates side by side: all of them, or some blocks and one more on each side of those.

    The latter are there for the windows of their neighbors; only cells of wanted blocks are `real`.
    """

    def __init__(self, candidates: Candidates, wanted: Blocks | None = None) -> None:
        self._candidates = candidates
        self._blocks: Numbers | None = None
        if wanted is None:
            every = np.arange(candidates.cells >> BLOCK_BITS)
            self.real, self.lengths = candidates.lengths_in(every)
        else:
            self._keep(wanted)

    def said(self, term: str) -> Said | None:
        """The cells that hold a term, and how often; None where no candidate does."""
        said = self._candidates.said.get(term)
        if said is None or self._blocks is None:
            return said
        cells = self._moved(said.cells)
        kept = np.flatnonzero(cells >= 0)
        return Said(cells[kept], said.times[kept])

    def kept(self, cells: Numbers) -> Numbers:
        """Where those of these cells of the candidates are that are here."""
        here = self._moved(cells)
        return here[here >= 0]

    def cells(self, places: Sequence[Place]) -> Numbers:
        """The cell of each passage, and -1 of one that has none here."""
        cells = self._candidates.cells_of(places)
        return np.where(cells >= 0, self._moved(np.maximum(cells, 0)), -1)

    def places(self, cells: Numbers) -> list[Place]:
        """The passage of each of these cells, which are real."""
        if self._blocks is not None:
            cells = (self._blocks[cells >> BLOCK_BITS] << BLOCK_BITS) + (cells & (BLOCK - 1))
        return self._candidates.places_of(cells)

    def _keep(self, wanted: Blocks) -> None:
        beside = wanted.copy()
        beside[1:] |= wanted[:-1]
        beside[:-1] |= wanted[1:]
        beside[[0, -1]] = True  # they are empty: no window reaches over an end
        self._blocks = np.flatnonzero(beside)
        self._slots = np.full(len(wanted), -1)
        self._slots[self._blocks] = np.arange(len(self._blocks)) << BLOCK_BITS
        real, self.lengths = self._candidates.lengths_in(self._blocks)
        self.real = real & np.repeat(wanted[self._blocks], BLOCK)

    def _moved(self, cells: Numbers) -> Numbers:
        """Where cells of the candidates are here, below 0 where they are not."""
        if self._blocks is None:
            return cells
        slots = self._slots[cells >> BLOCK_BITS]
        moved: Numbers = np.where(slots >= 0, slots + (cells & (BLOCK - 1)), -1)
        return moved


def likeliest(
    candidates: Candidates,
    worth: Mapping[str, float],
    average: float,
    most: int,
    *,
    weights: Weights,
    speaker: Numbers | None,
) -> Blocks:
    """Which `most` blocks promise most, by what each of these terms is worth, with a block beside them.

    A block promises what its best passage holds of each term, and what it holds together with the fuller block
    beside it. `average` is the tokens of a passage. Of equal ones the first are taken, and none that holds nothing.
    """
    count = candidates.cells >> BLOCK_BITS
    own, before, behind, held = (np.zeros(count) for _ in range(4))
    for term in sorted(worth):  # one order of adding, so that sums agree to the last bit
        said = candidates.said.get(term)
        if said is None:
            continue
        times = said.times.astype(np.float64)
        alone = weighed(worth[term], times, candidates.lengths_of(said.cells) / average, weights)
        blocks, firsts = _runs(said.cells >> BLOCK_BITS)
        own[blocks] += np.maximum.reduceat(alone, firsts)
        held[blocks] = np.add.reduceat(times, firsts)
        # Half of what is beside it: a window reaches over half of both blocks. Hardly any block holds a
        # term, so only those and their neighbors are looked at; one that is named twice is added to once.
        here = np.concatenate([blocks, blocks + 1])
        before[here] += weighed(worth[term], held[here] + held[here - 1] / 2, 1.0, weights)
        here -= 1
        behind[here] += weighed(worth[term], held[here] + held[here + 1] / 2, 1.0, weights)
        held[blocks] = 0
    windows = np.maximum(before, behind)
    promise = weights.passage * own / (float(own.max()) or 1.0)
    promise += weights.window * windows / (float(windows.max()) or 1.0)
    if speaker is not None:
        theirs = blocks_of(speaker)
        promise[theirs] += weights.speaker * (promise[theirs] > 0)
    promise[(candidates.starts >> BLOCK_BITS) - 1] = 0  # the empty blocks
    promise[-1] = 0
    return _largest(promise.round(6), most)


def blocks_of(cells: Numbers) -> Numbers:
    """The blocks of these cells, each once; those of one block stand together."""
    return _runs(cells >> BLOCK_BITS)[0]


def _runs(blocks: Numbers) -> tuple[Numbers, Numbers]:
    """Each of these blocks once, and where it begins; those that are the same stand together."""
    firsts = np.flatnonzero(np.diff(blocks, prepend=-1))
    return blocks[firsts], firsts


def with_places(wanted: Blocks, candidates: Candidates, places: Collection[Place]) -> Blocks:
    """These blocks, and those of these passages."""
    cells = candidates.cells_of(list(places))
    wanted[cells[cells >= 0] >> BLOCK_BITS] = True
    return wanted


def _largest(promise: NDArray[np.float64], most: int) -> Blocks:
    bar = np.sort(promise)[-most] if most < len(promise) else 0.0
    wanted: Blocks = promise > bar
    if bar > 0:
        wanted[np.flatnonzero(promise == bar)[: most - np.count_nonzero(wanted)]] = True
    return wanted
