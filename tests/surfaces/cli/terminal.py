"""Calls the command line within the test, and as a real process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typer.main import get_command
from typer.testing import CliRunner

from memoranda.surfaces.cli.app import app

COMMAND: Final = get_command(app)
"""Made once: to make it takes longer than most commands take to run."""

RUN = "from memoranda.surfaces.cli import main; main()"


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str
    out_bytes: bytes = b""

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
        return within(*words, "--db", self.db, typed=typed)

    def json(self, *words: str) -> Any:
        """Run a command that has to succeed, and read its answer."""
        ended = self(*words, "--json")
        assert ended.code == 0, ended.err
        return ended.json


def within(*words: str, typed: bytes | None = None) -> Ended:
    """Run a command within this process; raises what it did not turn into an exit code."""
    code: object = None
    with CliRunner().isolation(input=typed) as (out, err, _):
        try:
            COMMAND.main(args=words, prog_name="memoranda")
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.stderr.flush()
        written = out.getvalue()
        assert isinstance(code, int)
        return Ended(code, as_text(written), as_text(err.getvalue()), written)


def as_text(written: bytes) -> str:
    return written.decode().replace("\r\n", "\n")


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
