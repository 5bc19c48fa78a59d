"""Reads single values of other products' files: texts, times, lists, whatever they turn out to be. Pure."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

BROKEN: Final = "broken_line"
INVALID: Final = "invalid_input"
Object = Mapping[str, Any]


def text(value: object) -> str | None:
    """The text, unless it is none or blank."""
    return value if isinstance(value, str) and value.strip() else None


def name(value: object) -> str | None:
    """What somebody is called; a number is a name too."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < 128 else None
    return text(value)


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list, or the one text."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if not isinstance(value, list | tuple):
        return ()
    return tuple(each for each in value if isinstance(each, str) and each.strip())


def objects(value: object) -> list[Object] | None:
    """The list, where it is one of objects alone."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return value
    return None


def time(value: object) -> datetime | None:
    """A time, of ISO text or of seconds since 1970; without a zone it is in UTC. None for anything else."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC) if math.isfinite(value) else None
        if not isinstance(value, str):
            return None
        read = datetime.fromisoformat(value.strip())
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def inner_json(value: object) -> object:
    """What a text that holds JSON states; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def spelled_out(value: Object) -> str | None:
    """An object without a text of its own as lines of `name: value`; None where it has no plain value."""
    lines = [
        f"{key}: {plain}" for key, each in value.items() if (plain := _plain(each)) is not None
    ]
    return "\n".join(lines) or None


def _plain(value: object) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value) if abs(value) < 1e300 else None
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return None
