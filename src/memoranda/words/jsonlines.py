"""Values as lines of JSON, one each. Pure: the same value makes the same bytes."""

import json
from collections.abc import Mapping
from typing import Any, Final

# Line ends to some readers and not to JSON; within a text, where alone they can stand, they may be escaped.
_LINE_ENDS: Final = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def json_line(value: Mapping[str, Any]) -> str:
    """The value on one line, with a line feed at its end, and none for any reader before it."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return f"{written if written.isascii() else written.translate(_LINE_ENDS)}\n"
