"""`memoranda knowledge`: documents in, passages out."""

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Final, Literal
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.documents import STANDARD_INPUT, read_bytes
from memoranda.surfaces.cli.options import Cursor, Limit
from memoranda.surfaces.cli.output import Answer, console_for
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, cell, page_answer
from memoranda.surfaces.cli.verbs import verb

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

    from memoranda.knowledge.models import SearchResult, Source

knowledge = typer.Typer(help="Documents that runs may be told about: add, search, list them.")

LOOK_AGAIN_SECONDS: Final = 0.1

SourceKind = Literal["text", "markdown", "transcript"]
Platform = Annotated[
    bool,
    typer.Option("--platform", help="A document for every organization of this database."),
]
SourceId = Annotated[UUID, typer.Argument(metavar="ID", help="The source's id.")]


@verb(knowledge, "add")
async def add_document(
    at: Session,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file in UTF-8, or - for standard input.")
    ],
    *,
    kind: Annotated[
        SourceKind | None,
        typer.Option(
            "--kind",
            metavar="text|markdown|transcript",
            help="What it is; told from the file's ending without it. "
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
            help="Where it is from. The same URI again replaces the document.",
        ),
    ] = None,
) -> Answer:
    """Add a document and wait until it can be searched. Exit code 10 when it could not be read."""
    from memoranda.knowledge.extract import kind_of

    name = "standard input" if file == STANDARD_INPUT else PurePath(file).name
    content = read_bytes(file, most=at.memoranda.settings.max_upload_bytes)
    source = await at.memoranda.knowledge.add(
        at.whose(platform=platform),
        content,
        kind=kind or kind_of(name),
        title=title or name,
        uri=uri,
        platform=platform,
    )
    return _ended(await ingested(at, source))


@verb(knowledge, "search")
async def search_documents(
    at: Session,
    query: Annotated[str, typer.Argument(help="What you look for, in your own words.")],
    limit: Limit = 8,
    platform: Annotated[
        bool, typer.Option("--platform", help="Search the platform's documents too.")
    ] = False,
    source: Annotated[
        list[UUID] | None,
        typer.Option("--source", metavar="ID", help="Search this source alone; may be repeated."),
    ] = None,
) -> Answer:
    """Find the passages that answer a query, best first."""
    found = await at.memoranda.knowledge.search(
        at.who, query, limit=limit, include_platform=platform, source_ids=source or None
    )
    return Answer(found, lambda: _drawn(found.results))


@verb(knowledge, "list")
async def list_documents(
    at: Session, limit: Limit = 50, cursor: Cursor = None, platform: Platform = False
) -> Answer:
    """List the documents, newest first."""
    page = await at.memoranda.knowledge.page(
        at.whose(platform=platform), limit=limit, cursor=cursor
    )
    rows = [
        (each.id, each.title, each.kind, each.status, each.chunks, each.reason)
        for each in page.items
    ]
    columns = ("id", "~title", "kind", "status", "#chunks", "~reason")
    empty = "There is no document yet. Add one with: memoranda knowledge add FILE"
    return page_answer(page, columns, rows, empty)


@verb(knowledge, "show")
async def show_document(at: Session, source_id: SourceId) -> Answer:
    """Show how far a document is."""
    source = await at.memoranda.knowledge.get(at.who, source_id)
    return Answer(source, lambda: [card(dict(source))])


@verb(knowledge, "retry")
async def retry_document(at: Session, source_id: SourceId, platform: Platform = False) -> Answer:
    """Try a failed document again, and wait for its end. Exit code 10 when it fails again."""
    source = await at.memoranda.knowledge.retry(at.whose(platform=platform), source_id)
    return _ended(await ingested(at, source))


@verb(knowledge, "remove")
async def remove_document(at: Session, source_id: SourceId, platform: Platform = False) -> Answer:
    """Delete a document with all that was made of it."""
    await at.memoranda.knowledge.remove(at.whose(platform=platform), source_id)
    return Answer({"id": source_id, "removed": True}, lambda: [card({"removed": source_id})])


async def ingested(at: Session, source: "Source") -> "Source":
    """Work until `source` has come to its end, here or in another process; it may not be alone in line."""
    import asyncio

    from memoranda.storage import PLATFORM
    from memoranda.words.ids import new_id

    worker, scope = new_id(), source.organization_id or PLATFORM
    with _progress(at) as progress:
        task = progress.add_task(cell(source.title).plain, total=None)
        while source.status == "pending":
            claimed = await at.memoranda.knowledge.claim(scope, worker)
            if claimed is None:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            else:
                await at.memoranda.knowledge.ingest(scope, claimed, worker)
            source = await at.memoranda.knowledge.get(at.who, source.id)
        progress.update(task, total=1, completed=1)
    return source


def _progress(at: Session) -> "Progress":
    """A bar on standard error, when a person is watching; it goes when the work is done."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=console_for(sys.stderr),
        transient=True,
        disable=at.choices.as_json or not sys.stderr.isatty(),
    )


def _ended(source: "Source") -> Answer:
    failed = source.status == "failed"
    shown = {
        "source": source.id,
        "title": source.title,
        "status": source.status,
        "chunks": source.chunks,
        "reason": source.reason,
    }
    return Answer(source, lambda: [card(shown)], exits.UNSUCCESSFUL if failed else exits.DONE)


def _drawn(results: "list[SearchResult]") -> "list[RenderableType]":
    if not results:
        return [Text("Nothing answers this query.")]
    drawn: list[RenderableType] = []
    for result in results:
        heading = Text(f"{result.score:.3f}  ", style="bold")
        place = f" · {result.place}" if result.place else ""
        drawn += [heading.append_text(cell(f"{result.title}{place}")), cell(result.text), Text("")]
    return drawn
