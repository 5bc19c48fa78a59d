"""What a write of memories has to know beside its own arguments."""

from typing import Final, NamedTuple

from memoranda.memories.limits import MemoryLimits


class Ways(NamedTuple):
    """How many memories there may be, and the models whose vectors a text gets; none without an embedder."""

    limits: MemoryLimits = MemoryLimits()
    models: tuple[str, ...] = ()


DEFAULT_WAYS: Final = Ways()
