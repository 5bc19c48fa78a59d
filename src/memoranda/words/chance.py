"""Pauses before another try, of which no two are alike."""

from random import SystemRandom
from typing import Final

_CHANCE: Final = SystemRandom()


def spread(pause_s: float) -> float:
    """By chance half of a pause up to all of it, in seconds, so that those who wait don't all come back at once."""
    return pause_s * _CHANCE.uniform(0.5, 1)
