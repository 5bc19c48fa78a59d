"""A process that has loaded what reads documents, and forks for each: it never sees one itself.

Each request comes with an open end of a pair of sockets, on which the forked process gets
its document and answers. So none reaches another's, and what one document does to its
process is gone with it.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from memoranda.knowledge.formats.child import hush, read_one, reader_of

Readers = Mapping[str, tuple[str, str]]

_LOOK_SECONDS: Final = 5.0
_REQUEST: Final = 1 << 16


def main() -> None:
    """Serve one document at a time until whoever asks has gone; its end ends what is being read too."""
    asked = json.loads(sys.argv[2])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # what a host ignores would be ignored here too
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    hush()
    while (request := _next(control, asked["parent"])) is not None:
        if not _serve(control, request[0], request[1], asked["readers"]):
            break
    os._exit(0)


def _next(control: socket.socket, parent: int) -> tuple[dict[str, Any], int] | None:
    """The next request and the socket that came with it; None once nobody can ask any more."""
    said, sockets = b"", list[int]()
    while not said.endswith(b"\n"):
        ready, _, _ = select.select([control], [], [], _LOOK_SECONDS)
        if ready:
            part, more, _, _ = socket.recv_fds(control, _REQUEST, 1)
            if not part:
                return None
            said, sockets = said + part, sockets + more
        elif os.getppid() != parent:
            return None
    return json.loads(said), sockets[0]


def _serve(control: socket.socket, asked: dict[str, Any], end: int, readers: Readers) -> bool:
    """Have a document read; False once nobody waits for it any more."""
    with suppress(Exception):  # what can't be loaded fails where it is asked for
        reader_of(asked["kind"], readers)
    gc.collect()
    gc.freeze()  # what is shared stays shared
    own, life, held = os.getpid(), *os.pipe()
    child = os.fork()
    if child == 0:
        try:
            control.close()
            os.close(life)
            with os.fdopen(end, "rb") as document, os.fdopen(os.dup(end), "wb") as answer:
                read_one(asked, document, answer, parent=own, readers=readers)
        finally:
            os._exit(1)
    os.close(end)
    os.close(held)  # the forked process alone holds it now: it closes when that ends
    ready, _, _ = select.select([control.fileno(), life], [], [])
    os.close(life)
    if control.fileno() in ready:  # no next document comes before this one is answered
        os.kill(child, signal.SIGKILL)
        return False
    _, status = os.waitpid(child, 0)
    with suppress(OSError):
        control.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return True
