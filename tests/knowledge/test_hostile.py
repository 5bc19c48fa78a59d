"""Documents that are made to hang, exhaust or mislead whoever reads them are read in their time, or refused."""

import io
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from memoranda.knowledge import text
from memoranda.knowledge.errors import TooManyChunks, UnreadableDocument
from memoranda.knowledge.extract import extract
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.child import reader_of
from memoranda.knowledge.models import SourceKind
from tests.knowledge.made_documents import docx, paragraph, pdf

LIMIT = 1 << 24
BOUNDS = replace(Bounds(), seconds=20)
WORDS = b"BT /F1 9 Tf (hello words) Tj ET"
PAGE = (
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
    "/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>"
)
FORM = "/Type /XObject /Subtype /Form /Resources << /XObject << /X 6 0 R >> >> "


def said(data: bytes, kind: SourceKind) -> str:
    """What is read, or the code of the reason."""
    try:
        return " ".join(chunk.text for chunk in extract(data, kind, limit=LIMIT, bounds=BOUNDS))
    except UnreadableDocument as error:
        return error.code


@contextmanager
def soon(seconds: float) -> Iterator[None]:
    """What is within takes less of this process's own time."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


def stream(data: bytes, extra: str = "") -> str:
    return f"<< /Length {len(data)} {extra}>>\nstream\n{data.decode('latin-1')}\nendstream"


def made(**changed: str) -> bytes:
    """A PDF of a page, with these of its objects changed; `more` is a seventh."""
    objects = {
        "catalog": "<< /Type /Catalog /Pages 2 0 R /Outlines 7 0 R >>",
        "pages": "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "page": PAGE,
        "content": stream(WORDS),
        "font": "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "form": stream(b"", FORM),
        "more": "<< >>",
    } | changed
    numbered = enumerate(objects.values(), start=1)
    body = "".join(f"{number} 0 obj\n{each}\nendobj\n" for number, each in numbered)
    end = "trailer\n<< /Size 8 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"
    return f"%PDF-1.4\n{body}{end}".encode("latin-1")


def flattened(data: bytes, times: int) -> str:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return stream(data, f"/Filter [{'/FlateDecode ' * times}] ")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (made(), "hello words"),
        (made(pages="<< /Type /Pages /Kids [2 0 R] /Count 1 >>"), "broken_document"),
        (made(pages="<< /Type /Pages /Kids [3 0 R] /Count 1000000000000 >>"), "hello words"),
        (made(page=PAGE.replace("/Parent 2 0 R", "/Parent 3 0 R")), "hello words"),
        (made(content="7 0 R", more="4 0 R"), "empty_document"),
        (
            made(content=f"<< /Length 4 0 R >>\nstream\n{WORDS.decode()}\nendstream"),
            "broken_document",
        ),
        (made(content=stream(b"/X Do " + WORDS), form=stream(b"/X Do", FORM)), "hello words"),
        (made(more="<< /First 7 0 R /Last 7 0 R /Next 7 0 R /Title (a) >>"), "hello words"),
        (made(more="[" * 50_000 + "]" * 50_000), "hello words"),
        (made(content=flattened(b"BT (a) Tj ET " * 10_000_000, 1)), "broken_document"),
        (made(content=flattened(b"BT (a) Tj ET " * 10_000_000, 2)), "broken_document"),
    ],
)
def test_a_pdf_that_points_at_itself_or_swells_comes_to_an_end(data: bytes, found: str) -> None:
    assert said(data, "pdf") == found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (
            docx(paragraph("x"), more={"word/a.xml": b"<a>" + b" " * 250_000_000}),
            "unpacked_too_large",
        ),
        (
            docx(paragraph("x"), more={f"word/{n}.xml": b"" for n in range(11_000)}),
            "unpacked_too_large",
        ),
        (
            docx("<w:tbl><w:tr><w:tc>" * 600 + paragraph("x") + "</w:tc></w:tr></w:tbl>" * 600),
            "nested_too_deeply",
        ),
        (docx(paragraph("x").replace("<w:p>", '<w:p w:a="1" w:a="2">')), "broken_document"),
    ],
)
def test_a_docx_that_swells_or_nests_without_end_is_refused(data: bytes, found: str) -> None:
    assert said(data, "docx") == found


@pytest.mark.parametrize("name", ["word/document.bin", "word/media/image1.png", "x"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n" * 600])
def test_what_a_docx_calls_its_text_makes_it_no_less_checked(name: str, start: bytes) -> None:
    whole = docx(paragraph("&x;"), head='<!DOCTYPE d [<!ENTITY x "words">]>')
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file, "w") as new:
        for part in old.namelist():
            content = old.read(part).replace(b"word/document.xml", name.encode())
            if part == "word/document.xml":
                content = start + content.removeprefix(b'<?xml version="1.0"?>')
            new.writestr(name if part == "word/document.xml" else part, content)
    assert said(file.getvalue() + b"word/document", "docx") == "broken_document"
    with pytest.raises(UnreadableDocument, match="declares entities"):
        extract(file.getvalue() + b"word/document", "docx", limit=LIMIT)


def test_a_picture_of_a_docx_may_be_a_drawing_with_a_doctype() -> None:
    drawing = b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x"><svg/>'
    pictures = {"word/media/image1.svg": drawing, "word/media/image2.png": b"\x89PNG" + b"<" * 600}
    assert said(docx(paragraph("words"), more=pictures), "docx") == "words"


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (b"<p>words" + b"<!--" * 2_000_000, "words"),
        (b"<p>words<!-- " + b"<div>" * 3_000 + b" -->", "words"),
        (b"<!-- x --><p>words" + b"<div>" * 2_001, "nested_too_deeply"),
        (b"<table><tr><td>" * 1_900 + b"x", "nested_too_deeply"),
        (b"<a><b><i><p>" * 600 + b"words" + b"</a></b></i>" * 600, "words"),
        (b"<svg>" + b"<g>" * 1_900 + b"unseen</svg><p>words", "words"),
        (b"<p>wor\0ds", "binary_file"),
        ("<p>wörds".encode("utf-16"), "wörds"),
        ("<p>wörds".encode("utf-16-le"), "binary_file"),
        ("<p>wörds".encode("utf-32"), "wörds"),
        (b"<meta charset=utf-7><p>+AGE-", "wrong_encoding"),
        (b"<meta charset=utf-16><p>words", "words"),
        (b"<meta charset=utf-8><p>w\xf6rds w\xf6rds", "wrong_encoding"),
    ],
)
def test_a_page_that_nests_hides_or_lies_is_read_or_refused(page: bytes, found: str) -> None:
    assert said(page, "html") == found


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (b"a,b\n1," + b"x" * 5_000_000, "x"),
        (b'a,b\n1,"' + b'""' * 2_000_000, '"'),
        (b'"' + b"a,b\n" * 500_000, "a,b"),
        (b"," * 3_000_000, "too_many_cells"),
        (b"a,b\n1,\0\n", "binary_file"),
        ("a,b\n1,ö\n".encode("utf-16"), "a: 1; b: ö"),
        ("a,b\n1,ö\n".encode("utf-16-le"), "binary_file"),
        ("a,b\n1,ö\n".encode("latin-1"), "wrong_encoding"),
        (",".join(["n" * 99] * 1_000).encode() + b"\n" + b"1," * 1_000_000, "column"),
    ],
)
def test_a_table_with_cells_without_end_or_in_another_encoding_is_read_or_refused(
    table: bytes, found: str
) -> None:
    assert found in said(table, "csv")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("page", "html"),
        ("table", "csv"),
        ("words", "text"),
        ("words", "markdown"),
        ("turns", "transcript"),
    ],
)
@pytest.mark.parametrize(
    "data", [pdf("x"), docx(paragraph("x")), b"\x89PNG\r\n\x1a\n\0", b"\x1f\x8b\x08\0"]
)
def test_a_file_whose_name_lies_is_refused_as_what_it_is(
    name: str, kind: SourceKind, data: bytes
) -> None:
    assert said(data, kind) in {"wrong_kind", "binary_file"}, name


@pytest.mark.parametrize(
    "line",
    [
        "# a" + " " * 2_000_000 + "b",
        "# a" + " #" * 1_000_000 + "b",
        "#" + "\t" * 2_000_000 + "#",
        "a\n=" + " " * 2_000_000 + "x",
        "<!--" * 500_000,
        "`" * 1_000_000 + "<!--",
        "[" * 2_000_000,
        "a" + "\u0301" * 1_000_000,
    ],
)
def test_an_endless_line_of_markdown_takes_no_longer_than_its_length(line: str) -> None:
    with soon(15):
        said(line.encode(), "markdown")


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("# a", "a"),
        ("# a #", "a"),
        ("## a ##  ", "a"),
        ("# a#", "a#"),
        ("# a # b", "a # b"),
        ("#\ta\t#", "a"),
        ("# #", ""),
        ("#", ""),
    ],
)
def test_a_heading_is_what_stands_between_its_marks(heading: str, text: str) -> None:
    [chunk] = extract(f"{heading}\nwords".encode(), "markdown", limit=LIMIT)
    assert (chunk.heading, chunk.text.strip()) == (text, "words")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"# a\nx\n" * 12, "markdown"),
        (b"word " * 4_000, "text"),
        (b'{"speaker": "a", "text": "b"}\n' * 12, "transcript"),
        (b"<h1>a</h1>x" * 12, "html"),
        (b"a,b\n" + b"word," * 4_000, "csv"),
        (pdf(*["words"] * 12), "pdf"),
    ],
)
def test_a_document_of_chunks_without_end_is_refused(
    data: bytes, kind: SourceKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "MOST_CHUNKS", 10)
    with pytest.raises(TooManyChunks, match="more than 10 passages") as refused:
        extract(data, kind, limit=LIMIT)
    assert refused.value.details == {"limit": 10}


def test_the_process_that_reads_stops_at_so_many_sections_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text, "MOST_CHUNKS", 10)
    for kind, data in (("html", b"<h1>a</h1>x" * 12), ("pdf", pdf(*["words"] * 12))):
        with pytest.raises(TooManyChunks):
            reader_of(kind)(data, LIMIT, BOUNDS)


def test_headings_above_many_others_are_told_once() -> None:
    above = "".join(f"<h{level}>{str(level) * 80}</h{level}>" for level in range(1, 6))
    page = above + "<h6>a</h6>x" * 20_000
    with soon(5):
        chunks = extract(
            page.encode(), "html", limit=LIMIT, bounds=replace(BOUNDS, characters=400_000)
        )
    assert len(chunks) == 20_000
    assert chunks[-1].place.endswith("> a")
