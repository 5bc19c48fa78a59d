"""The process that reads one document: bounded, without network, and ended when it is done.

It takes the bytes from standard input and answers in JSON on standard output.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import IO, Any, Final

from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.told import check_kind
from memoranda.knowledge.formats.written import Written
from memoranda.words.errors import MemorandaError

_FORBIDDEN: Final = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "urllib.",
    "ftplib.",
    "http.client.",
    "smtplib.",
)
_READERS: Final = {
    "pdf": ("memoranda.knowledge.formats.pdf", "read_pdf"),
    "docx": ("memoranda.knowledge.formats.docx", "read_docx"),
    "html": ("memoranda.knowledge.formats.html", "read_html"),
    "csv": ("memoranda.knowledge.formats.table", "read_csv"),
}
OUT_OF_TIME: Final = 4
"""How the process ends when the document took too long."""

_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def main() -> None:
    """Read the document that comes in, and write what it says, or the reason why it can't be read."""
    asked = json.loads(sys.argv[2])
    bounds = Bounds(**asked["bounds"])
    answer = os.fdopen(os.dup(1), "wb")
    # What a library prints is no answer.
    sys.stdout = sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    _watch(asked["parent"], bounds.seconds)
    data = sys.stdin.buffer.read()
    read = reader_of(asked["kind"])
    _limit(bounds)
    sys.addaudithook(_refuse)
    _tell(answer, _read(read, data, asked, bounds))
    # Neither the collector nor a library's last words keep anybody waiting.
    os._exit(0)


def reader_of(kind: str) -> Callable[[bytes, int, Bounds], Written]:
    """What reads the kind; only its own library is loaded."""
    module, name = _READERS[kind]
    read: Callable[[bytes, int, Bounds], Written] = getattr(import_module(module), name)
    return read


def _read(
    read: Callable[[bytes, int, Bounds], Written],
    data: bytes,
    asked: dict[str, Any],
    bounds: Bounds,
) -> dict[str, Any]:
    try:
        check_kind(data, asked["kind"])
        written = read(data, asked["limit"], bounds)
    except MemorandaError as error:
        return {"code": error.code, "message": error.message, "details": error.details}
    except MemoryError:
        os._exit(1)
    sections = [[each.start, each.end, each.headings, each.place] for each in written.sections]
    return {
        "text": written.text,
        "sections": sections,
        "unit": written.unit,
        "first": written.first,
    }


def _tell(answer: IO[bytes], said: dict[str, Any]) -> None:
    with answer:
        answer.write(json.dumps(said, ensure_ascii=False).encode())


def _watch(parent: int, seconds: int) -> None:
    """End with the process that asked, or when the time is over."""

    def watch() -> None:
        until = time.monotonic() + seconds
        while os.getppid() == parent:
            if time.monotonic() >= until:
                os._exit(OUT_OF_TIME)
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _limit(bounds: Bounds) -> None:
    """Hold the process to its memory and time where the system can; it writes no file and leaves no dump."""
    if sys.platform == "win32":
        return
    resource = import_module("resource")
    for what, most in (
        (resource.RLIMIT_AS, bounds.memory),
        (resource.RLIMIT_CPU, bounds.seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            _, hard = resource.getrlimit(what)
            if hard == resource.RLIM_INFINITY or most <= hard:
                resource.setrlimit(what, (most, hard))
        except (OSError, ValueError):  # not every system has every limit
            continue


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Keep what reads a stranger's document from the network, from other programs and from writing files."""
    if event.startswith(_FORBIDDEN):
        raise PermissionError(event)
    if event == "open" and len(arguments) > 2:
        _, mode, flags = arguments[:3]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (
            isinstance(flags, int) and flags & _WRITING
        ):
            raise PermissionError(event)
