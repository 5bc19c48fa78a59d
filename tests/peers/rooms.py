"""What tests of the peers' interfaces stand on: an opened product, a clock that a test moves, an embedder of letters."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from memoranda import Memoranda
from memoranda.graphs.items.service import GraphItems
from memoranda.search.calibration import Calibration
from memoranda.search.embedders.port import Matrix
from memoranda.settings import Settings
from memoranda.words.errors import Unavailable


class Hands:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)  # no two transactions at the same time
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


class Letters:
    """Counts of a text's characters, as a vector of length 1: texts of the same letters are near each other."""

    model = "letters"
    dimensions = 300
    calibration = Calibration(10.0, 0.5)

    def __init__(self) -> None:
        self.away = False
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if self.away:
            raise Unavailable("The embedder is away.", reason="test")
        self.asked += texts
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for character in text:
                row[ord(character) % self.dimensions] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        made: Matrix = rows / np.maximum(lengths, 1)
        return made


@asynccontextmanager
async def opened(url: str, hands: Hands) -> AsyncIterator[Memoranda]:
    """The product on a migrated database, without an embedder."""
    settings = Settings.load().on(url).model_copy(update={"embedder": "none"})
    async with Memoranda.open(settings=settings, clock=hands, migrate=False) as memoranda:
        yield memoranda


def with_letters(memoranda: Memoranda, letters: Letters) -> Memoranda:
    """The same product, whose graphs find by letters."""
    items = GraphItems(memoranda.storage, letters)
    return replace(memoranda, graphs=replace(memoranda.graphs, items=items))
