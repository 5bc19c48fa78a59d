"""The one cursor of every paged list: where the last page ended, sealed so that nobody edits it."""

import base64
import binascii
import hashlib
from typing import Final
from uuid import UUID

from memoranda.words.errors import Invalid

_SEAL_BYTES: Final = 8
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
    try:
        sealed = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        sealed = b""
    last, seal = sealed[:16], sealed[16:]
    if len(cursor) != _LENGTH or seal != _seal(listing, last):
        raise Invalid(
            "This cursor was not made for this list, or it was changed on the way: "
            "start again without a cursor.",
            field="cursor",
        )
    return UUID(bytes=last)


def _seal(listing: str, last: bytes) -> bytes:
    """Catches a slip or a cursor of another list; a row's id gives nobody rights, so no secret is needed."""
    return hashlib.sha256(b"%b:%b" % (listing.encode(), last)).digest()[:_SEAL_BYTES]
