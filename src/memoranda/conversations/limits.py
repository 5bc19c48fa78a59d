"""What a conversation may hold, and what of it a run is given."""

from dataclasses import dataclass
from typing import Final

from memoranda.conversations.caps import RESULT_CHARS
from memoranda.conversations.clearing import SEED_BYTES

MAX_BYTES: Final = 8 * 1024 * 1024
"""The bytes that a conversation may hold unless another limit is set."""


@dataclass(frozen=True)
class ConversationLimits:
    """The bytes that a conversation may hold; of what is loaded, the characters of a result and the bytes of all."""

    max_bytes: int = MAX_BYTES
    result_chars: int = RESULT_CHARS
    seed_bytes: int = SEED_BYTES


LIMITS: Final = ConversationLimits()
