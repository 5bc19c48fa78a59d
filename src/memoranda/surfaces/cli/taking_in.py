"""Waits for documents to be taken in, doing the work itself where nobody else does."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.output import console_for, print_json
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import cell
from memoranda.words.errors import MemorandaError

if TYPE_CHECKING:
    from rich.progress import Progress

    from memoranda.knowledge.models import Source

LOOK_AGAIN_SECONDS: Final = 0.1
FOLLOW_SECONDS: Final = 0.25
GOES_ON: Final = (
    "memoranda serve, memoranda worker or the next memoranda knowledge add takes it in."
)


class Refusal(NamedTuple):
    """A file that was not added, and why."""

    file: str
    error: MemorandaError


async def each_added(
    at: Session, files: Sequence[str], add: "Callable[[str], Awaitable[Source]]"
) -> "tuple[list[Source], list[Refusal]]":
    """Add files one after another, each until it has come to its end; where one is refused the others go on.

    Whoever stops it is told which were not begun. Raises what `add` does where there is one file alone.
    """
    left, ended, refused = list(files), [], []
    with _rest_told(at, left):
        while left:
            try:
                source = await add(left[0])
            except MemorandaError as error:
                if len(files) == 1:
                    raise
                refused.append(Refusal(left.pop(0), error))
                continue
            left.pop(0)
            ended.append(await ingested(at, source))
    return ended, refused


async def ingested(at: Session, source: "Source") -> "Source":
    """Work until `source` has come to its end, here or in another process; it may not be alone in line.

    One that waits for its embedder is given back as it is: that may take hours.
    """
    import asyncio

    from memoranda.storage import PLATFORM
    from memoranda.words.ids import new_id

    worker, scope = new_id(), source.organization_id or PLATFORM
    with _told_when_stopped(at, source):
        async with _followed(at, source):
            while source.status == "pending" and waits_for(source) is None:
                claimed = await at.memoranda.knowledge.claim(scope, worker)
                if claimed is None:
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
                else:
                    await at.memoranda.knowledge.ingest(scope, claimed, worker)
                source = await at.memoranda.knowledge.get(at.who, source.id)
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


@contextmanager
def _rest_told(at: Session, left: list[str]) -> Iterator[None]:
    """Say to who pressed Ctrl+C which files were not even begun."""
    import asyncio

    try:
        yield
    except asyncio.CancelledError:
        if left:
            _tell_rest(at, left)
        raise


def _tell_rest(at: Session, left: list[str]) -> None:
    named = ", ".join(cell(each).plain for each in left)
    told = f"Not added: {named}. Give {'it' if len(left) == 1 else 'them'} to memoranda knowledge add again."
    if at.choices.as_json:
        stopped = {"code": "interrupted", "kind": "interrupted", "detail": told, "retryable": True}
        print_json(stopped | {"exit_code": exits.INTERRUPTED, "not_added": left}, problem=True)
    else:
        console_for(sys.stderr).print(Text(told), soft_wrap=True)


@asynccontextmanager
async def _followed(at: Session, source: "Source") -> AsyncIterator[None]:
    """A bar that shows how far the document is, read anew while whoever takes it in is at work."""
    import asyncio

    with _progress(at) as bar:
        if bar.disable:
            yield
            return
        following = asyncio.create_task(follow(at, source, bar))
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


async def follow(at: Session, source: "Source", bar: "Progress") -> None:
    """Show on `bar` how many of the document's vectors are made, until this is canceled."""
    import asyncio

    title = cell(source.title).plain
    task = bar.add_task(title, total=None)
    while True:
        far = (await at.memoranda.knowledge.get(at.who, source.id)).progress
        if far is not None and far.of:
            bar.update(task, description=f"{title}: {far.step}", total=far.of, completed=far.done)
        await asyncio.sleep(FOLLOW_SECONDS)


def _progress(at: Session) -> "Progress":
    """A bar on standard error, when a person is watching; it goes when the work is done."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console_for(sys.stderr),
        transient=True,
        disable=at.choices.as_json or not sys.stderr.isatty(),
    )
