"""An embedder at any endpoint that answers `POST …/embeddings` as OpenAI's does."""

from collections.abc import Sequence
from typing import Final, Self

import anyio
import numpy as np
from pydantic import SecretStr

from memoranda.search.asked_endpoint import ATTEMPTS, TIMEOUT_S, AskedEndpoint, Pause
from memoranda.search.calibration import Calibration, calibration_of
from memoranda.search.embedders.port import Matrix
from memoranda.search.embedders.reply import read_reply
from memoranda.words.errors import Invalid

BATCH: Final = 64


class Endpoint:
    """Asks in batches, tries again after what passes, and checks all that it is told.

    `url` is the part before `/embeddings`, such as `http://localhost:11434/v1`. `dimensions` is 0
    until the first answer where it is not given; an answer of another size is refused. The key is
    sent as a bearer token, and is in no error and no log. Vectors are kept under `known_as`, or under
    the model's name. Raises `Invalid` for a URL, model or key that can't be used.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: SecretStr | None = None,
        known_as: str = "",
        dimensions: int = 0,
        calibration: Calibration | None = None,
        batch: int = BATCH,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        pause: Pause = anyio.sleep,
    ) -> None:
        if not model.strip():
            raise Invalid("Name the model that the embeddings endpoint should use.")
        self.model = known_as or model
        self._asked_for = model
        self.dimensions = dimensions
        self.calibration = calibration or calibration_of(model)
        self._batch = max(1, batch)
        self._endpoint = AskedEndpoint(
            url,
            "/embeddings",
            "The embeddings endpoint",
            key=key,
            timeout_s=timeout_s,
            attempts=attempts,
            pause=pause,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of open connections; nothing can be embedded after this."""
        await self._endpoint.close()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`. A blank text has a row of zeros and is not sent."""
        asked = [place for place, text in enumerate(texts) if text.strip()]
        parts = []
        for start in range(0, len(asked), self._batch):
            batch = [texts[place] for place in asked[start : start + self._batch]]
            parts.append(await self._ask(batch))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        if parts:
            rows[asked] = np.concatenate(parts)
        return rows

    async def _ask(self, texts: Sequence[str]) -> Matrix:
        body = {"model": self._asked_for, "input": texts, "encoding_format": "float"}
        rows = read_reply(await self._endpoint.ask(body), len(texts), self.dimensions)
        self.dimensions = rows.shape[1]
        return rows
