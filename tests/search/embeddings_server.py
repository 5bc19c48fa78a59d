"""A server on this machine that speaks the embeddings protocol, and misbehaves on request."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 8


@dataclass
class Script:
    """What was asked, and what to answer before answering well: `(status, headers, body)`."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)

    @property
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


@contextmanager
def serving() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            script.asked.append(body)
            script.paths.append(self.path)
            script.keys.append(self.headers["authorization"])
            good = (200, {}, data([vector(text) for text in body["input"]]))
            status, headers, answer = script.answers.pop(0) if script.answers else good
            self.send_response(status)
            for name, value in {"content-length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        script.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
