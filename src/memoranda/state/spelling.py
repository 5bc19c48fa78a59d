"""How values of a host's rows are spelled: ids as refs have them, fields as people read them. Pure."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

_LARGEST: Final = 2**63 - 1
_MILLISECONDS_FROM: Final = 1e11
"""Seconds of the year 5138, and milliseconds of 1973."""


def bound(kind: str, spelled: str) -> object | None:
    """The id as a column of this kind holds it; None for one that no row of it can have.

    An id has one spelling: `7` and not `07`, a UUID in lower case with its hyphens.
    """
    if kind == "integer":
        return _whole(spelled)
    if kind == "uuid":
        try:
            found = UUID(spelled)
        except ValueError:
            return None
        return found if str(found) == spelled else None
    return None if "\0" in spelled else spelled


def _whole(spelled: str) -> int | None:
    digits = spelled.removeprefix("-")
    if len(digits) > len(str(_LARGEST)) or not (digits.isascii() and digits.isdigit()):
        return None
    found = int(spelled)
    return found if str(found) == spelled and abs(found) <= _LARGEST else None


def said(value: object, kind: str = "other") -> str | None:
    """A field in words, the same from either database; None for one that says nothing.

    Times are in UTC, a time without a zone is taken for UTC; numbers have no exponent and no
    zeros at their end; booleans are yes and no.
    """
    if value is None or isinstance(value, bytes | memoryview):
        return None
    if kind == "boolean" and value in (0, 1):
        return "yes" if value else "no"
    if kind == "time" and isinstance(value, str):
        return _time(value)
    spelled = next(spell(value) for of, spell in _SPELLINGS if isinstance(value, of))
    return spelled.encode(errors="replace").decode()  # half of a surrogate pair is no character


def moment(value: object) -> datetime | None:
    """The time that a value says, in UTC; None where it says none.

    A number counts the seconds since 1970, or the milliseconds where it is too large for that.
    """
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, int | float | Decimal):
            seconds = float(value)
            return datetime.fromtimestamp(
                seconds if abs(seconds) < _MILLISECONDS_FROM else seconds / 1000, UTC
            )
        if isinstance(value, datetime):
            return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _number(value: Decimal) -> str:
    if not value.is_finite():
        return str(value)
    plain = format(value, "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain == "-0" else plain


def _time(value: str) -> str:
    """A time that SQLite keeps as text, where it is one; a day stays a day."""
    if len(value) <= len("2026-01-31"):
        return value
    try:
        return _in_utc(datetime.fromisoformat(value))
    except ValueError:
        return value


def _in_utc(value: datetime) -> str:
    zoned = value.replace(tzinfo=value.tzinfo or UTC)
    try:
        in_utc = zoned.astimezone(UTC)
    except OverflowError:  # a last day of the year 9999 may be over in UTC
        return zoned.isoformat()
    return in_utc.isoformat().replace("+00:00", "Z")


# The first that fits; a boolean is an integer, and a time of a day is a day.
_SPELLINGS: Final[tuple[tuple[Any, Callable[[Any], str]], ...]] = (
    (bool, lambda value: "yes" if value else "no"),
    (float, lambda value: _number(Decimal(repr(value)))),
    (Decimal, _number),
    (datetime, _in_utc),
    ((date, time), lambda value: value.isoformat()),
    ((list, dict), _json),
    (object, str),
)
