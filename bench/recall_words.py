"""Finds memories by words as the product does, on a database of its own, and fits the curve anew."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration, calibration_of, fit
from memoranda.search.terms import read_passage, read_query
from memoranda.search.texts.rank import WORDS
from memoranda.search.texts.store import find, put
from memoranda.storage import PLATFORM, Storage, Transaction, migrate
from memoranda.words.ids import new_id

COLLECTION: Final = "bench"


async def by_words(queries: Sequence[str], memories: Sequence[str]) -> NDArray[np.float64]:
    """The score of each memory (column) for each query (row); 0 where they share no word."""
    ids = [new_id() for _ in memories]
    column = {item_id: place for place, item_id in enumerate(ids)}

    def fill(tx: Transaction) -> None:
        for item_id, memory in zip(ids, memories, strict=True):
            put(tx, COLLECTION, item_id, read_passage(memory), fresh=True)

    scores = np.zeros((len(queries), len(memories)))
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        migrate(url)
        storage = await Storage.open(url)
        await storage.write(PLATFORM, fill)
        for row, query in enumerate(queries):
            asked = read_query(query)
            look = partial(find, total=len(memories), at_least=0.0)
            hits = await storage.read(PLATFORM, look, COLLECTION, asked)
            for hit in hits:
                scores[row, column[hit.item_id]] = hit.score
        await storage.close()
    return scores


def fitted_curve(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> Calibration:
    """The curve under which it is likeliest which of the memories that share a word are answers."""
    curve = calibration_of(WORDS)
    shared = scores > 0
    relevance = [curve.cosine(float(score)) for score in scores[shared]]
    return fit(relevance, right[shared].tolist())
