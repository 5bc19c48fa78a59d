"""An embedder for tests that knows words which stand in no text: what it finds, no search by words can."""

from collections.abc import Sequence

import numpy as np

from tests.search.made_up_embedder import MadeUp

MEANS = "zz"


class Synonyms(MadeUp):
    """To it, "zzstone" says "stone". It may be slow, so that somebody is always in the middle of it."""

    def of(self, text: str) -> np.ndarray:
        return super().of(text.replace(MEANS, ""))

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = await super().embed(texts)
        assert rows.shape[1] == self.dimensions
        return rows
