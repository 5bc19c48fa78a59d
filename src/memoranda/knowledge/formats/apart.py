"""Reads a document in a process of its own, so that none can hang, exhaust or end this one."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any, Final

from memoranda.knowledge.errors import (
    DocumentTooLarge,
    ReadingBroke,
    ReadingTooSlow,
    TooMuchText,
    UnreadableDocument,
)
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.child import OUT_OF_TIME, written_of
from memoranda.knowledge.formats.warm import (
    CAN_FORK,
    LOOK_SECONDS,
    Ended,
    Overlong,
    WarmReaders,
    command,
)
from memoranda.knowledge.formats.written import Written
from memoranda.knowledge.models import SourceKind
from memoranda.words.errors import MemorandaError, error_types

_OUT_OF_TIME: Final = {OUT_OF_TIME, -getattr(signal, "SIGXCPU", 24)}
_GRACE_SECONDS: Final = 5
_ANSWER_FOR_EACH: Final = 8
"""Bytes of an answer for each character of a text, at the most: what JSON needs, and places."""
_ANSWER_AT_LEAST: Final = 1 << 26

WARM: Final = WarmReaders() if CAN_FORK else None
"""This process's own; without any, each document has a process that is started for it."""


def read_apart(
    data: bytes,
    kind: SourceKind,
    limit: int,
    bounds: Bounds,
    keep_on: Callable[[], object] = lambda: None,
    *,
    warm: WarmReaders | None = WARM,
) -> Written:
    """The text of a document. Raises the UnreadableDocument that says why there is none.

    `keep_on` is called several times a second; whatever it raises ends the reading process too.
    """
    asked = {"kind": kind, "limit": limit, "bounds": asdict(bounds)}
    look = _look(bounds, keep_on)
    try:
        if warm is None:
            said = _answered(_read_once(asked, data, look))
        else:
            with warm.lend() as reader:
                said = _answered(reader.read(asked, data, _longest_answer(bounds), look))
    except Ended as ended:
        if ended.code in _OUT_OF_TIME:
            raise _too_slow(bounds) from None
        raise ReadingBroke(
            "Reading the document took more memory than it may, or broke the program that reads it. "
            "Split it into parts, or save it in another format."
        ) from None
    except Overlong:
        raise TooMuchText(
            "The document holds more text and headings than are taken in. Split it into parts.",
            limit=bounds.characters,
        ) from None
    if isinstance(said, MemorandaError):
        raise said
    return said


def _longest_answer(bounds: Bounds) -> int:
    return max(_ANSWER_AT_LEAST, _ANSWER_FOR_EACH * bounds.characters)


def _look(bounds: Bounds, keep_on: Callable[[], object]) -> Callable[[], None]:
    until = time.monotonic() + bounds.seconds + _GRACE_SECONDS

    def look() -> None:
        keep_on()
        if time.monotonic() > until:
            raise _too_slow(bounds)

    return look


def _read_once(asked: Mapping[str, Any], data: bytes, look: Callable[[], object]) -> bytes:
    """What a process answers that is started for this document. Raises `Ended`."""
    process = subprocess.Popen(  # noqa: S603 - this Python, with a program of ours
        command("memoranda.knowledge.formats.child", {**asked, "parent": os.getpid()}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=True,  # an interrupt from the keyboard is for whoever asked
    )
    with process:
        try:
            said = _answer(process, data, look)
        finally:
            process.kill()
    if process.returncode != 0:
        raise Ended(process.returncode)
    return said


def _answer(process: "subprocess.Popen[bytes]", data: bytes, look: Callable[[], object]) -> bytes:
    threading.Thread(target=_feed, args=(process.stdin, data), daemon=True).start()
    process.stdin = None  # the thread's, which writes on while the answer is awaited in turns
    while True:
        look()
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=LOOK_SECONDS)[0]


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


def _answered(answer: bytes) -> Written | MemorandaError:
    """What the document says, or why it can't be read. Raises `Ended` for what is no answer."""
    try:
        said = json.loads(answer)
        if "code" in said:
            return _error_of(said["code"])(said["message"], **said["details"])
        return written_of(said)
    except (ValueError, TypeError, LookupError, RecursionError):
        raise Ended(None) from None


def _error_of(code: str) -> type[MemorandaError]:
    known = (each for each in error_types(UnreadableDocument) if each.code == code)
    return DocumentTooLarge if code == DocumentTooLarge.code else next(known, UnreadableDocument)
