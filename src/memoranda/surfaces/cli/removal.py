"""`memoranda memories forget-all`, `erase` and `erase-user`: what takes memories away."""

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from memoranda.surfaces.cli.memory_rows import MemoryId
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import counted
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.memories.removal.models import Erased, QuotedInKept, QuotingFile

ERASE_USER: Final = "ERASE USER"


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
        str, typer.Argument(metavar="USER", help="Whose everything, by id or external id.")
    ],
    confirm: Annotated[
        str,
        typer.Option(
            "--confirm", metavar="WORDS", help=f"The words {ERASE_USER}, so that no slip does it."
        ),
    ] = "",
) -> Answer:
    """Erase all that is for one user, at once and for good.

    Its memories and proposals, chats, conversations, section of the dossier, and what agent frameworks keep
    for it. The user itself and its keys stay.
    """
    if confirm != ERASE_USER:
        raise Invalid(
            f"Nothing was erased: all that is for the user would go, chats and conversations too. --confirm has "
            f"to be {ERASE_USER!r}, letter for letter.",
            field="confirm",
        )
    user_id = (await at.memoranda.access.user(at.who, user)).id
    return _told(await at.memoranda.removal.erase_user(at.who, user_id))


def _told(erased: "Erased") -> Answer:
    gone = (
        counted(erased.memories, "memory", "memories"),
        counted(erased.proposals, "proposal", "proposals"),
    )
    lines = [f"Erased: {' and '.join(gone)}.", *_also(erased)]
    for quoting, ids in (
        ("conversations quote", erased.quoted_in),
        ("chats quote", erased.quoted_in_chats),
        ("users' sections of the dossier quote", erased.quoted_in_sections),
    ):
        if ids:
            quoted = ", ".join(map(str, ids))
            lines.append(f"These {quoting} what is erased, and stay for you to decide on: {quoted}")
    if erased.quoted_in_dossier:
        lines.append("The dossier quotes what is erased: see `memoranda dossier show`.")
    lines += [_in_file(each) for each in erased.quoted_in_files]
    lines += _in_kept(erased.quoted_in_kept)
    if not erased.scrubbed:
        lines.append("The last traces leave the database's files as soon as no reader holds them.")
    return Answer(erased, lambda: [Text(line) for line in lines])


def _also(erased: "Erased") -> list[str]:
    """What went with a user beside memories."""
    if not erased.chats and not erased.conversations and not erased.kept:
        return []
    chats = counted(erased.chats, "chat", "chats")
    conversations = counted(erased.conversations, "conversation", "conversations")
    kept = counted(erased.kept, "thing", "things")
    return [f"Erased too: {chats}, {conversations}, and {kept} that agent frameworks kept."]


def _in_file(quoting: "QuotingFile") -> str:
    """Where a file quotes, and how to look there."""
    places = ["what it says now"] if quoting.now else []
    if quoting.revisions:
        places.append(f"revision {', '.join(map(str, quoting.revisions))}")
    if quoting.proposals:
        places.append(f"proposed change {', '.join(map(str, quoting.proposals))}")
    whose = f" --agent {quoting.agent_id}" if quoting.agent_id else ""
    return (
        f"The file {quoting.file} quotes what is erased, in {'; '.join(places)}: "
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
            "A graph's thread quotes what is erased: see "
            f"`memoranda graphs checkpoints {quote(each.thread_id)}{of}`."
        )
    for ids, what, show in (
        (quoted.items, "A graph's item", "graphs item"),
        (quoted.histories, "A history", "histories show"),
        (quoted.sessions, "A session", "sessions show"),
    ):
        lines += [f"{what} quotes what is erased: see `memoranda {show} {each}`." for each in ids]
    if quoted.states:
        lines.append(
            "What outlives sessions quotes what is erased: see `memoranda sessions states`."
        )
    return lines


def register(memories: typer.Typer) -> None:
    """Add these commands to the group of memories."""
    verb(memories, "forget-all")(forget_all)
    verb(memories, "erase")(erase)
    verb(memories, "erase-user")(erase_user)
