"""Readers that stay warm: each has a document read in a process that it forks, one after another."""

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from memoranda.knowledge.formats.child import READERS

CAN_FORK: Final = hasattr(os, "fork") and hasattr(socket, "send_fds")
DOCUMENTS: Final = 100
"""How many documents a reader serves before another takes its place."""
IDLE_SECONDS: Final = 60.0
"""How long a reader waits for the next document before it is ended."""

LOOK_SECONDS: Final = 0.2
_LAST_SECONDS: Final = 1.0
_PART: Final = 1 << 18
# Nothing but what this process imports from: no site, no environment, no current folder.
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"
)

Readers = Mapping[str, tuple[str, str]]


class Ended(Exception):
    """The process that read ended without an answer, with this code; None where that is not known."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class Overlong(Exception):
    """The process that read answers without end."""


def command(module: str, asked: Mapping[str, Any]) -> list[str]:
    """How this Python runs a module's `main` apart, with what it is asked as its second argument."""
    paths = [str(Path(path).absolute()) for path in sys.path]
    start = _START.format(module=module)
    return [sys.executable, "-I", "-S", "-c", start, json.dumps(paths), json.dumps(asked)]


class WarmReader:
    """A process that forks one for each document, of which there is one at a time."""

    def __init__(self, readers: Readers = READERS) -> None:
        self.served = 0
        self._control, theirs = socket.socketpair()
        asked = {"parent": os.getpid(), "readers": readers}
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - this Python, with a program of ours
                command("memoranda.knowledge.formats.forks", asked),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt from the keyboard is for whoever asked
            )

    def read(
        self, asked: Mapping[str, Any], data: bytes, most: int, look: Callable[[], object]
    ) -> bytes:
        """What the forked process answers, of at most `most` bytes. Raises `Ended` and `Overlong`.

        `look` is called several times a second; after whatever it raises, this reader has to be ended.
        """
        self.served += 1
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                try:
                    request = json.dumps(asked).encode() + b"\n"
                    socket.send_fds(self._control, [request], [theirs.fileno()])
                except OSError:
                    raise Ended(None) from None
            said = _exchanged(ours, data, most, look)
        code = self._code(look)
        if code != 0:
            raise Ended(code)
        return said

    def _code(self, look: Callable[[], object]) -> int | None:
        """How the forked process ended."""
        self._control.settimeout(LOOK_SECONDS)
        said = b""
        while not said.endswith(b"\n"):
            try:
                part = self._control.recv(100)
            except TimeoutError:
                look()
                continue
            except OSError:
                return None
            if not part:
                return None
            said += part
        self._control.settimeout(None)
        return int(said)

    @property
    def alive(self) -> bool:
        """Whether the process can serve another document."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process, with the one that it forked."""
        self._control.close()  # which it takes as its end, and the forked one's, wherever that has gone
        try:
            self.process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def leave(self) -> None:
        """Forget the process without ending it: it is another's."""
        self._control.close()
        self.process.returncode = 0  # nobody here waits for it


def _exchanged(ours: socket.socket, data: bytes, most: int, look: Callable[[], object]) -> bytes:
    """Send the document and read until the other end is closed."""
    ours.setblocking(False)
    left, said = memoryview(data), bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(ours, selectors.EVENT_READ | selectors.EVENT_WRITE)
        while True:
            look()
            for _, events in ready.select(LOOK_SECONDS):
                if events & selectors.EVENT_WRITE:
                    left = _sent(ours, left)
                    if not left:
                        with suppress(OSError):
                            ours.shutdown(socket.SHUT_WR)
                        ready.modify(ours, selectors.EVENT_READ)
                if events & selectors.EVENT_READ:
                    part = _received(ours)
                    if part == b"":
                        return bytes(said)
                    said += part or b""
                    if len(said) > most:
                        raise Overlong


def _sent(ours: socket.socket, left: memoryview) -> memoryview:
    """What is left to send; a process that has ended needs no more of it."""
    try:
        return left[ours.send(left[:_PART]) :]
    except BlockingIOError:
        return left
    except OSError:
        return left[:0]


def _received(ours: socket.socket) -> bytes | None:
    """The next part; empty at the end, None where there is none yet."""
    try:
        return ours.recv(_PART)
    except BlockingIOError:
        return None
    except OSError:
        return b""


class WarmReaders:
    """Lends a reader to each document. One is kept for the next, for as long as it is quick to have it."""

    def __init__(
        self,
        *,
        documents: int = DOCUMENTS,
        idle_seconds: float = IDLE_SECONDS,
        readers: Readers = READERS,
    ) -> None:
        self._documents = documents
        self._idle_seconds = idle_seconds
        self._readers = readers
        self._changing = threading.Lock()
        self._idle: WarmReader | None = None
        self._timer: threading.Timer | None = None
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._leave)

    @contextmanager
    def lend(self) -> Iterator[WarmReader]:
        """A reader for one document. After any fault within, it is ended with what it forked."""
        reader = self._taken() or WarmReader(self._readers)
        try:
            yield reader
        except BaseException:
            reader.end()
            raise
        if reader.served >= self._documents or not reader.alive or not self._kept(reader):
            reader.end()

    def close(self) -> None:
        """End the reader that waits."""
        if reader := self._taken():
            reader.end()

    def _taken(self) -> WarmReader | None:
        with self._changing:
            reader, self._idle = self._idle, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        if reader is not None and not reader.alive:
            reader.end()
            return None
        return reader

    def _kept(self, reader: WarmReader) -> bool:
        with self._changing:
            if self._idle is not None:
                return False
            self._idle = reader
            self._timer = threading.Timer(self._idle_seconds, self._retire, args=(reader,))
            self._timer.daemon = True
            self._timer.start()
            return True

    def _retire(self, reader: WarmReader) -> None:
        with self._changing:
            if self._idle is not reader:
                return
            self._idle = None
        reader.end()

    def _leave(self) -> None:
        """In a process that was forked off this one: the reader stays with the other."""
        self._changing = threading.Lock()
        reader, self._idle, self._timer = self._idle, None, None
        if reader is not None:
            reader.leave()
