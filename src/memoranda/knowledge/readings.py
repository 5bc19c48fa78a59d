"""The text of a chunk that is embedded: made of what its row holds, so that a switch makes the same."""

import re
from collections.abc import Sequence
from typing import Final, Protocol

_COUNTED: Final = re.compile(r"(?:line|row|page|slide)s? \d+(?:-\d+)?")
"""A place that says where and not what: it means nothing."""


class Said(Protocol):
    """A chunk, whether it was just cut or comes from the database."""

    @property
    def text(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def speaker(self) -> str | None: ...


def readings(title: str, chunks: Sequence[Said]) -> list[str]:
    """Return what is embedded for each chunk, in their order: the chunk by itself, without neighbors.

    A turn is what was said, without who said it: names are found by words, and here they would
    make all turns of a speaker alike. A document's chunk stands under its title and headings.
    """
    return [_reading(title, chunk) for chunk in chunks]


def _reading(title: str, chunk: Said) -> str:
    if chunk.speaker is not None:
        return chunk.text
    heading = "" if _COUNTED.fullmatch(chunk.place) else chunk.place
    above = heading if heading.startswith(title) else "\n".join(filter(None, (title, heading)))
    return "\n".join(filter(None, (above, chunk.text)))
