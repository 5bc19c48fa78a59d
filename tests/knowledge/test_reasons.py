"""A document that can't be read says why, each reason with its own code; no bytes crash or hang the reading."""

import io
import os
import time
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PageObject

from memoranda.knowledge.errors import UnreadableDocument
from memoranda.knowledge.extract import extract
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.child import reader_of
from memoranda.knowledge.formats.told import check_kind
from memoranda.knowledge.models import SourceKind
from tests.knowledge.made_documents import docx, encrypted, ole, paragraph, pdf

LIMIT = 1 << 22
BOUNDS = Bounds()
KINDS: list[SourceKind] = ["pdf", "docx", "html", "csv"]
ENTITY = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def zipped(**parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


ZIPPED_SHEET = zipped(**{"xl/workbook.xml": b"<x/>"})


def reason(data: bytes, kind: SourceKind, bounds: Bounds = BOUNDS) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        extract(data, kind, limit=LIMIT, bounds=bounds)
    return caught.value


@pytest.mark.parametrize(
    ("data", "kind", "code", "advice"),
    [
        (encrypted(pdf("secret"), "pw"), "pdf", "encrypted_document", "without one"),
        (ole("EncryptedPackage"), "docx", "encrypted_document", "without one"),
        (pdf("", "", drawn="0 0 9 9 re f"), "pdf", "scanned_document", "OCR"),
        (pdf(""), "pdf", "empty_document", "holds text"),
        (docx(paragraph("")), "docx", "empty_document", "holds text"),
        (b"<script>x()</script>", "html", "empty_document", "holds text"),
        (b"\n \n", "csv", "empty_document", "holds text"),
        (b"", "pdf", "empty_document", "holds text"),
        (pdf("cut")[:200], "pdf", "broken_document", "save it anew"),
        (docx(paragraph("cut"))[:-40], "docx", "broken_document", "save it anew"),
        (docx("<w:p>"), "docx", "broken_document", "save it anew"),
        (docx(paragraph("&x;"), head=ENTITY), "docx", "broken_document", "declares entities"),
        (ole("WordDocument"), "text", "unsupported_document", "DOCX or PDF"),
        (ole("Workbook"), "csv", "unsupported_document", "CSV"),
        (ole("PowerPoint Document"), "pdf", "unsupported_document", "PDF"),
        (zipped(xl__workbook=b""), "csv", "binary_file", "Unpack"),
        (ZIPPED_SHEET, "csv", "unsupported_document", "CSV"),
        (b"\x89PNG\r\n\x1a\n", "pdf", "binary_file", "PNG picture"),
        (b"\x7fELF\x02\x01\x01", "docx", "binary_file", "program"),
        (b"MZ\x90\0\x03", "html", "binary_file", "program"),
        (b"{\\rtf1 hello}", "docx", "unsupported_document", "RTF"),
        (b"plain words", "pdf", "wrong_kind", "called PDF and is none"),
        (b"plain words", "docx", "wrong_kind", "called DOCX and is none"),
        (pdf("x"), "html", "wrong_kind", "The file is PDF"),
        (b"<div>" * 3_000, "html", "nested_too_deeply", "Save what it says as text"),
        (docx("<w:sdt><w:sdtContent>" * 2_000), "docx", "nested_too_deeply", "Save it as PDF"),
        (b"<meta charset=rot13><p>uryyb", "html", "wrong_encoding", "UTF-8"),
        (b"a,b\n\xff\xfe\xfa,1\n", "csv", "wrong_encoding", "UTF-8"),
    ],
)
def test_a_reason_has_a_code_and_says_what_to_do(
    data: bytes, kind: SourceKind, code: str, advice: str
) -> None:
    found = reason(data, kind)
    assert (found.code, advice in found.message) == (code, True), found.message


@pytest.mark.parametrize(
    ("data", "kind", "bounds", "code"),
    [
        (pdf("a", "b", "c"), "pdf", replace(BOUNDS, pages=2), "too_many_pages"),
        (b"a,b\n1,2\n3,4\n", "csv", replace(BOUNDS, cells=5), "too_many_cells"),
        (b"<table><tr><td>1<td>2<tr><td>3", "html", replace(BOUNDS, cells=2), "too_many_cells"),
        (
            docx(paragraph("a" * 100_000)),
            "docx",
            replace(BOUNDS, unpacked=9_000),
            "unpacked_too_large",
        ),
        (docx(paragraph("a")), "docx", replace(BOUNDS, parts=3), "unpacked_too_large"),
        (b"<p>" + b"word " * 100, "html", replace(BOUNDS, characters=99), "too_much_text"),
    ],
)
def test_each_bound_has_its_own_reason(
    data: bytes, kind: SourceKind, bounds: Bounds, code: str
) -> None:
    found = reason(data, kind, bounds)
    assert found.code == code
    assert found.details["limit"]


def test_what_an_archive_claims_of_its_size_is_not_believed() -> None:
    bomb = docx(paragraph("a"), more={"word/bomb.xml": b"<a/>" + bytes(3_000_000)})
    true, claimed = (3_000_004).to_bytes(4, "little"), (4).to_bytes(4, "little")
    assert reason(bomb.replace(true, claimed), "docx", replace(BOUNDS, unpacked=100_000)).code in {
        "broken_document",
        "unpacked_too_large",
    }


def test_a_document_that_takes_too_long_is_ended_and_may_be_tried_again() -> None:
    slow = b"<div>" * 120_000 + b"words"
    began = time.monotonic()
    found = reason(slow, "html", replace(BOUNDS, depth=1 << 30, seconds=1))
    assert (found.code, found.retryable) == ("reading_too_slow", True)
    assert time.monotonic() - began < 20


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of this kind")
def test_a_document_that_asks_for_too_much_memory_ends_its_own_process_alone() -> None:
    large = b"a,b\n" + b"1,2\n" * 400_000
    found = reason(large, "csv", replace(BOUNDS, memory=1 << 26))
    assert (found.code, found.retryable) == ("reading_broke", True)


def test_whoever_has_gone_waits_for_no_document() -> None:
    class Gone(Exception):
        pass

    def keep_on() -> None:
        raise Gone

    began = time.monotonic()
    with pytest.raises(Gone):
        extract(pdf("x"), "pdf", limit=LIMIT, keep_on=keep_on)
    assert time.monotonic() - began < 10


def in_here(data: bytes, kind: SourceKind) -> None:
    """Read as the reading process does, so that many tries are quick."""
    try:
        check_kind(data, kind)
        written = reader_of(kind)(data, LIMIT, BOUNDS)
    except UnreadableDocument:
        return
    assert all(0 <= each.start <= each.end <= len(written.text) for each in written.sections)
    written.text.encode()


@given(data=st.binary(max_size=2_000), kind=st.sampled_from(KINDS))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes, kind: SourceKind) -> None:
    start = {"pdf": b"%PDF-1.7\n", "docx": b"PK\x03\x04word/document", "html": b"<p>", "csv": b""}
    in_here(data, kind)
    in_here(start[kind] + data, kind)


@given(data=st.data(), kind=st.sampled_from(["pdf", "docx", "html"]))
@settings(max_examples=100, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_document_is_read_or_refused(data: st.DataObject, kind: SourceKind) -> None:
    whole = {
        "pdf": pdf("One", "Two"),
        "docx": docx(paragraph("Words", "H1")),
        "html": b"<h1>A</h1><table><tr><th>a<th>b<tr><td colspan=2>c</table><ul><li>x</ul>",
    }[kind]
    at = data.draw(st.integers(0, len(whole)))
    cut = data.draw(st.integers(0, 20))
    in_here(whole[:at] + data.draw(st.binary(max_size=8)) + whole[at + cut :], kind)


def test_a_page_that_takes_all_memory_ends_the_reading_and_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(*_: object, **__: object) -> str:
        raise MemoryError

    for part in ("extract_text", "get_contents"):
        with monkeypatch.context() as broken:
            broken.setattr(PageObject, part, exhausted)
            with pytest.raises(MemoryError):
                reader_of("pdf")(pdf(""), LIMIT, BOUNDS)
