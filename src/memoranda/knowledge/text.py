"""Bytes to text, or the reason why they are none."""

import codecs
import re
from typing import Final

from memoranda.knowledge.errors import (
    BinaryFile,
    DocumentTooLarge,
    EmptyDocument,
    TooManyChunks,
    WrongEncoding,
)
from memoranda.words.text import clean

MOST_CHUNKS: Final = 250_000
"""The most chunks of a document. A full page has a few: this many are headings or turns of a word each."""

# The longer mark first: UTF-32's begins like UTF-16's.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KNOWN_FILES: Final = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a SQLite database"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS: Final = 0.01
_OWN_KIND: Final = "Add it with its own kind, or without one."
_READABLE: Final = "Add it as UTF-8 text."


def read_text(data: bytes, limit: int) -> str:
    """Decode UTF-8, or UTF-16 and UTF-32 behind a byte order mark; lines end in a line feed.

    Raises DocumentTooLarge (over `limit` bytes), BinaryFile, WrongEncoding or EmptyDocument.
    """
    check_size(data, limit)
    refuse_known_file(data)
    text = _decode(data)
    if len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text):
        raise _binary("a binary file")
    if not text.strip():
        raise EmptyDocument("The file is empty. Add one that holds text.")
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


def check_size(data: bytes, limit: int) -> None:
    """Raise DocumentTooLarge over `limit` bytes."""
    if len(data) > limit:
        raise DocumentTooLarge(
            f"The file has {len(data):,} bytes, and {limit:,} is the most. Split it into parts.",
            size=len(data),
            limit=limit,
        )


def check_chunks(count: int) -> None:
    """Raise TooManyChunks for a document that falls into more than are taken in."""
    if count > MOST_CHUNKS:
        raise TooManyChunks(
            f"The document falls into more than {MOST_CHUNKS:,} passages. Split it into parts.",
            limit=MOST_CHUNKS,
        )


def refuse_known_file(data: bytes) -> None:
    """Raise BinaryFile with what the file is, where its first bytes tell."""
    for start, name in _KNOWN_FILES:
        if data.startswith(start):
            raise _binary(name, _OWN_KIND if start == b"%PDF-" else _READABLE)


def refuse_bytes(data: bytes) -> None:
    """Raise BinaryFile for a NUL in what does not begin as UTF-16 or UTF-32 does."""
    if b"\0" in data and _marked(data) is None:
        raise _binary("a binary file, or UTF-16 without a byte order mark")


def _marked(data: bytes) -> str | None:
    return next((name for mark, name in _MARKS if data.startswith(mark)), None)


def _decode(data: bytes) -> str:
    refuse_bytes(data)
    encoding = _marked(data) or "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise WrongEncoding(
            f"The file is not valid {error.encoding.upper()} at byte {error.start}. "
            "Save it as UTF-8 and add it again.",
            offset=error.start,
        ) from None


def _binary(what: str, advice: str = _READABLE) -> BinaryFile:
    return BinaryFile(f"The file is {what}, not text. {advice}")
