"""An embedder at any endpoint that answers `POST …/embeddings` as OpenAI's does."""

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Self

import anyio
import httpx
import numpy as np
from pydantic import SecretStr

from memoranda.search.calibration import Calibration, calibration_of
from memoranda.search.embedders.port import Matrix
from memoranda.search.embedders.reply import read_reply
from memoranda.words.errors import Invalid, Unavailable

BATCH: Final = 64
TIMEOUT_S: Final = 30.0
ATTEMPTS: Final = 4
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 20.0
PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may do better."""

Pause = Callable[[float], Awaitable[None]]


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
        self._url = _embeddings_url(url)
        self._batch = max(1, batch)
        self._attempts = max(1, attempts)
        self._pause = pause
        self._client = httpx.AsyncClient(timeout=timeout_s, headers=_headers(key))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of open connections; nothing can be embedded after this."""
        await self._client.aclose()

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
        response = await self._answered(body)
        rows = read_reply(response.content, len(texts), self.dimensions)
        self.dimensions = rows.shape[1]
        return rows

    async def _answered(self, body: object) -> httpx.Response:
        """Post until an answer is final. Pauses double, with some chance so that callers spread."""
        pause = FIRST_PAUSE_S
        for attempt in range(1, self._attempts + 1):
            response, failure = await self._post(body)
            if response is not None and response.is_success:
                return response
            passing = response is None or response.status_code in PASSING
            if attempt == self._attempts or not passing:
                raise failure
            chance = pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, keeps no secret
            wanted = _seconds(response.headers.get("retry-after")) if response is not None else None
            await self._pause(min(LONGEST_PAUSE_S, chance if wanted is None else wanted))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, body: object) -> tuple[httpx.Response | None, Unavailable]:
        """The response, if there is one, and what to raise unless it is a success."""
        try:
            response = await self._client.post(self._url, json=body)
        except httpx.HTTPError as error:
            return None, _unreachable(error)
        return response, _refusal(response.status_code)


def _embeddings_url(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Invalid("The embeddings endpoint needs a URL that begins with http:// or https://.")
    if parsed.userinfo:
        raise Invalid("Leave credentials out of the endpoint's URL, and set its key instead.")
    path = parsed.path.rstrip("/")
    return parsed.copy_with(path=path if path.endswith("/embeddings") else f"{path}/embeddings")


def _headers(key: SecretStr | None) -> dict[str, str]:
    secret = key.get_secret_value().strip() if key else ""
    if not secret:
        return {}
    if not (secret.isascii() and secret.isprintable()):
        raise Invalid("The endpoint's key may hold printable ASCII characters only.")
    return {"Authorization": f"Bearer {secret}"}


def _unreachable(error: httpx.HTTPError) -> Unavailable:
    reason = "did not answer in time" if isinstance(error, httpx.TimeoutException) else None
    return Unavailable(
        f"The embeddings endpoint {reason or 'could not be reached'}: "
        "check its URL, and that it is running.",
        reason=type(error).__name__,
    )


def _refusal(status: int) -> Unavailable:
    """What to do about a status. The body is left out: it may repeat the key or the texts."""
    advice = {
        401: "check its key",
        403: "check its key",
        404: "check its URL and the model's name",
        429: "it is asked too often; try again later",
    }.get(status, "try again later" if status in PASSING else "check its URL and the model's name")
    return Unavailable(f"The embeddings endpoint answered {status}: {advice}.", status=status)


def _seconds(header: str | None) -> float | None:
    """The pause that the endpoint asks for, where it gives one in seconds."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
