"""Writes what frameworks keep as lines of an export. Pure: the same values make the same bytes."""

import json
from collections import Counter
from typing import Any, Final

from pydantic import BaseModel

from memoranda.kept.models import KeptEnd

FORMAT: Final = "memoranda-kept"
VERSION: Final = 1
# Line ends to some readers and not to JSON; within a text, where alone they can stand, they may be escaped.
_LINE_ENDS: Final = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def header() -> str:
    """The first line."""
    return _line({"format": FORMAT, "version": VERSION})


_OF_KIND: Final = {
    "item": "items",
    "thread": "threads",
    "part": "parts",
    "history": "histories",
    "history_entry": "history_entries",
    "session": "sessions",
    "session_event": "session_events",
    "session_state": "session_states",
    "branch": "branches",
    "branch_message": "branch_messages",
}


class Lines:
    """Writes values as lines, and counts them for the last one."""

    def __init__(self) -> None:
        self._written = Counter[str]()

    def line(self, kind: str, value: BaseModel, **beside: object) -> str:
        """A value with its kind, and what says whose it is and to which other one it belongs."""
        self._written[_OF_KIND[kind]] += 1
        # Last, since no field that a value may get by and by takes their place.
        return _line({"kind": kind} | value.model_dump(mode="json") | beside | {"kind": kind})

    def end(self) -> str:
        """The last line: how many there were of each kind."""
        counts = KeptEnd(**{name: self._written[name] for name in _OF_KIND.values()})
        return _line({"kind": "end", **counts.model_dump()})


def _line(fields: dict[str, Any]) -> str:
    written = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return written.translate(_LINE_ENDS) + "\n"
