"""Measures ingestion: documents from upload to ready, beside the library that reads them, alone."""

import argparse
import asyncio
import csv
import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Final

import mammoth
from databases import database_options
from measure import Result, arguments, compare, in_loop, race, show
from places import Place, places
from pypdf import PdfReader
from selectolax.lexbor import LexborHTMLParser

from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.storage.signals import KNOWLEDGE

WORDS: Final = "the front dock is closed on Mondays so that every delivery goes to the back door"
PARAGRAPHS: Final = 2_000
PAGES: Final = 100
_numbers: Final = count(1)
_W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def main() -> None:
    """Print a table for each database."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    options = parser.parse_args()
    with places(options) as found:
        for place in found:
            results = asyncio.run(measured(place, options))
            show(f"Ingestion on {place.kind}", results, as_json=options.json)


async def measured(place: Place, options: argparse.Namespace) -> list[Result]:
    """Take each document in anew in every round, under a name of its own."""
    async with Memoranda.open(place.empty(), settings=Settings.load()) as product:
        return [
            await one(product, name, content, alone, options.rounds)
            for name, (content, alone) in documents().items()
        ]


async def one(
    product: Memoranda, name: str, content: bytes, alone: Callable[[bytes], object], rounds: int
) -> Result:
    async def ours() -> None:
        source = await product.knowledge.add(
            product.owner, content, title=name, uri=f"made:{next(_numbers)}/{name}"
        )
        await product.worker.drain(product.owner.organization_id, kind=KNOWLEDGE)
        ended = await product.knowledge.get(product.owner, source.id)
        assert ended.status == "ready", ended.reason

    rivals = {"ours": ours, "alone": in_loop(lambda: alone(content))}
    times = await race(rivals, rounds=rounds)
    found = compare(f"take in {name}", times, ours="ours", rival="alone")
    ours_rate, alone_rate = (
        len(content) / 1e6 / seconds * 60 for seconds in (found.ours_s, found.rival_s)
    )
    note = f"{len(content) / 1e6:.2f} MB: {ours_rate:,.1f} MB a minute, alone {alone_rate:,.1f}"
    return replace(found, rival=f"{alone.__name__}, alone", note=note)


def documents() -> dict[str, tuple[bytes, Callable[[bytes], object]]]:
    """A file of each format, and what reads it."""
    lines = [f"Delivery {number}: {WORDS}." for number in range(PARAGRAPHS)]
    return {
        "a.pdf": (pdf(lines), pypdf),
        "a.docx": (docx(lines), mammoth_html),
        "a.html": (
            "".join(f"<h2>{line[:12]}</h2><p>{line}" for line in lines).encode(),
            selectolax,
        ),
        "a.csv": (
            ("Number,Text\n" + "".join(f"{line[9:13]},{line}\n" for line in lines)).encode(),
            csv_rows,
        ),
    }


def pypdf(data: bytes) -> object:
    return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]


def mammoth_html(data: bytes) -> object:
    return mammoth.convert_to_html(io.BytesIO(data)).value


def selectolax(data: bytes) -> object:
    tree = LexborHTMLParser(data)
    assert tree.body is not None
    return tree.body.text()


def csv_rows(data: bytes) -> object:
    return list(csv.reader(io.StringIO(data.decode())))


def docx(lines: list[str]) -> bytes:
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="a" Type="{relation}" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml", f"<w:document {_W}><w:body>{body}</w:body></w:document>"
        )
    return file.getvalue()


def pdf(lines: list[str]) -> bytes:
    """Lines on pages, without a cross-reference table, which readers make up for."""
    each = len(lines) // PAGES
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(PAGES))
    parts = [
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n",
        f"2 0 obj\n<< /Type /Pages /Kids [{kids}] /Count {PAGES} >>\nendobj\n",
        "3 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n",
    ]
    for page in range(PAGES):
        shown = " T* ".join(f"({line}) Tj" for line in lines[page * each : (page + 1) * each])
        content = f"BT /F1 9 Tf 12 TL 40 800 Td {shown} ET"
        number = 4 + 2 * page
        parts.append(
            f"{number} 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Contents {number + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>\nendobj\n"
            f"{number + 1} 0 obj\n<< /Length {len(content)} >>\nstream\n{content}\nendstream\nendobj\n"
        )
    parts.append(f"trailer\n<< /Size {4 + 2 * PAGES} /Root 1 0 R >>\nstartxref\n0\n%%EOF\n")
    return "".join(parts).encode("latin-1")


if __name__ == "__main__":
    main()
