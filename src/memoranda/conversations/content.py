"""Content as text for a column and back, with nothing changed on the way. Pure."""

import json
import math
from typing import Any, Final

from memoranda.conversations.models import Content
from memoranda.words.errors import Invalid
from memoranda.words.inputs import check_storable

DEEPEST: Final = 64
"""Levels of lists and objects that a block may have."""
WIDEST_NUMBER_BITS: Final = 1024
NO_METADATA: Final = "{}"
# Made once, because json.dumps with options makes an encoder on every call.
_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def check_content(field: str, content: Content) -> None:
    """Raise `Invalid`, naming the very place, for what could not be stored and read back the same."""
    if not _fine(content, DEEPEST):
        _check(field, content, DEEPEST)


def check_metadata(field: str, metadata: dict[str, Any]) -> None:
    """As `check_content`, for what is known of a message besides."""
    if not _fine(metadata, DEEPEST):
        _check(field, metadata, DEEPEST)


def written(content: Content) -> str:
    """Checked content as one JSON text; keys keep their order, since a provider may tell the difference."""
    return _JSON(content)


def written_metadata(metadata: dict[str, Any]) -> str:
    """Checked metadata, likewise."""
    return _JSON(metadata) if metadata else NO_METADATA


def read(text: str) -> Content:
    """What was written."""
    content: Content = json.loads(text)
    return content


def read_metadata(text: str) -> dict[str, Any]:
    """What was written."""
    metadata: dict[str, Any] = {} if text == NO_METADATA else json.loads(text)
    return metadata


def _fine(value: object, levels: int) -> bool:
    """Whether nothing is wrong, without the names of places, which cost more than all the rest.

    Where it is not plain to see, it says no.
    """
    if type(value) is str:
        return _fine_text(value)
    if type(value) is dict:
        return levels > 0 and all(
            type(key) is str and _fine_text(key) and _fine(part, levels - 1)
            for key, part in value.items()
        )
    if type(value) is list:
        return levels > 0 and all(_fine(part, levels - 1) for part in value)
    return _plain(value)


def _fine_text(text: str) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check(field: str, value: object, levels: int) -> None:
    if isinstance(value, str):
        check_storable(field, value)
    elif isinstance(value, dict | list):
        if levels == 0:
            raise Invalid(
                f"{field} is nested more than {DEEPEST} levels deep: flatten it.", field=field
            )
        _check_parts(field, value, levels - 1)
    elif not _plain(value):
        raise Invalid(
            f"{field} is not JSON: use objects, lists, texts, finite numbers, true, false and null.",
            field=field,
        )


def _check_parts(field: str, value: dict[object, object] | list[object], levels: int) -> None:
    if isinstance(value, list):
        for place, part in enumerate(value):
            _check(f"{field}.{place}", part, levels)
        return
    for key, part in value.items():
        if not isinstance(key, str):
            raise Invalid(
                f"{field} has a key that is no text: JSON has no other keys.", field=field
            )
        check_storable(field, key)
        _check(f"{field}.{key}", part, levels)


def _plain(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value.bit_length() <= WIDEST_NUMBER_BITS
    return isinstance(value, float) and math.isfinite(value)
