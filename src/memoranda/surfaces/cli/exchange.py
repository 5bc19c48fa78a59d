"""`memoranda export` and `import`: memories out as JSON Lines, and in from wherever they come."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.documents import STANDARD_INPUT, read_bytes
from memoranda.surfaces.cli.options import Agent, User
from memoranda.surfaces.cli.output import Answer, console_for
from memoranda.surfaces.cli.session import Choices, Session, opened
from memoranda.surfaces.cli.tables import card, counted, table
from memoranda.surfaces.cli.verbs import closed_verb, verb
from memoranda.words.errors import Conflict, Invalid, Refused

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.memories.transfer.models import ImportedLine, ImportReport

Source = Literal["auto", "memoranda", "mem0", "langgraph", "chatgpt", "claude"]
PARTIAL: Final = ".partial"
PASSES: Final = {
    "archived": "archived there",
    "deleted": "deleted there",
    "header": "says what the file is",
    "history": "of a history",
}
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
        await written(lines, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return Answer(None, list)
    with whole_file(file, replace=force) as target:
        count = await written(lines, target)
    shown = {"exported": counted(count, "line", "lines"), "file": file}
    return Answer({"file": file, "lines": count}, lambda: [card(shown)])


def import_memories(
    choices: Choices,
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
    map_user: Annotated[
        list[str] | None,
        typer.Option(
            "--map-user",
            metavar="NAME=USER",
            help="Whom a name in the file means here, by id or external id; may be repeated.",
        ),
    ] = None,
    map_agent: Annotated[
        list[str] | None,
        typer.Option(
            "--map-agent",
            metavar="NAME=AGENT",
            help="The same of an agent, by slug, id or external id.",
        ),
    ] = None,
) -> Answer:
    """Remember what a file holds. Exit code 10 when some of it was refused."""
    import asyncio

    from memoranda.memories.transfer.limits import MOST_BYTES

    asked = _Asked(
        read_bytes(file, most=MOST_BYTES),
        source,
        dry_run,
        user,
        agent,
        _pairs("map-user", map_user),
        _pairs("map-agent", map_agent),
    )
    with _somewhere(choices, dry_run=dry_run) as (place, missing):
        report = asyncio.run(_taken_in(place, asked))
    exit_code = exits.UNSUCCESSFUL if report.refused else exits.DONE
    return Answer(report, lambda: _drawn(report, missing), exit_code)


class _Asked(NamedTuple):
    """What is to be taken in, and for whom."""

    content: bytes
    source: Source
    dry_run: bool
    user: str | None
    agent: str | None
    users: Mapping[str, str]
    agents: Mapping[str, str]


async def _taken_in(choices: Choices, asked: _Asked) -> "ImportReport":
    async with opened(choices) as at:
        users = {name: await at.user_id(each) for name, each in asked.users.items()}
        agents = {name: await at.agent_id(each) for name, each in asked.agents.items()}
        with _progress(at) as progress:
            return await at.memoranda.transfer.take_in(
                at.who,
                asked.content,
                source=asked.source,
                dry_run=asked.dry_run,
                user_id=await at.user_id(asked.user),
                agent_id=await at.agent_id(asked.agent),
                users={name: found for name, found in users.items() if found is not None},
                agents={name: found for name, found in agents.items() if found is not None},
                progress=progress,
            )


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """What stands before and behind the last equals sign of each. Raises `Invalid`."""
    pairs = {}
    for each in given or ():
        name, sign, meant = each.rpartition("=")
        if not (sign and name.strip() and meant.strip()):
            raise Invalid(f"{each!r} maps nothing: write --{option} NAME=WHO.", field=option)
        pairs[name.strip()] = meant.strip()
    return pairs


@contextmanager
def _somewhere(choices: Choices, *, dry_run: bool) -> "Iterator[tuple[Choices, Path | None]]":
    """The database that was chosen; for a dry run where there is none an empty one, which goes again."""
    from memoranda.storage.health import missing_file

    missing = missing_file(choices.settings().db) if dry_run else None
    if missing is None:
        yield choices, None
        return
    with TemporaryDirectory() as folder:
        yield replace(choices, db=str(Path(folder) / "empty.db")), missing


async def written(lines: AsyncIterator[str], target: IO[bytes]) -> int:
    """Write down the lines; how many."""
    count = 0
    async for line in lines:
        target.write(line.encode())
        count += 1
    return count


@contextmanager
def whole_file(named: str, *, replace: bool) -> Iterator[IO[bytes]]:
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


def _drawn(report: "ImportReport", missing: Path | None) -> "list[RenderableType]":
    would = "would be " if report.dry_run else ""
    shown = {
        "read as": report.source.value,
        f"{would}taken": report.taken or None,
        f"{would}changed and taken": report.changed or None,
        "known already": report.known or None,
        "refused": report.refused or None,
        "passed over": _passed(report),
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
    if report.for_everybody:
        drawn.append(Text(_everybodys(report)))
    if missing is not None:
        drawn.append(
            Text(
                f"There is no database at {missing} yet, and none was made: this is what an "
                "empty one would take in."
            )
        )
    elif report.dry_run:
        drawn.append(Text("Nothing was changed: leave out --dry-run to take it in."))
    return drawn


def _everybodys(report: "ImportReport") -> str:
    """That what was imported is nobody's own, where it is so, and how it is given to one."""
    count = report.for_everybody
    are = "would be" if report.dry_run else "is" if count == 1 else "are"
    them = "it" if count == 1 else "them"
    return (
        f"{counted(count, 'memory', 'memories')} {are} for everybody: every "
        f"user's and agent's run may be told of {them}. --user or --agent gives {them} to one alone."
    )


def _passed(report: "ImportReport") -> str | None:
    """How many lines are no memory, and why."""
    parts = [f"{count} {PASSES.get(why, why)}" for why, count in report.passes.items()]
    return f"{report.passed}: {', '.join(parts)}" if parts else None


def _row(line: "ImportedLine") -> tuple[object, ...] | None:
    if line.outcome == "taken":
        return None
    changed = "; ".join(CHANGES.get(each, each) for each in line.how)
    return line.line, line.outcome, line.detail or changed


def register(app: typer.Typer) -> None:
    """Add both commands."""
    verb(app, "export", reads=True)(export)
    closed_verb(app, "import")(import_memories)
