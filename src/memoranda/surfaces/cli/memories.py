"""`memoranda remember`, `forget` and `memories`: facts that outlive a run."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from memoranda.surfaces.cli.memory_rows import MemoryId, Version, about, kept_back, labels
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import (
    Agent,
    Conversation,
    Cursor,
    Limit,
    Run,
    User,
    row_of,
    time_of,
)
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, entry, listed, page_answer, when
from memoranda.surfaces.cli.verbs import room, verb

if TYPE_CHECKING:
    from memoranda.memories.models import Revision


OfCategory = Annotated[
    str | None, typer.Option("--category", metavar="NAME", help="Only of this sort.")
]
WithTag = Annotated[str | None, typer.Option("--tag", metavar="WORD", help="Only with this tag.")]
Forgotten = Annotated[
    bool, typer.Option("--forgotten", help="List what was forgotten and may be restored.")
]
Pinned = Annotated[bool, typer.Option("--pinned", help="List what is pinned.")]
Unused = Annotated[
    bool,
    typer.Option("--unused", help="List what no run was given for half a year, to review it."),
]
OldestFirst = Annotated[bool, typer.Option("--oldest-first", help="Begin with the oldest.")]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of", metavar="TIME", parser=time_of, help="List what was active at that time."
    ),
]


ExpiresAt = Annotated[
    datetime | None,
    typer.Option(
        "--expires-at",
        metavar="TIME",
        parser=time_of,
        help="It counts until this time, such as 2027-01-31 or 2027-01-31T09:00Z; "
        "in UTC where it names no zone.",
    ),
]
AboutRow = Annotated[
    str | None,
    typer.Option(
        "--about",
        metavar="KIND:ID",
        help="The row of your application that it is about: runs are told of it while the row is there.",
    ),
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
    expires_at: ExpiresAt = None,
    about_row: AboutRow = None,
    pinned: Annotated[
        bool, typer.Option("--pin", help="Pin it: every run that may know it is given it first.")
    ] = False,
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
        about=None if about_row is None else row_of("about", about_row),
        pinned=pinned,
        run_id=run,
        conversation_id=conversation,
    )
    shown = {"remembered": memory.id, "text": memory.text, "note": memory.hint}
    return Answer(memory, lambda: [card(shown)])


async def forget(at: Session, memory_id: MemoryId, version: Version = None) -> Answer:
    """Forget a memory: no run is given it again. For 30 days it may be restored."""
    memory = await at.memoranda.memories.forget(at.who, memory_id, expected_version=version)
    shown = {"forgotten": memory.id, "restorable until": memory.restorable_until}
    return Answer(memory, lambda: [card(shown)])


async def memories(
    at: Session,
    *,
    agent: Agent = None,
    user: User = None,
    category: OfCategory = None,
    tag: WithTag = None,
    forgotten: Forgotten = False,
    pinned: Pinned = False,
    unused: Unused = False,
    oldest_first: OldestFirst = False,
    as_of: AsOf = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List what is remembered, newest first; find, correct, pin, move, restore or erase it."""
    from memoranda.memories.models import MemoryStatus

    page = await at.memoranda.memories.page(
        at.who,
        status=MemoryStatus.FORGOTTEN if forgotten else MemoryStatus.ACTIVE,
        pinned_only=pinned,
        categories=() if category is None else (category,),
        tags=() if tag is None else (tag,),
        unused_only=unused,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        oldest_first=oldest_first,
        as_of=as_of,
        limit=limit,
        cursor=cursor,
    )
    known_to = await whose(at, page.items, nobody="everybody")
    rows = [
        (
            entry(each.text, each.id, about(each), labels(each)),
            who,
            "pinned" if each.pinned else "",
            each.recorded_at,
            each.restorable_until,
        )
        for each, who in zip(page.items, known_to, strict=True)
    ]
    columns = ("@memory", "~for", "", "forgotten" if forgotten else "since", "restorable until")
    narrowed = bool(category or tag or agent or user or as_of)
    empty = "Nothing fits that." if narrowed else _empty(forgotten, pinned, unused)
    listed_page = page_answer(page, columns, rows, empty)
    return Answer(page, lambda: [*listed_page.drawn(), *kept_back(page.hidden)])


async def show(at: Session, memory_id: MemoryId) -> Answer:
    """Show all that is known of one memory."""
    memory = await at.memoranda.memories.get(at.who, memory_id)
    known_to = (await whose(at, [memory], nobody="everybody"))[0]
    shown = {
        "memory": memory.id,
        "text": memory.text,
        "title": memory.title,
        "category": memory.category,
        "tags": ", ".join(memory.tags),
        "about": (about(memory) or "").removeprefix("about "),
        "note": memory.hint,
        "branch": "left since" if memory.branch_left else None,
        "for": known_to,
        "pinned": "yes" if memory.pinned else "no",
        "version": memory.version,
        "written by": memory.origin,
        "since": when(memory.created_at),
        "changed": when(memory.recorded_at),
        "expires": memory.expires_at and when(memory.expires_at),
        "given to": counted(memory.uses, "run", "runs"),
        "last given": memory.used_at and when(memory.used_at),
    }
    return Answer(memory, lambda: [card(shown)])


async def history(at: Session, memory_id: MemoryId) -> Answer:
    """Show every revision of one memory, with what each replaced."""
    revisions = await at.memoranda.memories.history(at.who, memory_id)
    rows = [
        (each.version, each.text or _ended(each), each.origin, when(each.created_at))
        for each in revisions
    ]
    columns = ("#version", "~text", "origin", "when")
    return Answer(listing(revisions), lambda: listed(columns, rows, empty="There is no revision."))


def _ended(tombstone: "Revision") -> Text:
    onward = tombstone.continued_by_id
    return Text("forgotten" if onward is None else f"goes on as {onward}", style="italic")


def _empty(forgotten: bool, pinned: bool, unused: bool) -> str:
    if unused:
        return "Everything was used or changed within half a year."
    if forgotten:
        return "Nothing is forgotten that could be restored."
    if pinned:
        return "Nothing is pinned. Pin a memory with: memoranda memories pin ID"
    return "Nothing is remembered yet. Begin with: memoranda remember TEXT"


def register(app: typer.Typer) -> typer.Typer:
    """Add these commands to the root, which is where `remember` and `forget` belong; answer their group."""
    verb(app, "remember")(remember)
    verb(app, "forget")(forget)
    made = room(app, "memories", memories)
    verb(made, "show", reads=True)(show)
    verb(made, "history", reads=True)(history)
    return made
