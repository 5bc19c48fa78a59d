"""`memoranda export` and `import`: memories out as JSON Lines, and in from wherever they come."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Final, Literal

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.documents import STANDARD_INPUT, read_bytes
from memoranda.surfaces.cli.options import Agent, User
from memoranda.surfaces.cli.output import Answer, console_for
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, table
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import Conflict, Invalid, Refused

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.memories.transfer.models import ImportedLine, ImportReport

Source = Literal["auto", "memoranda", "mem0", "langgraph", "chatgpt", "claude"]
PARTIAL: Final = ".partial"
CHANGES: Final = {
    "agent_left_out": "agent left out",
    "attribute_left_out": "attribute left out",
    "category_cut": "category cut",
    "cleaned": "characters replaced that no text can hold",
    "pin_left_out": "not pinned: as many are as may be",
    "spelled_out": "made of its fields",
    "split": "split at its sentences",
    "tags_cut": "tags cut",
    "title_cut": "title cut",
    "title_made": "titled by its heading",
    "trimmed": "spaces at its ends taken off",
}


async def export(
    at: Session,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Where to; standard output without it."),
    ] = None,
    *,
    history: Annotated[
        bool, typer.Option("--history", help="Put behind each memory what it said before.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file where there is one.")
    ] = False,
) -> Answer:
    """Write down all memories and waiting proposals as JSON Lines, as `memoranda import` reads them."""
    lines = at.memoranda.transfer.export(at.who, history=history)
    if file is None or file == STANDARD_INPUT:
        sys.stdout.flush()
        await _written(lines, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return Answer(None, list)
    with _whole_file(file, replace=force) as target:
        count = await _written(lines, target) - 1
    shown = {"exported": counted(count, "line", "lines"), "file": file}
    return Answer({"file": file, "lines": count}, lambda: [card(shown)])


async def import_memories(
    at: Session,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file, or - for standard input.")],
    *,
    source: Annotated[
        Source,
        typer.Option(
            "--from",
            metavar="auto|memoranda|mem0|langgraph|chatgpt|claude",
            help="Where it comes from; told from what it holds without this.",
        ),
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be taken in, and change nothing.")
    ] = False,
    user: User = None,
    agent: Agent = None,
) -> Answer:
    """Remember what a file holds. Exit code 10 when some of it was refused."""
    from memoranda.memories.transfer.limits import MOST_BYTES

    content = read_bytes(file, most=MOST_BYTES)
    with _progress(at) as progress:
        report = await at.memoranda.transfer.take_in(
            at.who,
            content,
            source=source,
            dry_run=dry_run,
            user_id=await at.user_id(user),
            agent_id=await at.agent_id(agent),
            progress=progress,
        )
    return Answer(
        report, lambda: _drawn(report), exits.UNSUCCESSFUL if report.refused else exits.DONE
    )


async def _written(lines: AsyncIterator[str], target: IO[bytes]) -> int:
    count = 0
    async for line in lines:
        target.write(line.encode())
        count += 1
    return count


@contextmanager
def _whole_file(named: str, *, replace: bool) -> Iterator[IO[bytes]]:
    """A file for its owner's eyes that is there once it is whole, and not before."""
    if Path(named).exists() and not replace:
        raise Conflict(f"There is a file {named} already: add --force to replace it.", file=named)
    partial = Path(f"{named}{PARTIAL}")
    try:
        with open(partial, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as target:
            yield target
        partial.replace(named)
    except PermissionError as error:
        raise Refused(f"The file {named} may not be written by you.", file=named) from error
    except (OSError, ValueError) as error:
        raise Invalid(f"The file {named!r} can't be written: {error}.", file=named) from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _progress(at: Session) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, when a person is watching; it goes when the work is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn

    quiet = at.choices.as_json or not sys.stderr.isatty()
    with Progress(
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        console=console_for(sys.stderr),
        transient=True,
        disable=quiet,
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _drawn(report: "ImportReport") -> "list[RenderableType]":
    would = "would be " if report.dry_run else ""
    shown = {
        "read as": report.source.value,
        f"{would}taken": report.taken or None,
        f"{would}changed and taken": report.changed or None,
        "known already": report.known or None,
        "refused": report.refused or None,
        "passed over": report.passed or None,
    }
    drawn: list[RenderableType] = [card(shown)]
    rows = [row for each in report.examples if (row := _row(each)) is not None]
    if rows:
        drawn += [Text(""), table(("#line", "what", "~why"), rows)]
    left = report.refused + report.changed + report.known - len(rows)
    if rows and left > 0:
        drawn.append(Text(f"And {counted(left, 'more line', 'more lines')} of these kinds."))
    if not report.entries:
        drawn.append(Text("There is no memory in this file."))
    if report.dry_run:
        drawn.append(Text("Nothing was changed: leave out --dry-run to take it in."))
    return drawn


def _row(line: "ImportedLine") -> tuple[object, ...] | None:
    if line.outcome == "taken":
        return None
    changed = "; ".join(CHANGES.get(each, each) for each in line.how)
    return line.line, line.outcome, line.detail or changed


def register(app: typer.Typer) -> None:
    """Add both commands."""
    verb(app, "export", reads=True)(export)
    verb(app, "import")(import_memories)
