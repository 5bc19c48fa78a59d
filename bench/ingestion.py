"""Measures ingestion: documents from upload to ready, beside the library that reads them, alone."""

import argparse
import asyncio
import csv
import io
import json
import logging
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
SMALL: Final = 2_000
"""Bytes of a small file."""
TIMES: Final = 10
File = tuple[bytes, Callable[[bytes], object], int]
"""What is taken in, what reads it alone, and how often a round does."""
EMBEDDERS: Final = ("none", "bundled")
MOST_EMBEDDED: Final = 3
"""Rounds with the embedder, whose time is many times that of everything else."""
_numbers: Final = count(1)
_W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def main() -> None:
    """Print a table for each database, without an embedder and with the bundled one."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    parser.add_argument("--kinds", nargs="+", help="measure these files alone, such as a.pdf")
    parser.add_argument("--embedder", choices=EMBEDDERS, help="measure with this one alone")
    options = parser.parse_args()
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # the file has no table of its objects
    with places(options) as found:
        for place in found:
            for embedder in [options.embedder] if options.embedder else EMBEDDERS:
                results = asyncio.run(measured(place, options, embedder))
                words = "words alone" if embedder == "none" else "words and vectors"
                show(f"Ingestion on {place.kind}, {words}", results, as_json=options.json)


async def measured(place: Place, options: argparse.Namespace, embedder: str) -> list[Result]:
    """Take each document in anew in every round, under a name of its own."""
    rounds = options.rounds if embedder == "none" else min(options.rounds, MOST_EMBEDDED)
    settings = Settings.load(embedder=embedder)
    async with Memoranda.open(place.empty(), settings=settings) as product:
        results = [
            await one(product, name, file, rounds)
            for name, file in documents().items()
            if options.kinds is None or name in options.kinds
        ]
        if embedder != "none":
            found = await product.knowledge.search(product.owner, "closed on Mondays")
            assert found.semantic, "what was measured has no vectors"
        return results


async def one(product: Memoranda, name: str, file: File, rounds: int) -> Result:
    """Take a file in as often as a round has it, one after the other, and read it as often."""
    content, alone, times = file

    async def ours() -> None:
        for _ in range(times):
            source = await product.knowledge.add(
                product.owner, content, title=name, uri=f"made:{next(_numbers)}/{name}"
            )
            await product.worker.drain(product.owner.organization_id, kind=KNOWLEDGE)
            ended = await product.knowledge.get(product.owner, source.id)
            assert ended.status == "ready", ended.reason

    def read() -> None:
        for _ in range(times):
            alone(content)

    rivals = {"ours": ours, "alone": in_loop(read)}
    seconds = await race(rivals, rounds=rounds, operations=times)
    found = compare(f"take in {name}", seconds, ours="ours", rival="alone")
    ours_rate, alone_rate = (
        len(content) / 1e6 / each * 60 for each in (found.ours_s, found.rival_s)
    )
    note = f"{len(content) / 1e6:.3f} MB: {ours_rate:,.1f} MB a minute, alone {alone_rate:,.1f}"
    return replace(found, rival=f"{alone.__name__}, alone", note=note)


def documents() -> dict[str, File]:
    """A file of each format, what reads it, and how often a round does. The small ones are what a site has many of."""
    lines = [f"Delivery {number}: {WORDS}." for number in range(PARAGRAPHS)]
    page = "".join(f"<h2>{line[:12]}</h2><p>{line}" for line in lines).encode()
    rows = ("Number,Text\n" + "".join(f"{line[9:13]},{line}\n" for line in lines)).encode()
    said = "".join(json.dumps({"speaker": "Ada", "text": line}) + "\n" for line in lines).encode()
    return {
        "a.pdf": (pdf(lines), pypdf, 1),
        "a.docx": (docx(lines), mammoth_html, 1),
        "a.html": (page, selectolax, 1),
        "a.csv": (rows, csv_rows, 1),
        "a.md": ("".join(f"## {line[:12]}\n\n{line}\n\n" for line in lines).encode(), decoded, 1),
        "a.txt": ("\n\n".join(lines).encode(), decoded, 1),
        "a.jsonl": (said, json_lines, 1),
        "small.html": (page[:SMALL], selectolax, TIMES),
        "small.csv": (rows[:SMALL], csv_rows, TIMES),
        "small.pdf": (pdf(lines[:20], pages=1), pypdf, TIMES),
        "small.docx": (docx(lines[:20]), mammoth_html, TIMES),
        "small.txt": ("\n\n".join(lines).encode()[:SMALL], decoded, TIMES),
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


def decoded(data: bytes) -> object:
    return data.decode().splitlines()


def json_lines(data: bytes) -> object:
    return [json.loads(line) for line in data.splitlines()]


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


def pdf(lines: list[str], pages: int = PAGES) -> bytes:
    """Lines on pages, without a cross-reference table, which readers make up for."""
    each = len(lines) // pages
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(pages))
    parts = [
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n",
        f"2 0 obj\n<< /Type /Pages /Kids [{kids}] /Count {pages} >>\nendobj\n",
        "3 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n",
    ]
    for page in range(pages):
        shown = " T* ".join(f"({line}) Tj" for line in lines[page * each : (page + 1) * each])
        content = f"BT /F1 9 Tf 12 TL 40 800 Td {shown} ET"
        number = 4 + 2 * page
        parts.append(
            f"{number} 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Contents {number + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>\nendobj\n"
            f"{number + 1} 0 obj\n<< /Length {len(content)} >>\nstream\n{content}\nendstream\nendobj\n"
        )
    parts.append(f"trailer\n<< /Size {4 + 2 * pages} /Root 1 0 R >>\nstartxref\n0\n%%EOF\n")
    return "".join(parts).encode("latin-1")


if __name__ == "__main__":
    main()
