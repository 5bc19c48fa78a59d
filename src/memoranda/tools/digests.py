"""What stands for what a call asked for, once nothing of that is kept. Pure, but for the salt."""

import hashlib
import hmac
import secrets
from typing import Final

_SALT_BYTES: Final = 16


def salted(asked: bytes) -> tuple[bytes, bytes]:
    """A new salt, and the digest under it; of a short text no other digest of the same is like it."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return salt, _digest(salt, asked)


def is_of(salt: bytes, digest: bytes, asked: bytes) -> bool:
    """Whether the digest stands for what is asked."""
    return hmac.compare_digest(digest, _digest(salt, asked))


def _digest(salt: bytes, asked: bytes) -> bytes:
    return hmac.digest(salt, asked, hashlib.sha256)
