"""One request to a served product, and the JSON of its answer."""

from typing import Any

import httpx


def send(client: httpx.Client, key: str, method: str, path: str, **sent: Any) -> Any:
    """Send one request and return the JSON of its answer; raises for any problem."""
    response = client.request(method, path, headers={"Authorization": f"Bearer {key}"}, **sent)
    if response.is_error:
        raise RuntimeError(f"{method} {path} answered {response.status_code}: {response.text}")
    return response.json()
