"""Bytes of any kind as text: marks of byte order, other encodings, archives. Pure, and bounded."""

import io
import json
import re
import zipfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterable, Iterator
from lzma import LZMAError
from typing import Final

from memoranda.memories.transfer.errors import ImportTooLarge, UnreadableImport
from memoranda.memories.transfer.limits import MEGABYTE, MOST_BYTES, MOST_MEMBERS
from memoranda.memories.transfer.models import ImportSource

_MARKS: Final = (  # the longer ones first: they begin with the shorter ones
    (BOM_UTF32_LE, "utf-32-le"),
    (BOM_UTF32_BE, "utf-32-be"),
    (BOM_UTF8, "utf-8"),
    (BOM_UTF16_LE, "utf-16-le"),
    (BOM_UTF16_BE, "utf-16-be"),
)
_ARCHIVE: Final = b"PK\x03\x04"
_LISTED: Final = b"PK\x01\x02"
_MOST_LISTED: Final = 20_000
_SAMPLE: Final = 64 * 1024
# Besides line ends and tabs; and what of the bytes is no UTF-8.
_ODD: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\udc80-\udcff]")
MEMORIES: Final = re.compile(r"(?:.*/)?memories(?:\.json|/[^/]+\.json)")
CONVERSATIONS: Final = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
LINES: Final = re.compile(r"(?:.*/)?[^/]+\.jsonl")
# What the archive's reader raises: NotImplementedError for a compression that it doesn't know, and
# RuntimeError for a member that is locked.
_BROKEN: Final = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
    LZMAError,
)


def joined(content: bytes | str | Iterable[bytes | str]) -> bytes | str:
    """All that was handed in. Raises `ImportTooLarge` as soon as it is more than may be."""
    if isinstance(content, bytes | str):
        _check(len(content))
        return content
    size, held = 0, []
    for part in content:
        whole = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else bytes(part)
        if isinstance(part, str) and not part.endswith("\n"):
            whole += b"\n"
        size += len(whole)
        _check(size)
        held.append(whole)
    return b"".join(held)


def texts_of(content: bytes | str, source: ImportSource) -> Iterator[str]:
    """The text of a file, or those of an archive that may hold memories. Raises `UnreadableImport`."""
    if isinstance(content, str):
        yield _checked(content)
    elif content.startswith(_ARCHIVE):
        for member in _members(content, source):
            yield decoded(member)
    else:
        yield decoded(content)


def decoded(content: bytes) -> str:
    """The text of some bytes; a byte that is no UTF-8 becomes half of a surrogate pair."""
    for mark, encoding in _MARKS:
        if content.startswith(mark) and encoding != "utf-8":
            return _checked(_strictly(content[len(mark) :], encoding))
    while content.startswith(BOM_UTF8):  # whoever saves a file again may add one more
        content = content.removeprefix(BOM_UTF8)
    guessed = json.detect_encoding(content[:4])
    if guessed.startswith(("utf-16", "utf-32")):
        start = content[:4].replace(b"\0", b"")
        if start[:1] in {b"{", b"["}:
            return _checked(_strictly(content, guessed))
    return _checked(content.decode("utf-8", "surrogateescape"))


def _strictly(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise UnreadableImport(
            f"The file begins as {encoding.upper()} and is none further on. Save it as UTF-8."
        ) from None


def _checked(text: str) -> str:
    """The text less marks before it. Raises `UnreadableImport` for what is empty, or no text at all."""
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise UnreadableImport("The file is empty: there is nothing to take in.")
    sample = text[:_SAMPLE]
    if len(_ODD.findall(sample)) * 20 > len(sample):
        raise UnreadableImport(
            "The file is no text. Name an export: JSON, JSON Lines, a list as plain text, or the "
            "archive that ChatGPT or Claude gives."
        )
    return text


def _members(content: bytes, source: ImportSource) -> Iterator[bytes]:
    """The files of an archive that may hold memories, by their names; nothing else of it is opened."""
    if content.count(_LISTED) > _MOST_LISTED:
        raise ImportTooLarge("The archive holds too many files.", limit=_MOST_LISTED)
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in _wanted(archive.infolist(), source):
                with archive.open(info) as file:
                    member = file.read(left + 1)
                left -= len(member)
                _check(MOST_BYTES - left)
                yield member
    except _BROKEN as error:
        raise UnreadableImport(
            "The archive can't be read: it is broken, encrypted or of an unusual kind. Unpack it, and "
            "name the file in it that holds the memories."
        ) from error


def _wanted(listed: list[zipfile.ZipInfo], source: ImportSource) -> list[zipfile.ZipInfo]:
    kinds = [MEMORIES, LINES, CONVERSATIONS]
    if source is ImportSource.CHATGPT:
        kinds = [CONVERSATIONS, MEMORIES]
    for kind in kinds:
        found = sorted(
            (info for info in listed if not info.is_dir() and kind.fullmatch(info.filename)),
            key=lambda info: info.filename,
        )
        if len(found) > MOST_MEMBERS:
            raise ImportTooLarge("The archive holds too many files.", limit=MOST_MEMBERS)
        if found:
            return found
    raise UnreadableImport(
        "The archive holds no file that memories are in: neither memories.json, nor "
        "conversations.json, nor JSON Lines."
    )


def _check(size: int) -> None:
    if size > MOST_BYTES:
        raise ImportTooLarge(
            f"This is more than the {MOST_BYTES // MEGABYTE} MB that are taken in at once. "
            "Cut it into several files.",
            limit=MOST_BYTES,
        )
