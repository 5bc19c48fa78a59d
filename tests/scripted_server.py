"""A server on this machine that answers as it is told to, and keeps what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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
        """All that was asked to be embedded."""
        return [text for body in self.asked for text in body["input"]]

    @property
    def material(self) -> str:
        """What the last request asked to be shortened."""
        return str(self.asked[-1]["messages"][-1]["content"])


@contextmanager
def serving(good: Callable[[dict[str, Any]], bytes]) -> Iterator[Script]:
    """Serve what the script says, and after that what is `good` for a request's body."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            script.asked.append(body)
            script.paths.append(self.path)
            script.keys.append(self.headers["authorization"])
            answers = script.answers
            status, headers, answer = answers.pop(0) if answers else (200, {}, good(body))
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
