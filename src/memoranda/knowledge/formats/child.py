"""How a process of its own reads one document: bounded, without network, and ended when it is done."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, Final, NoReturn

from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.told import check_kind
from memoranda.knowledge.formats.written import Written
from memoranda.knowledge.markdown import Section
from memoranda.words.errors import MemorandaError

_FORBIDDEN: Final = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.kill",
    "signal.pthread_kill",
    "urllib.",
    "ftplib.",
    "http.client.",
    "smtplib.",
)
READERS: Final[dict[str, tuple[str, str]]] = {
    "pdf": ("memoranda.knowledge.formats.pdf", "read_pdf"),
    "docx": ("memoranda.knowledge.formats.docx", "read_docx"),
    "html": ("memoranda.knowledge.formats.html", "read_html"),
    "csv": ("memoranda.knowledge.formats.table", "read_csv"),
}
"""Which function of which module reads a kind."""

OUT_OF_TIME: Final = 4
"""How the process ends when the document took too long."""

_LAST_SECONDS: Final = 5
"""So long after it was told that its time is over, the system ends the process."""
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

Read = Callable[[bytes, int, Bounds], Written]


def main() -> None:
    """Read the document that comes in on standard input, and answer on standard output.

    For systems on which a process can't be forked.
    """
    asked = json.loads(sys.argv[2])
    answer = os.fdopen(os.dup(1), "wb")
    hush()
    read_one(asked, sys.stdin.buffer, answer, parent=asked["parent"])


def hush() -> None:
    """Let nothing that a library prints be an answer."""
    sys.stdout = sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def read_one(
    asked: Mapping[str, Any],
    document: IO[bytes],
    answer: IO[bytes],
    *,
    parent: int,
    readers: Mapping[str, tuple[str, str]] = READERS,
) -> NoReturn:
    """Read the document, write what it says or the reason why it can't be read, and end this process.

    The process ends with its `parent` too, and when the time is over.
    """
    bounds = Bounds(**asked["bounds"])
    _watch(parent, bounds.seconds)
    data = document.read()
    read = reader_of(asked["kind"], readers)
    _limit(bounds)
    sys.addaudithook(_refuse)
    _tell(answer, _read(read, data, asked, bounds))
    # Neither the collector nor a library's last words keep anybody waiting.
    os._exit(0)


def reader_of(kind: str, readers: Mapping[str, tuple[str, str]] = READERS) -> Read:
    """What reads the kind; only its own library is loaded."""
    module, name = readers[kind]
    read: Read = getattr(import_module(module), name)
    return read


def _read(read: Read, data: bytes, asked: Mapping[str, Any], bounds: Bounds) -> dict[str, Any]:
    try:
        check_kind(data, asked["kind"])
        written = read(data, asked["limit"], bounds)
    except MemorandaError as error:
        return {"code": error.code, "message": error.message, "details": error.details}
    except MemoryError:
        os._exit(1)
    return said_of(written)


def said_of(written: Written) -> dict[str, Any]:
    """What was read, as JSON. Headings are told once: a section names those above it by their number."""
    headings: dict[str, int] = {}
    sections = [
        [
            *(each.start, each.end),
            [headings.setdefault(heading, len(headings)) for heading in each.headings],
            each.place,
        ]
        for each in written.sections
    ]
    return {
        "text": written.text,
        "headings": list(headings),
        "sections": sections,
        "unit": written.unit,
        "first": written.first,
    }


def written_of(said: Mapping[str, Any]) -> Written:
    """The text and its sections, of what `said_of` made."""
    headings = said["headings"]
    sections = (
        Section(start, end, tuple(headings[number] for number in numbers), place)
        for start, end, numbers, place in said["sections"]
    )
    return Written(said["text"], tuple(sections), said["unit"], said["first"])


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
    """Hold the process for good, where the system can, to its memory and time, and to no file, dump or other process."""
    if sys.platform == "win32":
        return
    resource = import_module("resource")
    for name, most, last in (
        ("RLIMIT_AS", bounds.memory, 0),
        ("RLIMIT_CPU", bounds.seconds, _LAST_SECONDS),
        ("RLIMIT_CORE", 0, 0),
        ("RLIMIT_FSIZE", 0, 0),
        ("RLIMIT_NPROC", 0, 0),
    ):
        with suppress(AttributeError, OSError, ValueError):  # not every system has every limit
            what = getattr(resource, name)
            _, hard = resource.getrlimit(what)
            free = hard == resource.RLIM_INFINITY
            limits = (most, most + last) if free else (min(most, hard), min(most + last, hard))
            resource.setrlimit(what, limits)


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
