"""What a caller hands in, checked before anything is done with it: each refusal names its field."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Final, TypeVar

from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.said import quoted

SHORT_TEXT: Final = 200
"""Characters that a name, a slug or an external id may have."""

DEEPEST_JSON: Final = 100
"""Lists and objects within each other that JSON input may have."""

Choice = TypeVar("Choice", bound=StrEnum)

_NUMERAL: Final = re.compile(r"[+-]?[0-9._]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_ESCAPED_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def text_input(field: str, text: str, *, limit: int = SHORT_TEXT) -> str:
    """Return `text` trimmed; every store and wire can hold it.

    Raises `Invalid` for a blank text, a NUL or half of a surrogate pair, and
    `OverLimit` beyond `limit` characters.
    """
    check_storable(field, text)
    trimmed = text.strip()
    if not trimmed:
        raise Invalid(f"{field} is empty: give it some text.", field=field)
    check_length(field, trimmed, limit)
    return trimmed


def optional_text_input(field: str, text: str | None, *, limit: int = SHORT_TEXT) -> str | None:
    """`text_input`, where None is no text at all."""
    return None if text is None else text_input(field, text, limit=limit)


def check_storable(field: str, text: str) -> None:
    """Raise `Invalid` when `text` holds what no UTF-8 text column can: a NUL or a lone surrogate."""
    if "\0" in text:
        raise Invalid(f"{field} holds a NUL character: take it out.", field=field)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid(
            f"{field} holds half of a surrogate pair, which is no character: send whole characters.",
            field=field,
        ) from None


def check_length(field: str, text: str, limit: int) -> None:
    """Raise `OverLimit` when `text` has more than `limit` characters."""
    if len(text) > limit:
        raise OverLimit(
            f"{field} has {len(text)} characters and may have {limit}: shorten it.",
            field=field,
            limit=limit,
        )


def json_input(field: str, value: object, *, limit: int) -> Any:
    """Return `value` as it reads back from JSON: text keys, lists for tuples.

    Raises `Invalid` for what JSON can't say (NaN, other types), for what a text
    column can't hold, and beyond 100 levels; `OverLimit` beyond `limit` bytes of UTF-8.
    """
    _check_shape(field, value, limit)
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise Invalid(
            f"{field} is not JSON: use objects, lists, texts, finite numbers, true, false and null.",
            field=field,
        ) from None
    check_storable(field, written)
    if _ESCAPED_NUL.search(written):
        raise Invalid(f"{field} holds a NUL character: take it out.", field=field)
    if len(written.encode()) > limit:
        raise _too_large(field, limit)
    return json.loads(written)


def _check_shape(field: str, value: object, limit: int) -> None:
    """Level by level and not by recursion, so that no input is too deep or too wide to be measured."""
    level = [value]
    for _ in range(DEEPEST_JSON):
        level = list(islice(_within(level), limit + 1))
        if not level:
            return
        if len(level) > limit:  # no value is shorter than a byte
            raise _too_large(field, limit)
    raise Invalid(f"{field} is nested more than {DEEPEST_JSON} levels deep.", field=field)


def _within(level: list[object]) -> Iterator[object]:
    for outer in level:
        if isinstance(outer, dict):
            yield from outer.values()
        elif isinstance(outer, list | tuple):
            yield from outer


def _too_large(field: str, limit: int) -> OverLimit:
    return OverLimit(
        f"{field} has more than {limit} bytes as JSON: shorten it.", field=field, limit=limit
    )


def check_count(field: str, count: int, *, most: int) -> None:
    """Raise `Invalid` unless `count` is between 1 and `most`."""
    if not 1 <= count <= most:
        raise Invalid(f"{field} is {count} and must be between 1 and {most}.", field=field)


def time_input(field: str, time: datetime | None) -> datetime | None:
    """The time in UTC. Raises `Invalid` for one without a zone or beyond the calendar."""
    if time is None:
        return None
    check_zone(field, time)
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise Invalid(f"{field} lies beyond the calendar: leave it out.", field=field) from None


def is_written_time(value: object) -> bool:
    """Whether it may be a time at all: a text, and none that states a number.

    A number would be taken for seconds since 1970, or for milliseconds if it is large.
    """
    return isinstance(value, str) and not _NUMERAL.fullmatch(value.strip())


def check_zone(field: str, time: datetime | None) -> None:
    """Raise `Invalid` for a time that does not say its zone."""
    if time is not None and time.utcoffset() is None:
        raise Invalid(f"{field} names no time zone: add one, such as Z for UTC.", field=field)


def choice_input(field: str, value: str, choices: type[Choice]) -> Choice:
    """`value` as one of `choices`. Raises `Invalid`, which names them, for any other."""
    try:
        return choices(value)
    except ValueError:
        names = list(choices)
        known = " or ".join(names) if len(names) == 2 else f"one of {', '.join(names)}"
        raise Invalid(
            f"{field} is {quoted(str(value)) or 'another text'} and must be {known}.", field=field
        ) from None
