"""Makes, reads and hashes keys: `mk_<organization>_<secret>`."""

import hashlib
import re
import secrets
import string
from typing import Final
from uuid import UUID

from memoranda.storage import PLATFORM, Scope

# 43 of 62 characters are 256 bits: nobody guesses one, so a plain digest is all that has to be kept.
SECRET_LENGTH: Final = 43
_ALPHABET: Final = string.ascii_letters + string.digits
_KEY: Final = re.compile(rf"mk_([0-9a-f]{{32}}|platform)_[A-Za-z0-9]{{{SECRET_LENGTH}}}")


def mint(scope: Scope) -> str:
    """Make a new key of `scope`, with a secret of 256 random bits."""
    secret = "".join(secrets.choice(_ALPHABET) for _ in range(SECRET_LENGTH))
    return f"mk_{scope.hex if isinstance(scope, UUID) else 'platform'}_{secret}"


def scope_of(key: str) -> Scope | None:
    """Whose key it claims to be; None when no key looks like this."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    return PLATFORM if match[1] == "platform" else UUID(match[1])


def digest(key: str) -> str:
    """What is stored instead of the key.

    It covers the organization's part too, and it is what keys are found by: how
    long the search takes says something about a digest, and nothing about a key.
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
