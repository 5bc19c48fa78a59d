"""Makes of a model's raw cosine a relevance in [0, 1] that means the same for every model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memoranda.words.errors import Invalid

SEARCH_SCORE: Final = 0.55
"""From here on, a person who searches is shown a memory for its meaning."""

RECALL_SCORE: Final = 0.72
"""From here on, a run is given a memory for its meaning."""

STEEPEST: Final = 200.0
"""No fitted curve is steeper: beyond this it would be a step."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve: a cosine of `middle` scores 0.5, and `slope` says how fast it rises there."""

    slope: float
    middle: float

    def __post_init__(self) -> None:
        if not (0 < self.slope <= STEEPEST and -1 <= self.middle <= 1):
            raise Invalid(
                f"A calibration needs a slope above 0 and up to {STEEPEST:g}, "
                "and a middle between -1 and 1."
            )

    def score(self, cosine: float) -> float:
        """Return the relevance of one cosine, in [0, 1]; a cosine that is no number has none."""
        if math.isnan(cosine):
            return 0.0
        rise = self.slope * (min(1.0, max(-1.0, cosine)) - self.middle)
        return 0.5 * (1.0 + math.tanh(0.5 * rise))

    def scores(self, cosines: ArrayLike) -> NDArray[np.float64]:
        """Return the relevance of many cosines, in the shape that they came in."""
        given = np.nan_to_num(np.asarray(cosines, dtype=np.float64), nan=-np.inf)
        rise = self.slope * (np.clip(given, -1.0, 1.0) - self.middle)
        found = 0.5 * (1.0 + np.tanh(0.5 * rise))
        return np.asarray(np.where(np.isneginf(given), 0.0, found), dtype=np.float64)

    def cosine(self, score: float) -> float:
        """Return the cosine that scores `score`, a number between 0 and 1 and neither of them."""
        return self.middle + math.log(score / (1.0 - score)) / self.slope


DEFAULT: Final = Calibration(slope=12.0, middle=0.4)
"""For a model that is in no table: right for models that put unrelated texts below about 0.3."""

KNOWN: Final[Mapping[str, Calibration]] = MappingProxyType(
    {
        # Fitted on half of bench/data/memory_pairs.jsonl; docs/embedders.md has the figures.
        "all-MiniLM-L6-v2-int8": Calibration(slope=12.47, middle=0.381),
        # Not of a cosine, but of what search.texts.rank calls relevance; fitted on word_pairs.jsonl too.
        "words": Calibration(slope=13.39, middle=0.54),
    }
)


def calibration_of(model: str) -> Calibration:
    """Return the curve of a model: its own where one is known, else `DEFAULT`."""
    return KNOWN.get(model, DEFAULT)


def fit(cosines: Sequence[float], relevant: Sequence[bool]) -> Calibration:
    """Return the curve under which the labels are likeliest, after Platt.

    The labels count as slightly unsure, so that a set that a threshold splits cleanly gets a curve
    too. Raises `Invalid` where there are not both kinds of labels, or where relevant pairs have no
    higher cosines than the others: then the model can't tell them apart.
    """
    labels = np.asarray(relevant, dtype=bool)
    given = np.asarray(cosines, dtype=np.float64)
    if given.shape != labels.shape or not np.isfinite(given).all():
        raise Invalid("A curve is fitted to one finite cosine and one label per pair.")
    yes, no = int(labels.sum()), int((~labels).sum())
    if not yes or not no:
        raise Invalid("A curve can't be fitted: label some pairs as relevant and some as not.")
    wanted = np.where(labels, (yes + 1) / (yes + 2), 1 / (no + 2))
    slope, offset = _climb(given, wanted)
    if slope <= 0:
        raise Invalid("A curve can't be fitted: relevant pairs have no higher cosines than others.")
    middle = min(1.0, max(-1.0, -offset / slope))
    return Calibration(slope=min(slope, STEEPEST), middle=middle)


def _climb(cosines: NDArray[np.float64], wanted: NDArray[np.float64]) -> tuple[float, float]:
    """Newton's steps to the best slope and offset; the tiny ridge keeps equal cosines solvable."""
    points = np.stack([cosines, np.ones_like(cosines)], axis=1)
    curve = np.zeros(2)
    for _ in range(100):
        guessed = 0.5 * (1.0 + np.tanh(0.5 * (points @ curve)))
        weights = guessed * (1.0 - guessed)
        bend = points.T @ (points * weights[:, None]) + 1e-9 * np.eye(2)
        step = np.linalg.solve(bend, points.T @ (wanted - guessed))
        # A long step may overshoot where the curve is nearly flat.
        curve = curve + step * min(1.0, 10.0 / (float(np.abs(step).max()) + 1e-12))
        if float(np.abs(step).max()) < 1e-9:
            break
    return float(curve[0]), float(curve[1])
