"""Calls the command line within the test, and as a real process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from memoranda.surfaces.cli.app import app

RUN = "from memoranda.surfaces.cli import main; main()"


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def problem(self) -> Any:
        return json.loads(self.err)


@dataclass(frozen=True)
class Cli:
    """Calls commands on one database."""

    db: str

    def __call__(self, *words: str, typed: bytes | None = None) -> Ended:
        """Run a command; its options may already be among `words`."""
        done = CliRunner().invoke(app, [*words, "--db", self.db], input=typed)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ended(done.exit_code, done.stdout, done.stderr)

    def json(self, *words: str) -> Any:
        """Run a command that has to succeed, and read its answer."""
        ended = self(*words, "--json")
        assert ended.code == 0, ended.err
        return ended.json


@contextmanager
def process(*words: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
    """Start the command as a process of its own; it does not outlive the block."""
    source = str(Path(__file__).parents[3] / "src")
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *words],
        env={**os.environ, "PYTHONPATH": source, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def finished(*words: str, **env: str) -> Ended:
    """Run the command as a process of its own, to its end."""
    with process(*words, **env) as running:
        out, err = running.communicate(timeout=60)
    return Ended(running.returncode, out, err)
