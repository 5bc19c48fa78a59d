"""Tells a document from a list of memories, which people may take for each other. Pure."""

import re
from typing import Final

from memoranda.memories.transfer.formats import listed

LOOKED_AT: Final = 50_000
"""Characters of a file that are looked at."""
LONG: Final = 500
"""Characters that few entries of a list have, and most paragraphs of a document."""

_MARKUP: Final = re.compile(
    r"\s{0,3}#{1,6}\s+\S"  # a heading
    r"|\s*\|?\s*:?-{3,}:?\s*\|"  # the rule below a table's head
    r"|\s*(?:```|~~~)"  # code
    r"|\s*</?[A-Za-z][^>]*>"  # HTML
    r"|.*!?\[[^\]]*\]\([^)\s]+\)"  # a link or a picture
    r"|\s{0,3}(?:={3,}|-{3,})\s*$"  # the line below a heading, or around front matter
)
LOOKS: Final = (
    "This looks like a document and not like memories. A list of memories has one on each line, or a bullet or "
    "a date before each, and no headings, links, tables or code. Give a document to memoranda knowledge add; "
    "if each line of this is a memory, say so: --from chatgpt, or source=chatgpt."
)


def looks(text: str) -> bool:
    """Whether plain text is Markdown of some length or prose: no list that is dated is either."""
    if listed.looks_dated(text):
        return False
    beginning = text[:LOOKED_AT]
    if any(map(_MARKUP.match, beginning.splitlines())):
        return True
    lengths = [len(piece.text) for piece in listed.pieces(beginning)]
    return sum(length > LONG for length in lengths) * 2 > len(lengths)
