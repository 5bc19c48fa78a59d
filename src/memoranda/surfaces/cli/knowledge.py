"""`memoranda knowledge`: documents in, passages out."""

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.documents import STANDARD_INPUT, read_bytes
from memoranda.surfaces.cli.meant import found_source
from memoranda.surfaces.cli.options import Cursor, Limit, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, cell, entry, page_answer
from memoranda.surfaces.cli.taking_in import Refusal, each_added, how_far, ingested, waits_for
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.knowledge.models import SearchResult, Source

knowledge = group("Documents that runs may be told about: add, search, list them.")

SourceKind = Literal["text", "markdown", "transcript", "pdf", "docx", "html", "csv"]
Platform = Annotated[
    bool,
    typer.Option("--platform", help="A document for every organization of this database."),
]
_READ_ID = id_of("`memoranda knowledge list`")
SourceName = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENT", help="A document's id, or its title or URI where no other has it."
    ),
]


@verb(knowledge, "add", files=("files",))
async def add_documents(
    at: Session,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files, or - for standard input; text is in UTF-8."),
    ],
    *,
    kind: Annotated[
        SourceKind | None,
        typer.Option(
            "--kind",
            metavar="text|markdown|transcript|pdf|docx|html|csv",
            help="What it is; told from the file's bytes and ending without it. "
            "A transcript has one JSON object a line.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            "--title", metavar="TITLE", help="What briefs call it; the file's name without it."
        ),
    ] = None,
    platform: Platform = False,
    uri: Annotated[
        str | None,
        typer.Option(
            "--uri",
            metavar="URI",
            help="Where it is from; the file's own address without it. "
            "The same URI again replaces the document.",
        ),
    ] = None,
) -> Answer:
    """Add documents and wait until they can be searched. Exit code 10 when one could not be read.

    One that is refused does not keep the others out.
    """
    if len(files) > 1 and (title is not None or uri is not None):
        raise Invalid("--title and --uri speak of one file: add that one by itself.", field="file")
    add = partial(_add, at, kind=kind, title=title, platform=platform, uri=uri)
    return _ended(*await each_added(at, files, add))


async def _add(
    at: Session,
    file: str,
    *,
    kind: SourceKind | None,
    title: str | None,
    platform: bool,
    uri: str | None,
) -> "Source":
    from memoranda.knowledge.extract import uri_of

    is_file = file != STANDARD_INPUT
    name = PurePath(file).name if is_file else "standard input"
    return await at.memoranda.knowledge.add(
        at.whose(platform=platform),
        read_bytes(file, most=at.memoranda.settings.max_upload_bytes),
        kind=kind,
        filename=name,
        title=title or name,
        uri=uri or (uri_of(file) if is_file else None),
        platform=platform,
    )


@verb(knowledge, "search", reads=True)
async def search_documents(
    at: Session,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What you look for, in your own words.")
    ],
    limit: Limit = 8,
    platform: Annotated[
        bool,
        typer.Option(
            "--platform",
            help="Search the platform's documents too, as a brief under the default policy does.",
        ),
    ] = False,
    source: Annotated[
        list[UUID] | None,
        typer.Option(
            "--source",
            metavar="ID",
            parser=_READ_ID,
            help="Search this document alone; may be repeated.",
        ),
    ] = None,
) -> Answer:
    """Find the passages that answer a query, best first."""
    found = await at.memoranda.knowledge.search(
        at.who, query, limit=limit, include_platform=platform, source_ids=source or None
    )
    return Answer(found, lambda: _drawn(found.results))


@verb(knowledge, "list", reads=True)
async def list_documents(
    at: Session, limit: Limit = 50, cursor: Cursor = None, platform: Platform = False
) -> Answer:
    """List the documents, newest first."""
    page = await at.memoranda.knowledge.page(
        at.whose(platform=platform), limit=limit, cursor=cursor
    )
    rows = [
        (
            entry(each.title, each.id, each.reason or waits_for(each)),
            each.kind,
            how_far(each),
            each.chunks,
        )
        for each in page.items
    ]
    columns = ("@document", "kind", "status", "#chunks")
    empty = "There is no document yet. Add one with: memoranda knowledge add FILE"
    return page_answer(page, columns, rows, empty)


@verb(knowledge, "show", reads=True)
async def show_document(at: Session, named: SourceName) -> Answer:
    """Show how far a document is."""
    source = await found_source(at, named)
    shown = {**dict(source), "progress": how_far(source) if source.progress else None}
    return Answer(source, lambda: [card(shown | {"waits_for": waits_for(source)})])


@verb(knowledge, "describe")
async def describe_document(
    at: Session,
    named: SourceName,
    summary: Annotated[
        str,
        typer.Argument(
            metavar="SUMMARY", help="What it is about, in a sentence; empty takes it back."
        ),
    ],
    platform: Platform = False,
) -> Answer:
    """Say what a document is about, as the dossier tells it."""
    meant = await found_source(at, named, platform=platform)
    source = await at.memoranda.knowledge.describe(
        at.whose(platform=platform), meant.id, summary=summary.strip() or None
    )
    return Answer(source, lambda: [card({"described": source.id, "summary": source.summary})])


@verb(knowledge, "retry")
async def retry_document(at: Session, named: SourceName, platform: Platform = False) -> Answer:
    """Try a failed document again, and wait for its end. Exit code 10 when it fails again."""
    meant = await found_source(at, named, platform=platform)
    source = await at.memoranda.knowledge.retry(at.whose(platform=platform), meant.id)
    return _ended([await ingested(at, source)], [])


@verb(knowledge, "remove")
async def remove_document(at: Session, named: SourceName, platform: Platform = False) -> Answer:
    """Delete a document with all that was made of it."""
    source = await found_source(at, named, platform=platform)
    await at.memoranda.knowledge.remove(at.whose(platform=platform), source.id)
    return Answer({"id": source.id, "removed": True}, lambda: [card({"removed": source.id})])


def _ended(sources: "list[Source]", refusals: "list[Refusal]") -> Answer:
    """One document as it is, and several as a list; all have come to their end, or wait for an embedder."""
    failed = bool(refusals) or any(source.status != "ready" for source in sources)
    shown: list[dict[str, object]] = [
        {
            "source": source.id,
            "title": source.title,
            "status": source.status,
            "chunks": source.chunks,
            "reason": source.reason or waits_for(source),
        }
        for source in sources
    ]
    shown += [
        {"file": file, "status": "not added", "reason": error.message} for file, error in refusals
    ]
    told: list[Any] = [
        exits.problem(error) | {"file": file, "status": "not added"} for file, error in refusals
    ]
    alone = sources[0] if len(shown) == 1 else None
    return Answer(
        alone or [*sources, *told],
        lambda: [card(each) for each in shown],
        exits.UNSUCCESSFUL if failed else exits.DONE,
    )


def _drawn(results: "list[SearchResult]") -> "list[RenderableType]":
    if not results:
        return [Text("Nothing answers this query.")]
    drawn: list[RenderableType] = []
    for result in results:
        heading = Text(f"{result.score:.3f}  ", style="bold")
        place = result.place or result.at
        title = f"{result.title} · {place}" if place else result.title
        said = f"{result.speaker}: {result.text}" if result.speaker else result.text
        drawn += [heading.append_text(cell(title)), cell(said), Text("")]
    return drawn
