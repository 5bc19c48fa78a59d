"""What graphs may keep: sizes of names, of items and of checkpoints' parts."""

from typing import Final

from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_storable

LARGEST_VALUE: Final = 1_000_000
"""Bytes that an item's value may have as JSON."""
LARGEST_BODY: Final = 16 * 1024 * 1024
"""Bytes that one serialized part of a checkpoint may have."""
LONGEST_NAMESPACE: Final = 1_000
"""Bytes that a namespace may have as text."""
LONGEST_NAME: Final = 500
"""Bytes that a key, a thread's id or a channel's name may have; an index has to hold them together."""
LONGEST_ID: Final = 200
"""Bytes that the id of a checkpoint, a task or a run, or a version, may have."""
MOST_ASKED: Final = 10_000
"""Items or namespaces that one search or list may answer."""
LAST_OFFSET: Final = 2**31 - 1


def name_input(field: str, name: str, *, limit: int = LONGEST_NAME, blank: bool = False) -> str:
    """The name as it is. Raises `Invalid` for what no store can hold, and `OverLimit` beyond `limit` bytes."""
    check_storable(field, name)
    if not name and not blank:
        raise Invalid(f"{field} is empty: give it some text.", field=field)
    size = len(name.encode())
    if size > limit:
        raise OverLimit(
            f"{field} has {size} bytes and may have {limit}: shorten it.", field=field, limit=limit
        )
    return name


def check_body(field: str, body: bytes) -> None:
    """Raise `OverLimit` for a serialized part that is too large."""
    if len(body) > LARGEST_BODY:
        raise OverLimit(
            f"{field} has {len(body)} bytes and may have {LARGEST_BODY}: keep less in the graph's state.",
            field=field,
            limit=LARGEST_BODY,
        )
