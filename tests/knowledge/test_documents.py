"""Documents that other programs wrote: what is read of each, and what fails for which reason."""

from pathlib import Path

import pytest

from memoranda.knowledge.errors import UnreadableDocument
from memoranda.knowledge.extract import extract, kind_of

DOCUMENTS = Path(__file__).parent.parent / "data" / "documents"
LIMIT = 1 << 20
READ = {
    "AutoCad_Simple.pdf": ("EXAMPLE", "page 1"),
    "FormTestFromOo.pdf": ("DropList", "page 1"),
    "inkscape-abc.pdf": ("A\nB\nC", "page 1"),
    "libreoffice-form.pdf": ("Example for a Form", "page 1"),
    "multilang.pdf": ("你好世界", "page 1"),
    "pdflatex-forms.pdf": ("Submit", "page 1"),
    "pdflatex-outline.pdf": ("information about the selected font", "page 3"),
    "r6-empty-password.pdf": ("pdf encryption test", "page 1"),
    "r6-user-password.pdf": ("pdf encryption test", "page 1"),
    "reportlab-inline-image.pdf": ("Test", "page 1"),
    "superscript-pdftex.pdf": ("means x", "page 1"),
    "two-different-pages.pdf": ("2", "page 2"),
    "blk-inner-content.docx": ("P3", ""),
    "comments-rich-para.docx": ("Some text worthy of note.", ""),
    "par-hyperlinks.docx": ("One awesome hyperlink.", ""),
    "par-known-paragraphs.docx": ("Normal paragraph", "Heading Paragraph"),
    "test.docx": ("python-docx was here too!", "python-docx was here!"),
    "fontconfig-user.html": (
        "black/white list fonts",
        "fonts-conf > Configuration File Format > <selectfont>",
    ),
    "libxslt-news.html": (
        "Windows build cleanups",
        "The XSLT C library for GNOME > News > 1.1.15: Sep 04 2005",
    ),
    "npm-link.html": (
        "- Default: 'dev' if the NODE_ENV",
        "npm-link @11.17.0 > Table of contents > Configuration > omit",
    ),
    "string_decoder.html": ("decoder.write(Buffer.from([0xE2]));\n", "String decoder"),
    "xtrans.html": (
        "listen ports may need to be reset",
        "Chapter 5. Exposed Transport Independent API > Core Interface API > Note",
    ),
    "debian-releases.csv": ("version: 7; codename: Wheezy; series: wheezy", "rows 13-16"),
    "msft.csv": ("Date: 7-Aug-03; Open: 25.72", "rows 32-37"),
}
FAILED = {
    "imagemagick-CCITTFaxDecode.pdf": "scanned_document",
    "libreoffice-writer-password.pdf": "encrypted_document",
    "doc-word-default-blank.docx": "empty_document",
    "tbl-having-tables.docx": "empty_document",
}


@pytest.mark.parametrize("name", READ)
def test_a_document_of_another_program_is_read_with_its_places(name: str) -> None:
    text, place = READ[name]
    data = (DOCUMENTS / name).read_bytes()
    chunks = extract(data, kind_of(name, data), limit=LIMIT)
    assert place in [chunk.place for chunk in chunks if text in chunk.text]


@pytest.mark.parametrize("name", FAILED)
def test_a_document_that_says_nothing_fails_for_its_own_reason(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    with pytest.raises(UnreadableDocument) as caught:
        extract(data, kind_of(name, data), limit=LIMIT)
    assert caught.value.code == FAILED[name]


def test_comments_on_a_document_are_not_read() -> None:
    data = (DOCUMENTS / "comments-rich-para.docx").read_bytes()
    said = " ".join(chunk.text for chunk in extract(data, "docx", limit=LIMIT))
    assert "annotation" not in said
    assert "comment" not in said.casefold()


def test_each_document_is_tried_and_named_with_its_license() -> None:
    files = {path.name for path in DOCUMENTS.iterdir()} - {"LICENSES.md"}
    assert files == {*READ, *FAILED}
    assert sum((DOCUMENTS / name).stat().st_size for name in files) < 3_000_000
