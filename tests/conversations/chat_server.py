"""A server on this machine that speaks the protocol of chat completions, and misbehaves on request."""

import json
import threading
from collections.abc import Iterator
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
    def material(self) -> str:
        """What the last request asked to be shortened."""
        return str(self.asked[-1]["messages"][-1]["content"])


def completion(content: Any, **more: Any) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
    }
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]}
    return json.dumps(reply | more).encode()


USED = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 20},
}


@contextmanager
def serving() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            script.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            script.paths.append(self.path)
            script.keys.append(self.headers["authorization"])
            good = (200, {}, completion("They talked of ships.", usage=USED))
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
