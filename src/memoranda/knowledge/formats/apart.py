"""Reads a document in a process of its own, so that none can hang, exhaust or end this one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final

from memoranda.knowledge.errors import (
    DocumentTooLarge,
    ReadingBroke,
    ReadingTooSlow,
    UnreadableDocument,
)
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.child import OUT_OF_TIME
from memoranda.knowledge.formats.written import Written
from memoranda.knowledge.markdown import Section
from memoranda.knowledge.models import SourceKind
from memoranda.words.errors import MemorandaError, error_types

# Nothing but what this process imports from: no site, no environment, no current folder.
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from memoranda.knowledge.formats.child import main; main()"
)
_OUT_OF_TIME: Final = {OUT_OF_TIME, -getattr(signal, "SIGXCPU", 24)}
_LOOK_SECONDS: Final = 0.2
_GRACE_SECONDS: Final = 5


def read_apart(
    data: bytes,
    kind: SourceKind,
    limit: int,
    bounds: Bounds,
    keep_on: Callable[[], object] = lambda: None,
) -> Written:
    """The text of a document. Raises the UnreadableDocument that says why there is none.

    `keep_on` is called several times a second; whatever it raises ends the reading process too.
    """
    process = subprocess.Popen(  # noqa: S603 - this Python, with a program of ours
        _command(kind, limit, bounds),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=True,  # an interrupt from the keyboard is for whoever asked
    )
    with process:
        try:
            said = _answer(process, data, bounds, keep_on)
        finally:
            process.kill()
    if process.returncode in _OUT_OF_TIME:
        raise _too_slow(bounds)
    if process.returncode != 0:
        raise ReadingBroke(
            "Reading the document took more memory than it may, or broke the program that reads it. "
            "Split it into parts, or save it in another format."
        )
    return _written(json.loads(said))


def _command(kind: SourceKind, limit: int, bounds: Bounds) -> list[str]:
    paths = [str(Path(path).absolute()) for path in sys.path]
    asked = {"kind": kind, "limit": limit, "bounds": asdict(bounds), "parent": os.getpid()}
    return [sys.executable, "-I", "-S", "-c", _START, json.dumps(paths), json.dumps(asked)]


def _answer(
    process: "subprocess.Popen[bytes]", data: bytes, bounds: Bounds, keep_on: Callable[[], object]
) -> bytes:
    until = time.monotonic() + bounds.seconds + _GRACE_SECONDS
    threading.Thread(target=_feed, args=(process.stdin, data), daemon=True).start()
    process.stdin = None  # the thread's, which writes on while the answer is awaited in turns
    while True:
        keep_on()
        try:
            return process.communicate(timeout=_LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            pass
        if time.monotonic() > until:
            raise _too_slow(bounds)


def _feed(pipe: IO[bytes] | None, data: bytes) -> None:
    """Send the document; a process that has ended needs no more of it."""
    with suppress(OSError):
        if pipe is not None:
            with pipe:
                pipe.write(data)


def _too_slow(bounds: Bounds) -> ReadingTooSlow:
    return ReadingTooSlow(
        f"Reading the document took more than {bounds.seconds} seconds. "
        "Split it into parts, or save it in another format."
    )


def _written(said: dict[str, Any]) -> Written:
    if "code" in said:
        raise _error_of(said["code"])(said["message"], **said["details"])
    sections = (
        Section(start, end, tuple(headings), place)
        for start, end, headings, place in said["sections"]
    )
    return Written(said["text"], tuple(sections), said["unit"], said["first"])


def _error_of(code: str) -> type[MemorandaError]:
    known = (each for each in error_types(UnreadableDocument) if each.code == code)
    return DocumentTooLarge if code == DocumentTooLarge.code else next(known, UnreadableDocument)
