"""`memoranda memories forget-all`, `erase` and `erase-user`: what takes memories away."""

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from memoranda.surfaces.cli.memory_rows import MemoryId
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import counted
from memoranda.surfaces.cli.verbs import verb

if TYPE_CHECKING:
    from memoranda.memories.removal.models import Erased, QuotedInKept, QuotingFile


async def forget_all(
    at: Session,
    confirm: Annotated[
        str,
        typer.Option(
            "--confirm", metavar="WORDS", help="The words FORGET ALL, so that no slip does it."
        ),
    ] = "",
) -> Answer:
    """Forget every memory and discard every proposal of the organization, and nothing else."""
    count = await at.memoranda.removal.forget_all(at.who, confirm)
    forgotten = counted(count, "memory is", "memories are")
    told = f"{forgotten} forgotten, and every waiting proposal is discarded. For 30 days each may be restored."
    return Answer({"forgotten": count}, lambda: [Text(told)])


async def erase(at: Session, memory_id: MemoryId) -> Answer:
    """Erase a memory with its whole history, at once and for good."""
    return _told(await at.memoranda.removal.erase(at.who, memory_id))


async def erase_user(
    at: Session,
    user: Annotated[
        str, typer.Argument(metavar="USER", help="Whose memories, by id or external id.")
    ],
) -> Answer:
    """Erase every memory and proposal that is for one user, at once and for good."""
    user_id = (await at.memoranda.access.user(at.who, user)).id
    return _told(await at.memoranda.removal.erase_user(at.who, user_id))


def _told(erased: "Erased") -> Answer:
    gone = (
        counted(erased.memories, "memory", "memories"),
        counted(erased.proposals, "proposal", "proposals"),
    )
    lines = [f"Erased: {' and '.join(gone)}."]
    if erased.quoted_in:
        quoted = ", ".join(map(str, erased.quoted_in))
        lines.append(f"These conversations quote them, and stay for you to decide on: {quoted}")
    if erased.quoted_in_chats:
        quoted = ", ".join(map(str, erased.quoted_in_chats))
        lines.append(f"So do these chats: {quoted}")
    if erased.quoted_in_sections:
        quoted = ", ".join(map(str, erased.quoted_in_sections))
        lines.append(f"So do the sections of these users in the dossier: {quoted}")
    if erased.quoted_in_dossier:
        lines.append("The dossier quotes them too: see `memoranda dossier show`.")
    lines += [_in_file(each) for each in erased.quoted_in_files]
    lines += _in_kept(erased.quoted_in_kept)
    if not erased.scrubbed:
        lines.append("The last traces leave the database's files as soon as no reader holds them.")
    return Answer(erased, lambda: [Text(line) for line in lines])


def _in_file(quoting: "QuotingFile") -> str:
    """Where a file quotes, and how to look there."""
    places = ["what it says now"] if quoting.now else []
    if quoting.revisions:
        places.append(f"revision {', '.join(map(str, quoting.revisions))}")
    if quoting.proposals:
        places.append(f"proposed change {', '.join(map(str, quoting.proposals))}")
    whose = f" --agent {quoting.agent_id}" if quoting.agent_id else ""
    return (
        f"So does the file {quoting.file}, in {'; '.join(places)}: "
        f"see `memoranda files history {quoting.file}{whose}`."
    )


def _in_kept(quoted: "QuotedInKept") -> list[str]:
    """What frameworks keep that quotes, and how to look there."""
    lines = []
    for each in quoted.threads:
        of = "".join(
            f" --{name} {named}"
            for name, named in (("user", each.user_id), ("agent", each.agent_id))
            if named
        )
        lines.append(
            f"So does a graph's thread: see `memoranda graphs checkpoints {quote(each.thread_id)}{of}`."
        )
    for ids, show in (
        (quoted.items, "graphs item"),
        (quoted.histories, "histories show"),
        (quoted.sessions, "sessions show"),
    ):
        lines += [f"So does what `memoranda {show} {each}` shows." for each in ids]
    if quoted.states:
        lines.append("So does what outlives sessions: see `memoranda sessions states`.")
    return lines


def register(memories: typer.Typer) -> None:
    """Add these commands to the group of memories."""
    verb(memories, "forget-all")(forget_all)
    verb(memories, "erase")(erase)
    verb(memories, "erase-user")(erase_user)
