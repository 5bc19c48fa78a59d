"""`memoranda files`: what every run should know, what agents note for themselves, and what files said before."""

import shlex
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from rich.text import Text

from memoranda.surfaces.cli.documents import STANDARD_INPUT, read_bytes
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, time_of
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, listed, when
from memoranda.surfaces.cli.verbs import room, verb
from memoranda.words.errors import Invalid
from memoranda.words.text import neutralize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memoranda.files.models import ContextFile, FileRevision, FileSummary, RevisionText
    from memoranda.instructions.models import ListedFiles

MOST_READ: Final = 1_000_000
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A file, such as voice; with --agent one such as NOTES.md."
    ),
]
Said = Annotated[
    str, typer.Argument(metavar="FILE", help="What it is to say: a file, or - for standard input.")
]
Read = Annotated[
    str | None,
    typer.Option(
        "--expected-hash",
        metavar="HASH",
        help="Only over what has this hash, as `show` tells it. Without it, over what is there now.",
    ),
]
Empty = Annotated[
    bool, typer.Option("--empty", help="Let the file say nothing, where what is given is empty.")
]
Number = Annotated[int, typer.Argument(metavar="N", min=1, help="The number of a revision.")]


async def files(at: Session, *, agent: Agent = None) -> Answer:
    """List the organization's files, or an agent's: how long they are, how they are loaded, how much arrives."""
    found = await at.memoranda.load_meter.files(at.who, agent=agent)
    rows = [
        (
            *(each.name, each.title, each.bytes, each.load_mode),
            *(each.revision, by, when(each.written_at)),
        )
        for each, by in zip(found.items, await _by(at, found.items), strict=True)
    ]
    columns = ("file", "title", "#bytes", "loaded", "#revision", "by", "written")
    return Answer(
        found, lambda: [*listed(columns, rows, empty="There is no file."), _arrives(found)]
    )


def _arrives(found: "ListedFiles") -> Text:
    """How much of all of them arrives, and whose text is too long."""
    skipped = sum(each.skipped_chars for each in found.load.segments)
    whose = "the agent's runs" if found.items[0].agent_id else "every run"
    line = f"Of these, {found.load.total_tokens} of {found.load.total_cap} tokens reach {whose}."
    if skipped:
        line += f" {counted(skipped, 'character is', 'characters are')} skipped: `memoranda load file` shows which."
    return Text(line)


