"""Asks any endpoint that speaks OpenAI's protocol: again after what passes, and never telling its key."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import httpx
from pydantic import SecretStr

from memoranda.words.chance import spread
from memoranda.words.errors import Invalid, Unavailable

TIMEOUT_S: Final = 30.0
ATTEMPTS: Final = 4
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 20.0
PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may do better."""

Pause = Callable[[float], Awaitable[None]]


class AskedEndpoint:
    """Posts to `url` and `path`, which may be a part of `url` already, and answers the reply's body.

    `called` names it in errors, as in "The embeddings endpoint". The key is sent as a bearer
    token, and is in no error and no log. Raises `Invalid` for a URL or key that can't be used.
    """

    def __init__(
        self,
        url: str,
        path: str,
        called: str,
        *,
        key: SecretStr | None = None,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        pause: Pause = anyio.sleep,
    ) -> None:
        self._called = called
        self._url = _full_url(url, path, called)
        self._attempts = max(1, attempts)
        self._pause = pause
        self._client = httpx.AsyncClient(timeout=timeout_s, headers=_headers(key))

    async def close(self) -> None:
        """Let go of open connections; nothing can be asked after this."""
        await self._client.aclose()

    async def ask(self, body: object) -> bytes:
        """Post until an answer is final. Pauses double, with some chance so that callers spread.

        Raises `Unavailable`, whose details carry the `status` or the `reason`; never what was answered,
        which may repeat the key or the texts.
        """
        pause = FIRST_PAUSE_S
        for attempt in range(1, self._attempts + 1):
            response, failure = await self._post(body)
            if response is not None and response.is_success:
                return response.content
            passing = response is None or response.status_code in PASSING
            if attempt == self._attempts or not passing:
                raise failure
            wanted = _seconds(response.headers.get("retry-after")) if response is not None else None
            await self._pause(min(LONGEST_PAUSE_S, spread(pause) if wanted is None else wanted))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, body: object) -> tuple[httpx.Response | None, Unavailable]:
        """The response, if there is one, and what to raise unless it is a success."""
        try:
            response = await self._client.post(self._url, json=body)
        except httpx.HTTPError as error:
            return None, self._unreachable(error)
        return response, self._refusal(response.status_code)

    def _unreachable(self, error: httpx.HTTPError) -> Unavailable:
        reason = "did not answer in time" if isinstance(error, httpx.TimeoutException) else None
        return Unavailable(
            f"{self._called} {reason or 'could not be reached'}: "
            "check its URL, and that it is running.",
            reason=type(error).__name__,
        )

    def _refusal(self, status: int) -> Unavailable:
        """What to do about a status."""
        other = "try again later" if status in PASSING else "check its URL and the model's name"
        advice = {
            401: "check its key",
            403: "check its key",
            404: "check its URL and the model's name",
            429: "it is asked too often; try again later",
        }.get(status, other)
        return Unavailable(f"{self._called} answered {status}: {advice}.", status=status)


def _full_url(url: str, path: str, called: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Invalid(f"{called} needs a URL that begins with http:// or https://.")
    if parsed.userinfo:
        raise Invalid("Leave credentials out of the endpoint's URL, and set its key instead.")
    base = parsed.path.rstrip("/")
    return parsed.copy_with(path=base if base.endswith(path) else f"{base}{path}")


def _headers(key: SecretStr | None) -> dict[str, str]:
    secret = key.get_secret_value().strip() if key else ""
    if not secret:
        return {}
    if not (secret.isascii() and secret.isprintable()):
        raise Invalid("The endpoint's key may hold printable ASCII characters only.")
    return {"Authorization": f"Bearer {secret}"}


def _seconds(header: str | None) -> float | None:
    """The pause that the endpoint asks for, where it gives one in seconds."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
