"""PDF to text, page by page, under the headings of its outline."""

import io
from collections.abc import Callable
from typing import Any, TypeVar

import pypdf.filters  # noqa: F401 - pypdf loads it late, and then each document's own process would
from pypdf import PasswordType, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from memoranda.knowledge.errors import (
    BrokenDocument,
    EncryptedDocument,
    ScannedDocument,
    TooManyPages,
)
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.written import LONGEST_HEADING, Writer, Written
from memoranda.words.text import clean

_DEEPEST_OUTLINE = 6

T = TypeVar("T")
# What pypdf lets out where a file is damaged.
_FAULTS = (
    *(PyPdfError, ValueError, TypeError, AttributeError, LookupError),
    *(AssertionError, ArithmeticError, OSError, RuntimeError),
)


def read_pdf(data: bytes, _limit: int, bounds: Bounds) -> Written:
    """Read the text that a PDF holds; what is only drawn or photographed is not read."""
    try:
        return _read(_opened(data), bounds)
    except _FAULTS as error:
        raise _broken(error) from None


def _opened(data: bytes) -> PdfReader:
    reader = PdfReader(io.BytesIO(data), strict=False)
    try:
        # Many are encrypted with an empty password: anybody may open and read them.
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
    except DependencyError:
        locked = True
    if locked:
        raise EncryptedDocument(
            "The PDF is encrypted with a password. Save a copy without one, and add that."
        )
    return reader


def _read(reader: PdfReader, bounds: Bounds) -> Written:
    count = len(reader.pages)
    if count > bounds.pages:
        raise TooManyPages(
            f"The PDF has {count:,} pages, and {bounds.pages:,} is the most. Split it into parts.",
            pages=count,
            limit=bounds.pages,
        )
    outline = _outline(reader)
    writer = Writer(bounds.characters)
    headings: tuple[str, ...] = ()
    broken, pictures = 0, False
    for number, page in enumerate(reader.pages):
        headings = outline.get(number, headings)
        text = _told(page.extract_text, None)
        if text is None:
            broken += 1
            continue
        writer.page(text, f"page {number + 1}", headings)
        pictures = pictures or (not text.strip() and _draws(page))
    written = writer.written()
    if not written.text and broken:
        raise _broken(None)
    if not written.text and pictures:
        raise ScannedDocument(
            "The PDF holds pictures of pages and no text. Run it through text recognition (OCR), "
            "then add the result."
        )
    return written


def _outline(reader: PdfReader) -> dict[int, tuple[str, ...]]:
    """For each page at which an entry of the outline points, the last such entry and those above it."""
    found: dict[int, tuple[str, ...]] = {}

    def walk(entries: list[Any], above: tuple[str, ...]) -> None:
        last = above
        for entry in entries:
            if isinstance(entry, list):
                if len(last) < _DEEPEST_OUTLINE:
                    walk(entry, last)
                continue
            title = " ".join(clean(str(entry.title or "")).split())[:LONGEST_HEADING]
            last = (*above, title) if title else above
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0:
                found.setdefault(page, last)

    def whole() -> dict[int, tuple[str, ...]]:
        walk(reader.outline, ())
        return found

    return _told(whole, {})


def _draws(page: Any) -> bool:
    """Whether there is anything but white on the page."""

    def drawn() -> bool:
        contents = page.get_contents()
        return contents is not None and bool(contents.get_data().strip())

    return _told(drawn, False)


def _told(read: Callable[[], T], otherwise: T) -> T:
    """What a part of the document says; a part that is damaged takes no other with it."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - of all kinds: pypdf meets what is damaged wherever it happens to look
        return otherwise


def _broken(error: Exception | None) -> BrokenDocument:
    what = f" ({type(error).__name__})" if error else ""
    return BrokenDocument(
        f"The PDF is damaged and can't be read{what}. Open it in a viewer, save it anew, and add that."
    )
