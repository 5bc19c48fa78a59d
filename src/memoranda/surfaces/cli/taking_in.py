"""Waits for documents to be taken in, doing the work itself where nobody else does."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.text import Text

from memoranda.surfaces.cli.output import console_for
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import cell

if TYPE_CHECKING:
    from rich.progress import Progress

    from memoranda.knowledge.models import Source

LOOK_AGAIN_SECONDS: Final = 0.1
GOES_ON: Final = (
    "memoranda serve, memoranda worker or the next memoranda knowledge add takes it in."
)


async def ingested(at: Session, source: "Source") -> "Source":
    """Work until `source` has come to its end, here or in another process; it may not be alone in line.

    One that waits for its embedder is given back as it is: that may take hours.
    """
    import asyncio

    from memoranda.storage import PLATFORM
    from memoranda.words.ids import new_id

    worker, scope = new_id(), source.organization_id or PLATFORM
    with _told_when_stopped(at, source), _progress(at) as progress:
        task = progress.add_task(cell(source.title).plain, total=None)
        while source.status == "pending" and waits_for(source) is None:
            claimed = await at.memoranda.knowledge.claim(scope, worker)
            if claimed is None:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            else:
                await at.memoranda.knowledge.ingest(scope, claimed, worker)
            source = await at.memoranda.knowledge.get(at.who, source.id)
            far = source.progress
            if far is not None and far.of:
                progress.update(task, total=far.of, completed=far.done)
        progress.update(task, total=1, completed=1)
    return source


def how_far(source: "Source") -> str:
    """The status of a document in a few words, and how much of it is embedded."""
    far = source.progress
    if far is None:
        return source.status
    return f"{far.step} ({far.done} of {far.of})" if far.of else far.step


def waits_for(source: "Source") -> str | None:
    """Why a pending document waits, where its embedder has said so."""
    return None if source.progress is None else source.progress.waits_for


@contextmanager
def _told_when_stopped(at: Session, source: "Source") -> Iterator[None]:
    """Say to who pressed Ctrl+C that nothing is lost, and who goes on with it."""
    import asyncio

    try:
        yield
    except asyncio.CancelledError:
        if not at.choices.as_json:
            title = cell(source.title).plain
            console_for(sys.stderr).print(Text(f"{title} stays in line. {GOES_ON}"))
        raise


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
