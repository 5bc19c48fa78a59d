"""`memoranda proposals`: what agents and tidy-up would have remembered, and what a person makes of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.inbox import told_where
from memoranda.surfaces.cli.memory_rows import about
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, Run, User, id_of
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, listed, page_answer
from memoranda.surfaces.cli.verbs import room, verb
from memoranda.words.errors import NotFound

if TYPE_CHECKING:
    from memoranda.memories.models import Proposal

ProposalId = Annotated[
    UUID,
    typer.Argument(metavar="ID", parser=id_of("`memoranda proposals`"), help="The proposal's id."),
]


async def proposals(
    at: Session,
    *,
    discarded: Annotated[
        bool, typer.Option("--discarded", help="List what was discarded and may be restored.")
    ] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List the proposals that wait for a person; accept, discard or restore them."""
    from memoranda.memories.models import ProposalStatus

    page = await at.memoranda.proposals.page(
        at.who,
        status=ProposalStatus.DISCARDED if discarded else ProposalStatus.WAITING,
        limit=limit,
        cursor=cursor,
    )
    known_to = await whose(at, page.items, nobody="everybody")
    replaced = await _replaced(at, page.items)
    rows = [
        (entry(each.text, each.id, about(each), *instead), _does(each), who, each.created_at)
        for each, who, instead in zip(page.items, known_to, replaced, strict=True)
    ]
    empty = "Nothing is discarded." if discarded else "No proposal waits for anybody."
    return page_answer(page, ("@proposal", "does", "~for", "since"), rows, empty)


async def propose(
    at: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The fact, in a sentence or two.")],
    *,
    agent: Agent = None,
    user: User = None,
    attribute: Annotated[
        str | None,
        typer.Option("--attribute", metavar="NAME", help="What it is about, as for remember."),
    ] = None,
    run: Run = None,
) -> Answer:
    """Propose to remember a fact: it waits until it is accepted, and no run knows it."""
    done = await at.memoranda.proposals.propose(
        at.who,
        text,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        attribute=attribute,
        run_id=run,
    )
    shown = {
        "outcome": done.outcome,
        "proposal": done.proposal and done.proposal.id,
        "memory": done.memory and done.memory.id,
    }
    return Answer(done, lambda: [card(shown)])


async def accept(
    at: Session,
    proposal_id: ProposalId,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="What it is to say instead."),
    ] = None,
) -> Answer:
    """Accept a proposal: it becomes a memory, or a merge is done."""
    async with told_where(at, proposal_id):
        memory = await at.memoranda.proposals.accept(at.who, proposal_id, text=text)
    return Answer(memory, lambda: [card({"remembered": memory.id, "text": memory.text})])


async def _replaced(at: Session, found: "Sequence[Proposal]") -> list[list[str]]:
    """What would be said no more, for each proposal; a script has the ids."""
    if at.choices.as_json:
        return [[] for _ in found]
    return [await _ending(at, each) for each in found]


async def _ending(at: Session, proposal: "Proposal") -> list[str]:
    ending = [each.id for each in proposal.merges]
    if proposal.merges and proposal.memory_id is not None:
        ending.append(proposal.memory_id)
    texts = [] if proposal.replaces is None else [proposal.replaces.text]
    for memory_id in ending:
        try:
            texts.append((await at.memoranda.memories.get(at.who, memory_id)).text)
        except NotFound:  # it has ended since, and the merge can't be accepted any more
            continue
    return [f"instead of: {text}" for text in texts if text != proposal.text]


async def discard(at: Session, proposal_id: ProposalId) -> Answer:
    """Discard a proposal. For 30 days it may be restored."""
    async with told_where(at, proposal_id):
        proposal = await at.memoranda.proposals.discard(at.who, proposal_id)
    shown = {"discarded": proposal.id, "restorable until": proposal.restorable_until}
    return Answer(proposal, lambda: [card(shown)])


async def restore(at: Session, proposal_id: ProposalId) -> Answer:
    """Let a proposal that was discarded within 30 days become a memory after all."""
    memory = await at.memoranda.proposals.restore(at.who, proposal_id)
    return Answer(memory, lambda: [card({"remembered": memory.id, "text": memory.text})])


async def tidy_up(at: Session) -> Answer:
    """Propose to merge memories that say the same. Nothing is merged before it is accepted."""
    made = await at.memoranda.proposals.tidy_up(at.who)
    replaced = await _replaced(at, made)
    rows = [
        (entry(each.text, each.id, *instead), _does(each))
        for each, instead in zip(made, replaced, strict=True)
    ]
    empty = "Nothing says the same twice."
    next_step = [Text("Decide with: memoranda proposals accept ID, or discard ID")] if made else []
    columns = ("@proposal", "does")
    return Answer(listing(made), lambda: [*listed(columns, rows, empty=empty), *next_step])


def _does(proposal: "Proposal") -> str:
    return f"merges {len(proposal.merges) + 1}" if proposal.merges else "remembers"


def register(app: typer.Typer, memories: typer.Typer) -> None:
    """Add the group of proposals to the root, and `tidy-up` to the group of memories."""
    made = room(app, "proposals", proposals)
    verb(made, "propose")(propose)
    verb(made, "accept")(accept)
    verb(made, "discard")(discard)
    verb(made, "restore")(restore)
    verb(memories, "tidy-up")(tidy_up)
