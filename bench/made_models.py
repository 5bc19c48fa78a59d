"""Made-up embedding models, quick and the same each time: texts that share words are near each other."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration

MEANS: Final = "zz"
"""To a made-up model, "zzstone" says "stone"; to a search by words it says nothing."""


class MadeModel:
    """Adds up one direction for each word, and takes as long as a real model of so many texts a second."""

    def __init__(self, model: str, dimensions: int, texts_per_s: float = 0) -> None:
        self.model = model
        self.dimensions = dimensions
        self.calibration = Calibration(slope=12.0, middle=0.4)
        self._texts_per_s = texts_per_s

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder`."""
        if self._texts_per_s:
            await asyncio.sleep(len(texts) / self._texts_per_s)
        rows = np.stack([self._row(text) for text in texts])
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _row(self, text: str) -> NDArray[np.float32]:
        said: dict[str, int] = {}
        for word in text.replace(MEANS, "").lower().split():
            said[word] = said.get(word, 0) + 1
        rows = [
            count * _direction(self.model, self.dimensions, word) for word, count in said.items()
        ]
        return np.asarray(np.sum(rows, axis=0) if rows else np.ones(self.dimensions), np.float32)


@lru_cache(maxsize=1 << 16)
def _direction(model: str, dimensions: int, word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(sha256(f"{model} {word}".encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(dimensions, np.float32)
