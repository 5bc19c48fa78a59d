"""`memoranda memories edit`, `pin`, `unpin`, `move` and `restore`: what a person changes of a memory."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoranda.surfaces.cli.memory_rows import MemoryId, Version, about
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, User, time_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card
from memoranda.surfaces.cli.verbs import verb

if TYPE_CHECKING:
    from memoranda.memories.models import Memory


async def edit(
    at: Session,
    memory_id: MemoryId,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What it says from now on.")
    ] = None,
    *,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="A short name; '' takes it away.")
    ] = None,
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="NAME", help="What sort of fact it is; '' for none."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="WORD", help="All of its tags anew; may be repeated."),
    ] = None,
    expires_at: Annotated[
        datetime | None,
        typer.Option("--expires-at", metavar="TIME", parser=time_of, help="It counts until then."),
    ] = None,
    version: Version = None,
) -> Answer:
    """Correct a memory. What it said before stays in its history."""
    given: dict[str, Any] = {"text": text, "expires_at": expires_at}
    given = {name: value for name, value in given.items() if value is not None}
    given |= {
        name: value or None
        for name, value in (("title", title), ("category", category))
        if value is not None
    }
    if tag is not None:
        given["tags"] = tuple(each for each in tag if each)
    return await _changed(at, "changed", memory_id, version, **given)


async def pin(at: Session, memory_id: MemoryId) -> Answer:
    """Pin a memory: every run that may know it is given it first."""
    return await _changed(at, "pinned", memory_id, None, pinned=True)


async def unpin(at: Session, memory_id: MemoryId) -> Answer:
    """Let a memory be recalled only where it fits."""
    return await _changed(at, "unpinned", memory_id, None, pinned=False)


async def move(
    at: Session,
    memory_id: MemoryId,
    agent: Agent = None,
    user: User = None,
    version: Version = None,
) -> Answer:
    """Move a memory to the user and agent that you name, or with neither to everybody. It gets a new id."""
    memory = await at.memoranda.memories.update(
        at.who,
        memory_id,
        expected_version=version,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
    )
    there = memory.id == memory_id
    return await _told(at, "already there" if there else "moved to", memory)


async def restore(at: Session, memory_id: MemoryId) -> Answer:
    """Restore a memory that was forgotten within 30 days."""
    return await _told(at, "restored", await at.memoranda.memories.restore(at.who, memory_id))


async def _changed(
    at: Session, done: str, memory_id: MemoryId, version: int | None, **given: Any
) -> Answer:
    memory = await at.memoranda.memories.update(
        at.who, memory_id, expected_version=version, **given
    )
    return await _told(at, done, memory)


async def _told(at: Session, done: str, memory: "Memory") -> Answer:
    known_to = (await whose(at, [memory], nobody="everybody"))[0]
    shown = {
        done: memory.id,
        "text": memory.text,
        "about": (about(memory) or "").removeprefix("about "),
        "for": known_to,
        "version": memory.version,
    }
    return Answer(memory, lambda: [card(shown)])


def register(memories: typer.Typer) -> None:
    """Add these commands to the group of memories."""
    verb(memories, "edit")(edit)
    verb(memories, "pin")(pin)
    verb(memories, "unpin")(unpin)
    verb(memories, "move")(move)
    verb(memories, "restore")(restore)
