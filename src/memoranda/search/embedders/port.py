"""The port that every embedder answers to."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memoranda.search.calibration import Calibration

Matrix: TypeAlias = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to vectors whose inner product is their raw cosine."""

    @property
    def model(self) -> str:
        """Names the model. Vectors are kept with it, and two models' vectors are never compared."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @property
    def calibration(self) -> Calibration:
        """Makes of this model's cosines a relevance that means the same for every model."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text, in their order: a matrix of `(len(texts), dimensions)`.

        A row has length 1. A text that the model can't read has a row of zeros, which is near
        nothing: compare rows by inner product, never by a cosine that divides by their length.
        The same text gives the same row, whatever it came with (to float precision).
        Raises `Unavailable`; the event loop is never blocked.
        """
