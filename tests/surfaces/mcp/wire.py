"""The command without a client library: lines in, lines out, for what no decent client sends."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.surfaces.cli.terminal import RUN
from tests.surfaces.mcp.clients import environment

PATIENCE = 60.0


@dataclass
class Wire:
    """A running `memoranda mcp`, and everything that it has said on standard output."""

    process: "subprocess.Popen[bytes]"
    held: bytes = b""

    def send(self, *messages: object) -> None:
        """Send messages; bytes as they are, everything else as a line of JSON."""
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(line)
        self.process.stdin.flush()

    def ask(self, method: str, identity: int | str = 1, **params: Any) -> Any:
        """Ask, and return the whole answer to this very request."""
        self.send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return self.answer(identity)

    def answer(self, identity: object) -> Any:
        """The answer that carries this id; every line before it has to be a message too."""
        while True:
            message = self.message()
            if "method" not in message and message["id"] == identity:
                return message

    def message(self) -> Any:
        """The next message."""
        assert self.process.stdout is not None
        until = time.monotonic() + PATIENCE
        while b"\n" not in self.held:
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            assert ready, "nothing was said in time"
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            assert piece, f"standard output ended: {self.process.stderr.read()!r}"
            self.held += piece
        line, _, self.held = self.held.partition(b"\n")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def greet(self) -> Any:
        """The handshake of 2025; what the server says of itself."""
        client = {"name": "wire", "version": "1"}
        said = self.ask(
            "initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo=client
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return said["result"]

    def call(self, tool: str, identity: int | str = 1, **arguments: Any) -> Any:
        """Call a tool; its result."""
        answer = self.ask("tools/call", identity, name=tool, arguments=arguments)
        return answer["result"]

    def leave(self) -> tuple[bytes, bytes]:
        """Close the pipe and wait for the end; what is left on standard output, and standard error."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.held + out, err


@contextmanager
def wired(*words: str, program: str = RUN, **env: str) -> Iterator[Wire]:
    """Start the command; it does not outlive the block."""
    with subprocess.Popen(
        [sys.executable, "-c", program, "mcp", *words],
        env=environment(**env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()
