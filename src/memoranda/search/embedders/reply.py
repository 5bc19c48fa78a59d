"""Reads what an embeddings endpoint answers, and believes none of it before it is checked."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.search.embedders.port import Matrix
from memoranda.words.errors import Unavailable


def read_reply(body: bytes, count: int, dimensions: int) -> Matrix:
    """Return `count` rows of length 1 (or 0), in the order of the texts that were sent.

    `dimensions` is what a row must have, or 0 where that is not known yet. Raises `Unavailable`
    where the reply is anything else, and repeats none of it.
    """
    try:
        rows = np.asarray(_in_order(json.loads(body), count), dtype=np.float64)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise _unexpected("it is no list of embeddings, one for each text") from None
    if rows.ndim != 2 or not rows.shape[1]:
        raise _unexpected("its embeddings are no lists of numbers of one length")
    if not np.isfinite(rows).all():
        raise _unexpected("its embeddings hold what is no number")
    if dimensions and rows.shape[1] != dimensions:
        raise _unexpected(f"its embeddings have {rows.shape[1]} numbers and not {dimensions}")
    return _unit(rows)


def _in_order(reply: Any, count: int) -> list[list[float]]:
    """The embeddings by the index that each names; the places are their indexes where none does."""
    found: dict[int, list[float]] = {}
    for place, item in enumerate(reply["data"]):
        numbers = item["embedding"]
        if not isinstance(numbers, list) or any(type(each) not in (int, float) for each in numbers):
            raise TypeError
        found[item.get("index", place)] = numbers
    if len(reply["data"]) != count:
        raise ValueError
    return [found[place] for place in range(count)]


def _unit(rows: NDArray[np.float64]) -> Matrix:
    # The largest first, so that no square overflows.
    scaled = _divided(rows, np.abs(rows).max(axis=1))
    return _divided(scaled, np.linalg.norm(scaled, axis=1)).astype(np.float32)


def _divided(rows: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.where(sizes > 0, sizes, 1.0)[:, None]


def _unexpected(reason: str) -> Unavailable:
    return Unavailable(
        f"The embeddings endpoint's reply can't be used: {reason}. "
        "Check that it speaks OpenAI's protocol, and which model it serves."
    )