async def show(
    at: Session,
    name: Name,
    *,
    agent: Agent = None,
    revision: Annotated[
        int | None,
        typer.Option("--revision", metavar="N", min=1, help="What this revision said."),
    ] = None,
    moment: Annotated[
        datetime | None,
        typer.Option("--at", metavar="TIME", parser=time_of, help="What it said at this time."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print its bytes as they are, and nothing else.")
    ] = False,
) -> Answer:
    """Show a file: as it stands, as a revision or at a time. To print its bytes alone, as into another file: --raw."""
    if revision is not None and moment is not None:
        raise Invalid("Name a revision or a time, and not both.", field="at")
    shown: ContextFile | RevisionText
    if revision is not None:
        shown = await at.memoranda.files.revision(at.who, name, revision, agent=agent)
    elif moment is not None:
        shown = await at.memoranda.files.as_of(at.who, name, moment, agent=agent)
    else:
        shown = await at.memoranda.files.get(at.who, name, agent=agent)
    if raw and not at.choices.as_json:
        return Answer(None, lambda: _raw(shown.body))
    by = (await _by(at, [shown]))[0]
    return Answer(shown, lambda: _shown(name, shown, by))


async def edit(
    at: Session,
    name: Name,
    file: Said,
    *,
    agent: Agent = None,
    expected_hash: Read = None,
    empty: Empty = False,
) -> Answer:
    """Write a file from a file or standard input, byte for byte. What it said is kept as a revision."""
    body = text_in(file, empty=empty)
    with told_how_to_go_on(("edit", name, file), name, agent):
        read = expected_hash or (await at.memoranda.files.get(at.who, name, agent=agent)).hash
        return written(await at.memoranda.files.write(at.who, name, body, read, agent=agent))


async def mode(
    at: Session,
    name: Name,
    load_mode: Annotated[
        Literal["always", "on_demand"],
        typer.Argument(metavar="always|on_demand", help="Given to every run, or read when needed."),
    ],
) -> Answer:
    """Say how a file is loaded. Three at most are always loaded."""
    return written(await at.memoranda.files.set_load_mode(at.who, name, load_mode))


async def history(
    at: Session,
    name: Name,
    *,
    agent: Agent = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most this many.")] = 20,
    before: Annotated[
        int | None, typer.Option("--before", metavar="N", min=1, help="Those below this number.")
    ] = None,
) -> Answer:
    """List what a file was, the newest and present state first."""
    found = await at.memoranda.files.history(at.who, name, agent=agent, limit=limit, before=before)
    rows = [
        (
            *(each.number, each.action, each.bytes, each.load_mode),
            *(by, when(each.written_at), each.hash),
        )
        for each, by in zip(found, await _by(at, found), strict=True)
    ]
    columns = ("#revision", "what", "#bytes", "loaded", "by", "since", "hash")
    return Answer(listing(found), lambda: listed(columns, rows, empty="There is no more."))


async def restore(
    at: Session,
    name: Name,
    number: Number,
    *,
    agent: Agent = None,
    expected_hash: Read = None,
) -> Answer:
    """Write again what a revision said, as a new revision. What it says now is kept."""
    with told_how_to_go_on(("restore", name, str(number)), name, agent):
        restored = await at.memoranda.files.restore(
            at.who, name, number, agent=agent, expected_hash=expected_hash
        )
    return written(restored)


async def erase_revision(at: Session, name: Name, number: Number, *, agent: Agent = None) -> Answer:
    """Take away for good what an earlier revision said. What the file says now is not touched."""
    erased = await at.memoranda.files.erase_revision(at.who, name, number, agent=agent)
    lines = [f"Revision {erased.number} of {erased.file} is erased."]
    if not erased.scrubbed:
        lines.append("The last traces leave the database's files as soon as no reader holds them.")
    return Answer(erased, lambda: [Text(line) for line in lines])


async def diff(
    at: Session,
    name: Name,
    number: Number,
    other: Annotated[
        int | None,
        typer.Argument(metavar="[M]", min=1, help="Another revision; without it the present one."),
    ] = None,
    *,
    agent: Agent = None,
) -> Answer:
    """Show what changed from a revision to another, or to what the file says now."""
    from memoranda.files.diff import diff_of

    verbs = at.memoranda.files
    before = (await verbs.revision(at.who, name, number, agent=agent)).body
    after: ContextFile | RevisionText
    if other is None:
        after = await verbs.get(at.who, name, agent=agent)
    else:
        after = await verbs.revision(at.who, name, other, agent=agent)
    changed = diff_of(name, before, after.body)
    value = {"file": name, "from": number, "to": other, "diff": changed}
    return Answer(value, lambda: changes(changed))


def text_in(file: str, *, empty: bool) -> str:
    """The text of a file or of standard input, byte for byte.

    Raises `Invalid` for what is no UTF-8, and for nothing at all unless it may be `empty`.
    """
    try:
        text = read_bytes(file, most=MOST_READ).decode()
    except UnicodeDecodeError:
        raise Invalid(f"{file} is no text in UTF-8: save it as that.", file=file) from None
    if not text and not empty:
        given = "Standard input" if file == STANDARD_INPUT else file
        raise Invalid(
            f"{given} is empty, and nothing was done. To have the file say nothing, add --empty.",
            file=file,
        )
    return text


@contextmanager
def told_how_to_go_on(words: "Sequence[str]", name: str, agent: str | None) -> "Iterator[None]":
    """Let a refusal say with which command a person goes on: over what a file says now, or of whose file.

    `words` are the command's own, as they came.
    """
    from memoranda.files.errors import FileChanged, UnknownFile
    from memoranda.files.models import AgentFile

    try:
        yield
    except FileChanged as changed:
        now = str(changed.details["current_hash"])
        whose = () if agent is None else ("--agent", agent)
        changed.message += (
            f" It has the hash {now} now. See what it says: {_command('show', name, *whose)}. "
            f"Then write over that: {_command(*words, *whose, '--expected-hash', now)}."
        )
        raise
    except UnknownFile as unknown:
        if agent is None and name in set(AgentFile):
            unknown.message += f" Say which agent's: {_command(*words, '--agent', 'AGENT')}."
        raise


def _command(*words: str) -> str:
    """A command of this group as a shell takes it, whatever the words hold."""
    return f"`{shlex.join(('memoranda', 'files', *words))}`"


def changes(diff: str) -> "Iterable[Text]":
    """A diff in colors, and with nothing in it that a terminal would obey."""
    if not diff:
        yield Text("Nothing differs.")
    for line in diff.split("\n")[:-1]:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        yield Text(neutralize(line).expandtabs(8), style=style)


def written(file: "FileSummary") -> Answer:
    """What became of a file that was changed; its text is not repeated."""
    from memoranda.files.models import FileSummary

    values = {name: getattr(file, name) for name in FileSummary.model_fields}
    head = {
        "file": file.name,
        "agent": file.agent_id,
        "revision": file.revision,
        "bytes": file.bytes,
        "loaded": file.load_mode,
        "hash": file.hash,
    }
    return Answer(FileSummary(**values), lambda: [card(head)])


async def _by(
    at: Session, written: "Sequence[FileSummary | FileRevision | RevisionText]"
) -> list[str]:
    """Who wrote each, by name; where a person applied what an agent proposed, both."""
    return await whose(at, [each.author for each in written], nobody="the system")


def _raw(body: str) -> "Iterable[Text]":
    import sys

    sys.stdout.flush()
    sys.stdout.buffer.write(body.encode())
    sys.stdout.buffer.flush()
    return ()


def _shown(name: str, shown: "ContextFile | RevisionText", by: str) -> "Iterable[Text]":
    number = getattr(shown, "revision", None) or getattr(shown, "number", None)
    head = {
        "file": name,
        "revision": number,
        "loaded": shown.load_mode,
        "bytes": shown.bytes,
        "by": by,
        "written": when(shown.written_at),
        "hash": shown.hash,
    }
    yield card(head)
    if shown.body:
        yield Text()
        yield Text(neutralize(shown.body).expandtabs(8).rstrip("\n"))


def register(app: typer.Typer) -> typer.Typer:
    """Add the group of files to the root."""
    made = room(app, "files", files)
    verb(made, "list", reads=True)(files)
    verb(made, "show", reads=True)(show)
    verb(made, "edit", files=("file",))(edit)
    verb(made, "mode")(mode)
    verb(made, "history", reads=True)(history)
    verb(made, "restore")(restore)
    verb(made, "erase-revision")(erase_revision)
    verb(made, "diff", reads=True)(diff)
    return made
