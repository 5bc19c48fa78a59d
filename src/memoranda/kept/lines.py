"""Writes what frameworks keep as lines of an export. Pure: the same values make the same bytes."""

import json
from typing import Any, Final

from pydantic import BaseModel

FORMAT: Final = "memoranda-kept"
VERSION: Final = 1
# Line ends to some readers and not to JSON; within a text, where alone they can stand, they may be escaped.
_LINE_ENDS: Final = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def header() -> str:
    """The first line."""
    return _line({"format": FORMAT, "version": VERSION})


def line(kind: str, value: BaseModel, **beside: object) -> str:
    """A value with its kind, and what says to which other one it belongs."""
    return _line({"kind": kind, **beside, **value.model_dump(mode="json")})


def _line(fields: dict[str, Any]) -> str:
    written = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return written.translate(_LINE_ENDS) + "\n"
