"""A file's text as it is kept: byte for byte what was sent, if it may be kept at all. Pure."""

import hashlib
import re
from typing import Final, NamedTuple

from memoranda.files.errors import FileTooLarge
from memoranda.files.models import MOST_BYTES
from memoranda.words.errors import Invalid
from memoranda.words.inputs import check_storable
from memoranda.words.secrets.check import check_no_secret

_HASH: Final = re.compile(r"[0-9a-f]{64}")


class Body(NamedTuple):
    """A text that was checked, its hash and its size in bytes."""

    text: str
    hash: str
    bytes: int


def hash_of(text: str) -> str:
    """The SHA-256 of a body, which stands for it where a write says what it was made from."""
    return hashlib.sha256(text.encode()).hexdigest()


EMPTY: Final = Body("", hash_of(""), 0)


def body_input(text: str, *, field: str = "body") -> Body:
    """The text, unchanged. Raises `Invalid` for a NUL or half of a surrogate pair, `FileTooLarge`, `SecretFound`."""
    check_storable(field, text)
    size = len(text.encode())
    if size > MOST_BYTES:
        raise FileTooLarge(
            f"{field} has {size} bytes of UTF-8 and may have {MOST_BYTES}: shorten it.",
            field=field,
            limit=MOST_BYTES,
            bytes=size,
        )
    check_no_secret(field, text)
    return Body(text, hash_of(text), size)


def hash_input(field: str, value: str) -> str:
    """The hash that a caller read. Raises `Invalid` for what can be none."""
    if not _HASH.fullmatch(value):
        raise Invalid(
            f"{field} is no hash: give the hash that the file had when you read it, 64 of 0-9 and a-f.",
            field=field,
        )
    return value
