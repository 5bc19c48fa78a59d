"""Gemini's parts in one spelling: camel case and base64, as they are on the wire."""

import base64
import re
from typing import Any, Final

Item = dict[str, Any]

AS_THEY_ARE: Final = {"args", "response", "partMetadata", "part_metadata"}
"""What a model or a host wrote: its keys are its own."""
BYTES: Final = {"data", "thoughtSignature"}


def spelled(part: Item) -> Item:
    """The part with the names that the wire has; bytes become base64 of the standard alphabet."""
    return {
        _camel(key): _value(_camel(key), value) for key, value in part.items() if value is not None
    }


def _value(key: str, value: Any) -> Any:
    if key in AS_THEY_ARE:
        return value
    if key in BYTES and isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if key in BYTES and isinstance(value, str):
        return _standard(value)
    if isinstance(value, dict):
        return spelled(value)
    if isinstance(value, list):
        return [spelled(inner) if isinstance(inner, dict) else inner for inner in value]
    return value


def _standard(encoded: str) -> str:
    """Base64 with + and /, which every provider reads, for one with - and _."""
    plain = encoded.translate(str.maketrans("-_", "+/"))
    return plain + "=" * (-len(plain) % 4)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)
