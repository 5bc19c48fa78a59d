"""Made-up memories to measure with: texts of everyday work, and vectors that are there beforehand."""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np

from memoranda.search.calibration import Calibration
from memoranda.search.embedders.bundled import Bundled, find_bundled
from memoranda.search.embedders.port import Matrix
from memoranda.search.labelled import read_pairs

DATA: Final = Path(__file__).parent / "data"
SAID: Final = tuple((DATA / "memories.txt").read_text("utf-8").splitlines())
TAILS: Final = (
    *("Ada wrote it on ticket {}", "see invoice {}", "Grace, page {}", "heard in call {}"),
    *("from mail {}", "Noor's list, line {}", "minutes {}", "as agreed under {}"),
    *("Tomás, message {}", "file {}", "Wednesday's notes {}", "chat {}"),
)
"""A memory is a real-looking one and such a tail, which makes it the only one of its text."""
NOISE: Final = 0.35
"""How far a memory lies from the one that it was made of: their cosine is about 0.94."""
NEW: Final = 10_000_000
"""Numbers from here on are not filled in: their texts have no vector beforehand."""
KNOWN: Final = 24
"""So many queries have vectors beforehand."""


@dataclass(frozen=True)
class Size:
    """How many organizations there are, and how many memories each of them has."""

    organizations: int
    each: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2000` or `1000x1000`. Raises ValueError."""
        organizations, times, each = text.replace(",", "").rpartition("x")
        return cls(int(organizations) if times else 1, int(each))

    def __str__(self) -> str:
        """Say it as people do."""
        if self.organizations == 1:
            return f"{self.each:,} memories"
        return f"{self.organizations:,} organizations of {self.each:,}"


class Ask(NamedTuple):
    """What one operation is about; each kind of operation takes of it what it needs."""

    organization: int
    memory: int
    query: str
    """No other ask has it, so that nobody has its vector yet."""
    known: str
    """One of a few, whose vectors everybody may have."""
    text: str


def text(number: int) -> str:
    """The memory of this number; no other has its text."""
    tail = TAILS[number // len(SAID) % len(TAILS)].format(number)
    return f"{SAID[number % len(SAID)]} ({tail})"


def queries() -> list[str]:
    """What people ask of such memories, in an order of chance that is always the same."""
    pairs = read_pairs(DATA / "memory_pairs.jsonl")
    found = list(dict.fromkeys(pair.query for pair in pairs if pair.relevant))
    random.Random(1).shuffle(found)
    return found


def asks(size: Size, seed: int = 3) -> Iterator[Ask]:
    """Operations without an end, the same ones for everybody who asks with this seed."""
    chance = random.Random(seed)
    known, asked = queries()[:KNOWN], queries()[KNOWN:]
    for number in count():
        times, place = divmod(number, len(asked))
        yield Ask(
            organization=chance.randrange(size.organizations),
            memory=chance.randrange(size.each),
            query=f"{asked[place]} {times or ''}".strip(),
            known=chance.choice(known),
            text=text(seed * NEW + number),
        )


class Prepared:
    """The bundled embedder, but that some texts have vectors beforehand, which are found at once.

    Every side embeds with it, so that filling costs little and all hold the same vectors.
    """

    def __init__(self, bundled: Bundled) -> None:
        self.model = bundled.model
        self.dimensions = bundled.dimensions
        self._bundled = bundled
        self._thread = ThreadPoolExecutor(1)
        self._said = self._really(SAID)
        asked = queries()[:KNOWN]
        self._queries = dict(zip(asked, self._really(asked), strict=True))
        self._numbers: dict[str, int] = {}

    @property
    def calibration(self) -> Calibration:
        return self._bundled.calibration

    def prepare(self, numbers: range) -> None:
        """From now on, the memories of these numbers have made-up vectors, and no others."""
        self._numbers = {text(number): number for number in numbers}

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        found = self._beforehand(texts)
        return await self._bundled.embed(texts) if found is None else found

    def now(self, texts: Sequence[str]) -> list[list[float]]:
        """The same for plain code, which can't wait on an event loop."""
        found = self._beforehand(texts)
        rows: list[list[float]] = (self._really(texts) if found is None else found).tolist()
        return rows

    def _really(self, texts: Sequence[str]) -> Matrix:
        # On a thread as `embed` does: on the first thread, a limit of one for BLAS does not hold.
        return self._thread.submit(self._bundled._embed, texts).result()  # noqa: SLF001 - the public verb needs an event loop

    def _beforehand(self, texts: Sequence[str]) -> Matrix | None:
        if all(each in self._numbers for each in texts):
            return self._made([self._numbers[each] for each in texts])
        if all(each in self._queries for each in texts):
            return np.array([self._queries[each] for each in texts])
        return None

    def _made(self, numbers: Sequence[int]) -> Matrix:
        size = self.dimensions
        noise = np.array([np.random.default_rng(each).standard_normal(size) for each in numbers])
        said = self._said[[each % len(SAID) for each in numbers]]
        rows = said + noise * (NOISE / np.sqrt(size))
        made: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return made


def prepared() -> Prepared:
    """The embedder of all sides. Ends the program where no model is installed."""
    bundled = find_bundled()
    if bundled is None:
        raise SystemExit("bench: the bundled embedder is not installed.")
    return Prepared(bundled)
