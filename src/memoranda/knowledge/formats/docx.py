"""DOCX to text: checked as an archive, then read through its HTML."""

import io
import re
import zipfile
from typing import Final

import mammoth

from memoranda.knowledge.errors import (
    BrokenDocument,
    EncryptedDocument,
    NestedTooDeeply,
    UnpackedTooLarge,
)
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.html import read_markup
from memoranda.knowledge.formats.written import Written

_ENCRYPTED_FLAG: Final = 0x1
_STYLES: Final = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
# A comment, a deletion and a picture say nothing here: the first two nobody reads on paper.
_DTD = re.compile(rb"<!DOCTYPE|<!ENTITY|<\0!\0D\0O\0C\0T|\0<\0!\0D\0O\0C\0T")
# Whatever a part is called, another may name it as one that holds text.
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*(?:<|\Z)")
_LOOKED_AT: Final = 512
_TAG = re.compile(rb"<(/?)[A-Za-z][^<>]*?(/?)>")


def read_docx(data: bytes, _limit: int, bounds: Bounds) -> Written:
    """Read a document of Word or another office program, without its comments and deleted text."""
    try:
        _check(data, bounds)
        html = mammoth.convert_to_html(
            io.BytesIO(data),
            style_map=_STYLES,
            convert_image=lambda _image: [],
            include_embedded_style_map=False,
            external_file_access=False,
        ).value
    except RecursionError:
        raise _too_deep(bounds) from None
    except MemoryError:
        raise
    except (BrokenDocument, EncryptedDocument, NestedTooDeeply, UnpackedTooLarge):
        raise
    except Exception as error:  # noqa: BLE001 - a broken archive or part raises of all kinds
        raise _broken(f"can't be read ({type(error).__name__})") from None
    return read_markup(html, bounds, named=True)


def _check(data: bytes, bounds: Bounds) -> None:
    """See before it is read that the archive is whole, bounded, open, and without entities."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        if len(parts) > bounds.parts:
            raise _too_large(bounds)
        left = bounds.unpacked
        for part in parts:
            if part.flag_bits & _ENCRYPTED_FLAG:
                raise EncryptedDocument(
                    "The document is encrypted with a password. Save a copy without one, and add that."
                )
            left -= _checked(archive, part, left, bounds)


def _checked(archive: zipfile.ZipFile, part: zipfile.ZipInfo, left: int, bounds: Bounds) -> int:
    """Unpack a part, at most `left` bytes of it whatever its header claims; how many it has."""
    if part.file_size > left:
        raise _too_large(bounds)
    with archive.open(part) as file:
        start = file.read(_LOOKED_AT)
        if not part.filename.endswith((".xml", ".rels")) and not _MARKUP.match(start):
            return part.file_size  # a picture or font: never unpacked
        content = start + file.read(max(0, left + 1 - len(start)))
    if len(content) > left:
        raise _too_large(bounds)
    if _DTD.search(content) and not part.filename.endswith(".svg"):
        raise _broken("declares entities, which no office program writes")
    depth = 0
    for tag in _TAG.finditer(content):
        depth += -1 if tag[1] else 0 if tag[2] else 1
        if depth > bounds.depth:
            raise _too_deep(bounds)
    return len(content)


def _too_large(bounds: Bounds) -> UnpackedTooLarge:
    return UnpackedTooLarge(
        f"The document unpacks to more than {bounds.unpacked:,} bytes or {bounds.parts:,} parts. "
        "Take out what is large in it, or split it.",
        limit=bounds.unpacked,
    )


def _too_deep(bounds: Bounds) -> NestedTooDeeply:
    return NestedTooDeeply(
        "The document nests tables or frames too deeply. Save it as PDF, and add that.",
        limit=bounds.depth,
    )


def _broken(what: str) -> BrokenDocument:
    return BrokenDocument(
        f"The DOCX file {what}. Open it in an office program, save it anew, and add that."
    )
