"""A server on this machine that speaks the embeddings protocol, and misbehaves on request."""

import json
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any

from tests.scripted_server import Script
from tests.scripted_server import serving as scripted

DIMENSIONS = 8


def texts(self) -> list[str]:
    return [text for body in self.asked for text in body["input"]]


def vector(text: str) -> list[float]:
    return [float(byte) - 127.5 for byte in sha256(text.encode()).digest()[:DIMENSIONS]]


def data(vectors: list[Any]) -> bytes:
    """A reply that holds these, the last first: order is told by the index alone."""
    items = [
        {"object": "embedding", "index": place, "embedding": numbers}
        for place, numbers in enumerate(vectors)
    ]
    return json.dumps({"object": "list", "data": items[::-1], "model": "m"}).encode()


def serving() -> AbstractContextManager[Script]:
    """Serve it for as long as the context lasts."""
    return scripted(lambda body: data([vector(text) for text in body["input"]]))
