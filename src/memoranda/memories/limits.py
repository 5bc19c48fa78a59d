"""How much an organization may remember."""

from datetime import timedelta
from typing import Final, NamedTuple, Self

from memoranda.settings import Settings

LONGEST_TEXT: Final = 500
"""Characters that a memory's text may have, unless a setting says otherwise."""
LONGEST_TEXT_EVER: Final = 8_000
"""Characters that such a setting may allow."""
COLLECTION: Final = "memories"
"""The name of memories in the indexes of words and of meanings."""
UNUSED_AFTER: Final = timedelta(days=182)
"""After so long without a change and without a run that was given it, a memory is suggested for review."""
KEPT_WHEN_FORGOTTEN: Final = timedelta(days=30)
"""How long a forgotten memory or a discarded proposal may be restored; then it is purged."""


class MemoryLimits(NamedTuple):
    """What an organization may have: active and pinned memories, waiting proposals, characters of a text."""

    active: int = 2_000
    pinned: int = 20
    waiting: int = 200
    text_chars: int = LONGEST_TEXT

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those that the settings say."""
        return cls(
            active=settings.max_memories,
            pinned=settings.max_pinned,
            waiting=settings.max_proposals,
            text_chars=settings.max_memory_chars,
        )
