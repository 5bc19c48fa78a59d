"""`memoranda recall`, `memories search` and `memories stats`: what is known, and what a run is given of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from memoranda.surfaces.cli.memory_rows import about, kept_back, labels, why
from memoranda.surfaces.cli.options import Agent, Limit, Run, User
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, entry, listed
from memoranda.surfaces.cli.verbs import verb

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.memories.models import MemorySearch, Recall

Query = Annotated[str, typer.Argument(metavar="QUERY", help="Words, or a question; no syntax.")]

PATIENCE_S = 5.0
"""How long a search waits for vectors that are still to be made."""
WITHOUT_MEANING = "Nothing was searched by meaning: no embedder answered."


async def search(
    at: Session,
    query: Query,
    *,
    agent: Agent = None,
    user: User = None,
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="NAME", help="Only of this sort; may be repeated."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="WORD", help="Only with this tag; may be repeated."),
    ] = None,
    limit: Limit = 50,
) -> Answer:
    """Search memories by words, letters and meaning, best first, and see why each was found."""
    note = await catch_up(at)
    found = await at.memoranda.memories.search(
        at.who,
        query,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        categories=tuple(category or ()),
        tags=tuple(tag or ()),
    )
    return Answer(found, lambda: [*drawn_search(found), *note])


def drawn_search(found: "MemorySearch") -> "Iterator[RenderableType]":
    """What was found, best first, each with the reason."""
    rows = [
        (
            f"{each.match.score:.2f}",
            entry(each.memory.text, each.memory.id, about(each.memory), labels(each.memory)),
            why(each.match),
        )
        for each in found.results
    ]
    yield from listed(("#score", "@memory", "~found by"), rows, empty="Nothing was found.")
    yield from kept_back(found.hidden)
    if not found.semantic:
        yield Text(WITHOUT_MEANING, style="dim")


async def recall(
    at: Session, query: Query, agent: Agent = None, user: User = None, run: Run = None
) -> Answer:
    """Show the block of memories that a run about QUERY is given, as it reaches the model."""
    note = await catch_up(at)
    recalled = await at.memoranda.memories.recall(
        at.who,
        query,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        run_id=run,
    )
    return Answer(recalled, lambda: [*drawn_recall(recalled), *note])


async def catch_up(at: Session) -> list[Text]:
    """Make the vectors that wait, since no worker may run beside a command; say it where some still do."""
    organization_id = at.who.organization_id
    if organization_id is None or await at.memoranda.embedding.catch_up(
        organization_id, within_s=PATIENCE_S
    ):
        return []
    return [
        Text("Some memories can't be found by meaning yet: memoranda embedder run", style="dim")
    ]


def drawn_recall(recalled: "Recall") -> "Iterator[RenderableType]":
    """The block, then how much it is."""
    if recalled.block is None:
        yield Text(f"There is no block: {recalled.outcome}.")
        return
    yield Text(recalled.block)
    given = counted(len(recalled.memories), "memory", "memories")
    told = f"{given}, {recalled.tokens} tokens"
    if recalled.dropped:
        told += f"; {recalled.dropped} more had no room"
    yield Text(told if recalled.semantic else f"{told}. {WITHOUT_MEANING}", style="dim")


async def stats(at: Session) -> Answer:
    """Count memories and proposals, beside how many there may be."""
    counted = await at.memoranda.memories.stats(at.who)
    shown = {
        "active": f"{counted.active} of {counted.capacity}",
        "pinned": f"{counted.pinned} of {counted.pin_capacity}",
        "proposed": f"{counted.proposed} of {counted.proposal_capacity}",
        "forgotten": counted.forgotten,
        "proposals dropped": counted.dropped,
        "found by meaning": counted.model if counted.semantic else "no",
        "not embedded yet": counted.unembedded,
    }
    return Answer(counted, lambda: [card(shown)])


def register(app: typer.Typer, memories: typer.Typer) -> None:
    """Add `recall` to the root, and the rest to the group of memories."""
    verb(app, "recall", reads=True)(recall)
    verb(memories, "search", reads=True)(search)
    verb(memories, "stats", reads=True)(stats)
