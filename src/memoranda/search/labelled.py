"""Labelled pairs of a query and a memory: read from a file, measured, and fitted to."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, StrictBool, StringConstraints, ValidationError

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE, Calibration, fit
from memoranda.search.embedders.port import Embedder
from memoranda.words.errors import Invalid, NotFound

FEWEST_PAIRS = 10
"""With fewer in a half, a curve says more about chance than about the model."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Pair(BaseModel):
    """One line of a labelled file: whether this memory answers this query."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Text
    memory: Text
    relevant: StrictBool


@dataclass(frozen=True, slots=True)
class Figures:
    """What a threshold does to labelled pairs; each a share from 0 to 1."""

    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A curve fitted to one half of labelled pairs, and what it does to the other half at each threshold."""

    curve: Calibration
    fitted_to: int
    checked_on: int
    figures: dict[float, Figures]


def read_pairs(path: Path) -> list[Pair]:
    """Read a JSON Lines file of `query`, `memory`, `relevant`; empty lines are skipped.

    Raises `NotFound` where there is no such file, and `Invalid`, naming the first wrong line.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path.name} can't be read: name a text file that exists.") from error
    return [_pair(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _pair(number: int, line: str) -> Pair:
    try:
        return Pair.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise Invalid(
            f"Line {number} is no labelled pair: {place}: {first['msg']}. Each line is a JSON "
            "object with `query`, `memory` and `relevant` (true or false).",
            line=number,
        ) from None


def halves(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Split pairs into those to fit to and those to check on, all of one query on the same side.

    Pairs are fitted to where the first byte of the query's SHA-256 is even; this never changes.
    """
    sides: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        sides[hashlib.sha256(pair.query.encode()).digest()[0] & 1].append(pair)
    return sides


async def cosines(embedder: Embedder, pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """Return the raw cosine of each pair. Each text is embedded once. Raises `Unavailable`."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.query, pair.memory)))
    rows = dict(zip(texts, await embedder.embed(texts), strict=True))
    found = [float(rows[pair.query] @ rows[pair.memory]) for pair in pairs]
    return np.asarray(found, dtype=np.float64)


async def fit_to(embedder: Embedder, pairs: Sequence[Pair]) -> Calibration:
    """Return the curve that fits these pairs. Raises `Invalid` (see `fit`) and `Unavailable`."""
    found = await cosines(embedder, pairs)
    return fit(found.tolist(), [pair.relevant for pair in pairs])


async def fit_and_check(embedder: Embedder, pairs: Sequence[Pair]) -> Fitted:
    """Fit a curve to half of the pairs and check it on the rest. Raises `Invalid` (see `fit`) and `Unavailable`."""
    fitting, checking = halves(pairs)
    if min(len(fitting), len(checking)) < FEWEST_PAIRS:
        raise Invalid(
            f"{len(pairs)} labelled pairs are too few: of {len(fitting)} a curve would be fitted and on "
            f"{len(checking)} checked, and each half needs {FEWEST_PAIRS}. Write a few hundred, of many queries.",
            pairs=len(pairs),
        )
    curve = await fit_to(embedder, fitting)
    scores = curve.scores(await cosines(embedder, checking)).tolist()
    checked = {
        threshold: figures(scores, checking, threshold)
        for threshold in (SEARCH_SCORE, RECALL_SCORE)
    }
    return Fitted(curve, len(fitting), len(checking), checked)


def figures(scores: Sequence[float], pairs: Sequence[Pair], threshold: float) -> Figures:
    """Return precision and recall of the pairs that score at least `threshold`.

    Where nothing scores that much, nothing is wrong: precision is 1.
    """
    shown = [pair.relevant for pair, score in zip(pairs, scores, strict=True) if score >= threshold]
    wanted = sum(pair.relevant for pair in pairs)
    return Figures(
        precision=sum(shown) / len(shown) if shown else 1.0,
        recall=sum(shown) / wanted if wanted else 1.0,
    )
