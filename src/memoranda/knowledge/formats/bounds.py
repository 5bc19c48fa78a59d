"""How much of a document is read, and how long and with how much memory."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most of each: what a document has, what is made of it, and what reading it may take.

    `unpacked` is the bytes of an Office document's parts, `characters` those of the text that
    is made of a document, `memory` the bytes that the reading process may ask for (where the
    system can hold it to that; Windows can't).
    """

    pages: int = 5_000
    unpacked: int = 200_000_000
    parts: int = 10_000
    cells: int = 2_000_000
    depth: int = 2_000
    characters: int = 20_000_000
    seconds: int = 120
    memory: int = 1 << 30
