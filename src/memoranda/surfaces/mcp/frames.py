"""Messages as lines of text: how they are read, and what is said to a line that is none."""

import json
import os
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

LONGEST_LINE: Final = 4 * 1024 * 1024
PIECE: Final = 64 * 1024


class Misread(NamedTuple):
    """A line that is no message, and what to answer to it."""

    answer: JSONRPCError


def lines(source: int, *, longest: int = LONGEST_LINE) -> Iterator[bytes | None]:
    """The lines that come from the descriptor `source`, to its end; None for each that is too long."""
    held, dropping = bytearray(), False
    while piece := os.read(source, PIECE):
        *whole, rest = piece.split(b"\n")
        for part in whole:
            yield None if dropping or len(held) + len(part) > longest else bytes(held) + part
            held.clear()
            dropping = False
        held += rest
        if len(held) > longest:
            held.clear()
            dropping = True
    if held or dropping:
        yield None if dropping else bytes(held)


def message_in(line: bytes | None) -> JSONRPCMessage | Misread:
    """The message that a line states."""
    if line is None:
        return _misread(None, INVALID_REQUEST, f"A message has at most {LONGEST_LINE} bytes.")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _why(line)
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        return _why(line)  # a request whose id is none, and no notification
    return message


def _why(line: bytes) -> Misread:
    """What is wrong with a line, told to the request that it was to be where that much can be read."""
    try:
        said: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _misread(None, PARSE_ERROR, "This line is no JSON in UTF-8.")
    identity = said.get("id") if isinstance(said, dict) else None
    known = identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None
    return _misread(
        known,
        INVALID_REQUEST,
        "This line is no message of JSON-RPC 2.0, or it holds a text that is no Unicode.",
    )


def _misread(identity: RequestId | None, code: int, message: str) -> Misread:
    error = ErrorData(code=code, message=message)
    return Misread(JSONRPCError(jsonrpc="2.0", id=identity, error=error))
