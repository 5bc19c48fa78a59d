"""What a file is by its first bytes, whatever it is called."""

from typing import Final

from memoranda.knowledge.errors import (
    BinaryFile,
    EmptyDocument,
    EncryptedDocument,
    UnreadableDocument,
    UnsupportedDocument,
    WrongKind,
)
from memoranda.knowledge.models import SourceKind

ZIP: Final = b"PK\x03\x04"
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF_WITHIN: Final = 1024
"""How far into a file the mark of a PDF may stand: some makers write something before it."""

_IN_OLE: Final = (
    ("WordDocument", "an old Word file (.doc). Save it as DOCX or PDF"),
    ("Workbook", "an old Excel file (.xls). Save its sheets as CSV"),
    ("PowerPoint Document", "an old PowerPoint file (.ppt). Save it as PDF"),
    ("__properties_version1.0", "an Outlook message. Save what it says as text"),
)
_IN_ZIP: Final = (
    (b"xl/workbook.", "an Excel file. Save its sheets as CSV"),
    (b"ppt/presentation.", "a PowerPoint file. Save it as PDF"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file. Save it as DOCX or PDF"),
    (b"application/epub", "an EPUB book. Save it as HTML or PDF"),
)
_NAMES: Final[dict[SourceKind, str]] = {
    "pdf": "PDF",
    "docx": "DOCX",
    "html": "HTML",
    "csv": "CSV",
    "text": "text",
    "markdown": "Markdown",
    "transcript": "a transcript",
}
_OTHERS: Final = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an XZ archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"SQLite format 3\0", "a SQLite database"),
)


def told_by_bytes(data: bytes) -> SourceKind | None:
    """The kind that the bytes are for certain, which is `pdf` or `docx`; None where only the name tells."""
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith(ZIP) and b"word/document" in data:
        return "docx"
    return None


def check_kind(data: bytes, kind: SourceKind) -> None:
    """Refuse bytes that are not of the kind, with what they are. Raises an UnreadableDocument."""
    if not data.strip(b"\0 \t\r\n"):
        raise EmptyDocument("The file is empty. Add one that holds text.")
    found = told_by_bytes(data)
    if found == kind or (kind == "pdf" and b"%PDF-" in data[:_PDF_WITHIN]):
        return
    if found is not None:
        raise WrongKind(
            f"The file is {_NAMES[found]}, and was added as {_NAMES[kind]}. "
            "Add it with its own kind, or without one."
        )
    refuse_other(data)
    if kind in {"pdf", "docx"}:
        raise WrongKind(
            f"The file is called {_NAMES[kind]} and is none. Add it under its own kind, or save it anew."
        )


def refuse_other(data: bytes) -> None:
    """Raise what tells the person which kind of file this is, if it is one that is never read."""
    if data.startswith(OLE):
        raise _in_ole(data)
    if data.startswith(ZIP):
        raise _in_zip(data)
    if data.startswith(b"{\\rtf"):
        raise UnsupportedDocument("The file is RTF. Save it as DOCX or PDF, and add that.")
    for start, name in _OTHERS:
        if data.startswith(start) and (start != b"MZ" or b"\0" in data[:256]):
            raise BinaryFile(f"The file is {name}, not text. Add what it says as text.")


def _in_ole(data: bytes) -> UnreadableDocument:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return EncryptedDocument(
            "The document is encrypted with a password. Save a copy without one, and add that."
        )
    for name, what in _IN_OLE:
        if name.encode("utf-16-le") in data:
            return UnsupportedDocument(f"The file is {what}, and add that.")
    return UnsupportedDocument("The file is an old Office document. Save it as DOCX or PDF.")


def _in_zip(data: bytes) -> UnreadableDocument:
    for mark, what in _IN_ZIP:
        if mark in data:
            return UnsupportedDocument(f"The file is {what}, and add that.")
    return BinaryFile(
        "The file is a ZIP archive or an Office document of another kind. "
        "Unpack it, or save it as PDF or CSV, and add that."
    )
