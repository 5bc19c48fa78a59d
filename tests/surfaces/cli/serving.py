"""A served database, by the real command in a process of its own."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.surfaces.cli.terminal import process


@dataclass(frozen=True)
class Served:
    """A running server, and a client that has a key to it."""

    url: str
    client: httpx.Client

    def get(self, route: str) -> Any:
        answer = self.client.get(route)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, route: str, body: object) -> Any:
        answer = self.client.post(route, json=body)
        assert answer.is_success, answer.text
        return answer.json()


@contextmanager
def serving(db: str, key: str, *words: str) -> Iterator[Served]:
    """Serve `db` on a free port until the block ends; the server has to stop in peace."""
    with process("--json", "serve", "--db", db, "--port", "0", *words) as running:
        assert running.stdout is not None
        try:
            announced = json.loads(_document(running.stdout))
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(base_url=announced["url"], headers=headers, timeout=30) as client:
                yield Served(announced["url"], client)
        finally:
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=30)
        assert running.returncode == 0, err
        assert err == ""


def _document(stream: Any) -> str:
    """The lines of one indented JSON object."""
    lines = []
    for line in stream:
        lines.append(line)
        if line.rstrip() == "}":
            break
    return "".join(lines)
