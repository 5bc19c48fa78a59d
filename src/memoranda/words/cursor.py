"""The one cursor of every paged list: where the last page ended, sealed so that nobody edits it."""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from memoranda.words.errors import Invalid

_SEAL_BYTES: Final = 8
_LONGEST: Final = 4096
MOST_SEEN: Final = (_LONGEST // 4 * 3 - _SEAL_BYTES) // 16
"""How many rows a cursor of a ranking can name."""
_BETWEEN: Final = "\0"
_LENGTH: Final = 32  # 16 bytes of id and 8 of seal, in base64: no padding and no spare bits


def make_cursor(listing: str, last: UUID) -> str:
    """Write down that a page of `listing` ended with the row `last`.

    A list that pages in the order of its ids goes on from there whatever was
    added or removed meanwhile.
    """
    return base64.urlsafe_b64encode(last.bytes + _seal(listing, last.bytes)).decode("ascii")


def read_cursor(listing: str, cursor: str | None) -> UUID | None:
    """The row that the page ended with; None without a cursor, where a list begins.

    Raises `Invalid` for anything but a cursor of `listing`.
    """
    if cursor is None:
        return None
    sealed = _unsealed(cursor) if len(cursor) == _LENGTH else b""
    last, seal = sealed[:16], sealed[16:]
    if not last or seal != _seal(listing, last):
        raise _not_ours()
    return UUID(bytes=last)


def make_seen_cursor(listing: str, seen: Sequence[UUID]) -> str:
    """Write down what the pages of a ranked `listing` have shown so far.

    A ranking has no place to go on from: what is said between two pages may change it. Whoever
    knows what was shown shows nothing twice, and leaves nothing out that is still found. It names
    `MOST_SEEN` rows at most.
    """
    if len(seen) > MOST_SEEN:
        raise ValueError(f"A cursor names {MOST_SEEN} rows at most, and these are {len(seen)}.")
    shown = b"".join(each.bytes for each in seen)
    return base64.urlsafe_b64encode(shown + _seal(listing, shown)).decode("ascii")


def read_seen_cursor(listing: str, cursor: str | None) -> tuple[UUID, ...]:
    """What was shown; nothing without a cursor. Raises `Invalid` for anything but a cursor of `listing`."""
    if cursor is None:
        return ()
    sealed = _unsealed(cursor) if len(cursor) <= _LONGEST else b""
    shown, seal = sealed[:-_SEAL_BYTES], sealed[-_SEAL_BYTES:]
    # Only one spelling: bits that base64 would drop are somebody's edit too.
    spelled = base64.urlsafe_b64encode(sealed).decode("ascii")
    if not shown or len(shown) % 16 or spelled != cursor or seal != _seal(listing, shown):
        raise _not_ours()
    return tuple(UUID(bytes=shown[at : at + 16]) for at in range(0, len(shown), 16))


def make_named_cursor(listing: str, last: Sequence[str]) -> str:
    """Write down that a page of `listing` ended with the row of these names, for rows that have no id.

    No name holds a NUL, which stands between them.
    """
    named = _BETWEEN.join(last).encode()
    return base64.urlsafe_b64encode(named + _seal(listing, named)).decode("ascii")


def read_named_cursor(listing: str, cursor: str | None, names: int) -> tuple[str, ...] | None:
    """The names of the row that the page ended with, so many; None without a cursor.

    Raises `Invalid` for anything but a cursor of `listing`.
    """
    if cursor is None:
        return None
    sealed = _unsealed(cursor) if len(cursor) <= _LONGEST else b""
    named, seal = sealed[:-_SEAL_BYTES], sealed[-_SEAL_BYTES:]
    spelled = base64.urlsafe_b64encode(sealed).decode("ascii")
    if not named or spelled != cursor or seal != _seal(listing, named):
        raise _not_ours()
    try:
        found = tuple(named.decode().split(_BETWEEN))
    except UnicodeDecodeError:
        raise _not_ours() from None
    if len(found) != names:
        raise _not_ours()
    return found


def read_owned_cursor(listing: str, cursor: str | None) -> tuple[UUID, str] | None:
    """Likewise, where the first name is the id of whose the row is."""
    found = read_named_cursor(listing, cursor, 2)
    if found is None:
        return None
    try:
        return UUID(found[0]), found[1]
    except ValueError:
        raise _not_ours() from None


def _unsealed(cursor: str) -> bytes:
    try:
        return base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return b""


def _not_ours() -> Invalid:
    return Invalid(
        "This cursor was not made for this list, or it was changed on the way: "
        "start again without a cursor.",
        field="cursor",
    )


def _seal(listing: str, last: bytes) -> bytes:
    """Catches a slip or a cursor of another list; a row's id gives nobody rights, so no secret is needed."""
    return hashlib.sha256(b"%b:%b" % (listing.encode("utf-8", "surrogatepass"), last)).digest()[
        :_SEAL_BYTES
    ]
