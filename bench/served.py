"""The product as its users run it: commands and a server, each in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final

COMMAND: Final = [sys.executable, "-c", "from memoranda.surfaces.cli import main; main()"]


def run(*arguments: str) -> Any:
    """Run `memoranda ARGUMENTS --json` and return what it prints; raises CalledProcessError."""
    done = subprocess.run(
        [*COMMAND, *arguments, "--json"], stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout)


@contextmanager
def served(url: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run `memoranda serve` on a database for the length of the block; gives the server's address.

    `settings` are variables of its environment.
    """
    server = subprocess.Popen(
        [*COMMAND, "serve", "--db", url, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(settings or {})},
    )
    try:
        assert server.stdout is not None
        yield str(_first_document(server.stdout)["url"])
    finally:
        server.terminate()
        server.communicate(timeout=30)


def _first_document(lines: IO[str]) -> Any:
    """The first JSON document of a stream that stays open."""
    text = ""
    for line in lines:
        text += line
        try:
            return json.loads(text)
        except ValueError:
            continue
    raise RuntimeError(f"The server ended before it served. It printed: {text!r}")
