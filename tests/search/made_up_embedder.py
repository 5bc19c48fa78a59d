"""An embedder for tests: texts that share words are near each other, and it misbehaves on request."""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np

from memoranda.search.calibration import Calibration
from memoranda.search.embedders.port import Matrix


class MadeUp:
    """Adds up one direction per word. What `before` raises or waits for comes before each answer."""

    def __init__(self, model: str = "made-up", dimensions: int = 64) -> None:
        self.model = model
        self.dimensions = dimensions
        self.calibration = Calibration(slope=12.0, middle=0.4)
        self.asked: list[list[str]] = []
        self.failure: Exception | None = None
        self.unreadable: Callable[[str], bool] = lambda _: False
        self.answer: Matrix | None = None
        self.gate: asyncio.Event | None = None
        self.calls: asyncio.Queue[list[str]] = asyncio.Queue()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.asked.append(list(texts))
        self.calls.put_nowait(self.asked[-1])
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        if self.answer is not None:
            return self.answer
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for place, text in enumerate(texts):
            if not self.unreadable(text):
                rows[place] = self.of(text)
        return rows

    def of(self, text: str) -> np.ndarray:
        total = np.sum([self._direction(word) for word in text.lower().split()], axis=0)
        row: np.ndarray = (total / np.linalg.norm(total)).astype(np.float32)
        return row

    def _direction(self, word: str) -> np.ndarray:
        seed = int.from_bytes(sha256(f"{self.model} {word}".encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimensions)

    @property
    def texts(self) -> list[str]:
        """Everything that it was asked for, in order."""
        return [text for batch in self.asked for text in batch]
