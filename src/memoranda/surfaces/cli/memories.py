"""`memoranda remember`, `forget` and `memories`: facts that outlive a run."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import (
    Agent,
    Conversation,
    Cursor,
    Limit,
    Run,
    User,
    id_of,
    time_of,
)
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, listed, page_answer, when
from memoranda.surfaces.cli.verbs import room, verb

if TYPE_CHECKING:
    from memoranda.memories.models import Memory

MemoryId = Annotated[
    UUID,
    typer.Argument(metavar="ID", parser=id_of("`memoranda memories`"), help="The memory's id."),
]


async def remember(
    at: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The fact, in a sentence or two.")],
    *,
    agent: Agent = None,
    user: User = None,
    attribute: Annotated[
        str | None,
        typer.Option(
            "--attribute",
            metavar="NAME",
            help="What it is about: `observation.` or `preference.` and a name, such as "
            "preference.tone. A later text for the same attribute takes its place.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="A short name for it.")
    ] = None,
    category: Annotated[
        str | None, typer.Option("--category", metavar="NAME", help="What sort of fact it is.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="WORD", help="A word to find it by; may be repeated."),
    ] = None,
    expires_at: Annotated[
        datetime | None,
        typer.Option(
            "--expires-at",
            metavar="TIME",
            parser=time_of,
            help="It counts until this time, such as 2027-01-31 or 2027-01-31T09:00Z; "
            "in UTC where it names no zone.",
        ),
    ] = None,
    conversation: Conversation = None,
    run: Run = None,
) -> Answer:
    """Remember a fact: for everybody, or only for the user and agent that you name."""
    memory = await at.memoranda.memories.remember(
        at.who,
        text,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        title=title,
        category=category,
        tags=tuple(tag or ()),
        expires_at=expires_at,
        attribute=attribute,
        run_id=run,
        conversation_id=conversation,
    )
    return Answer(memory, lambda: [card({"remembered": memory.id, "text": memory.text})])


async def forget(at: Session, memory_id: MemoryId) -> Answer:
    """Forget a memory: no brief holds it again, and its history says that it was forgotten."""
    memory = await at.memoranda.memories.forget(at.who, memory_id)
    return Answer(memory, lambda: [card({"forgotten": memory.id})])


async def memories(
    at: Session, agent: Agent = None, user: User = None, limit: Limit = 50, cursor: Cursor = None
) -> Answer:
    """List what is remembered, newest first, or read one memory's history."""
    page = await at.memoranda.memories.page(
        at.who,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    known_to = await whose(at, page.items, nobody="everybody")
    rows = [
        (entry(each.text, each.id, _about(each)), who, each.recorded_at)
        for each, who in zip(page.items, known_to, strict=True)
    ]
    columns = ("@memory", "~for", "since")
    empty = "Nothing is remembered yet. Begin with: memoranda remember TEXT"
    return page_answer(page, columns, rows, empty)


async def history(at: Session, memory_id: MemoryId) -> Answer:
    """Show every revision of one memory, with what each replaced."""
    revisions = await at.memoranda.memories.history(at.who, memory_id)
    rows = [
        (
            each.version,
            each.text or Text("forgotten", style="italic"),
            each.origin,
            when(each.created_at),
        )
        for each in revisions
    ]
    columns = ("#version", "~text", "origin", "when")
    return Answer(listing(revisions), lambda: listed(columns, rows, empty="There is no revision."))


def _about(memory: "Memory") -> str | None:
    """The attribute, without the long id that a subject key has before it."""
    return memory.subject_key and f"about {memory.subject_key.split(':', 2)[-1]}"


def register(app: typer.Typer) -> None:
    """Add these commands to the root, which is where `remember` and `forget` belong."""
    verb(app, "remember")(remember)
    verb(app, "forget")(forget)
    verb(room(app, "memories", memories), "history", reads=True)(history)
