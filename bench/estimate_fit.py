"""Fits the rates of the estimate by pieces to the highest count of several tokenizers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.words.pieces import RATES, SHORT, count_pieces

STEPS: Final = 60_000
FASTER: Final = 30_000
"""Steps of the first size; those after it are a tenth as large."""
SIZE: Final = 0.002
TOO_LOW: Final = 30.0
"""How much worse a count is that is too low than one that is as much too high."""
LEAST: Final = 0.02
PARTS: Final = 4

Count = Callable[[str], int]
Matrix = NDArray[np.float64]


def fit(texts: Mapping[str, str], counts: Sequence[Count]) -> Mapping[str, int]:
    """Rates in thousandths of a token, under which every whole costs at most what its parts do."""
    names = list(RATES)
    shares, weights = _rows(texts, counts, names)
    rates = np.array([RATES[name] / 1_000 for name in names])
    first, second = np.zeros_like(rates), np.zeros_like(rates)
    for step in range(STEPS):
        off = shares @ rates - 1.0
        slope = shares.T @ (np.where(off < 0, TOO_LOW * off, off) * weights)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        size = SIZE if step < FASTER else SIZE / 10
        rates = np.maximum(rates - size * first / (np.sqrt(second) + 1e-9), LEAST)
        _bound(rates, names)
    return {name: round(float(rate) * 1_000) for name, rate in zip(names, rates, strict=True)}


def _bound(rates: Matrix, names: Sequence[str]) -> None:
    """What joining two texts may not make dearer."""
    at = {name: place for place, name in enumerate(names)}
    rates[at["letter"]] = min(rates[at["letter"]], rates[at["word"]] / SHORT)
    rates[at["capital"]] = min(rates[at["capital"]], rates[at["word"]])
    rates[at["indent"]] = min(rates[at["indent"]], rates[at["blank"]])


def _rows(
    texts: Mapping[str, str], counts: Sequence[Count], names: Sequence[str]
) -> tuple[Matrix, Matrix]:
    """For each text, and each of its parts, what there is of everything for each true token."""
    rows, weights = [], []
    for text in texts.values():
        size = max(200, len(text) // PARTS + 1)
        parts = [text, *(text[at : at + size] for at in range(0, len(text), size))]
        for part in parts:
            true = max(count(part) for count in counts)
            there = count_pieces(part)
            rows.append([there.get(name, 0) / true for name in names])
            weights.append(1 / len(parts))
    return np.array(rows), np.array(weights)
