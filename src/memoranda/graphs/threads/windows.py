"""Which pieces of a row of parts are shown together, and what of a serialized part can be read. Pure."""

import base64
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_UNREADABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\ufffd]+")


class Piece(NamedTuple):
    """So many bytes of a part, from its byte `begin` on."""

    part: int
    begin: int
    size: int


def pieces(sizes: Sequence[int], after: int, most: int) -> tuple[list[Piece], int | None]:
    """The pieces of parts of these sizes that hold the `most` bytes from the byte `after` on of all together.

    Answers too where to go on, if anything follows. An empty part is shown once, with what stands before
    or behind it.
    """
    total, end = sum(sizes), after + most
    found: list[Piece] = []
    start = 0
    for part, size in enumerate(sizes):
        first, last = max(after, start), min(end, start + size)
        if first < last:
            found.append(Piece(part, first - start, last - first))
        elif not size and (after <= start < end or start == total <= end):
            found.append(Piece(part, 0, 0))
        start += size
    return found, end if end < total else None


def spelled(body: bytes) -> str:
    """The bytes in base64."""
    return base64.b64encode(body).decode("ascii")


def readable(body: bytes) -> str:
    """What of some bytes is text to people; all else is a space."""
    return _UNREADABLE.sub(" ", body.decode("utf-8", "replace")).strip()
