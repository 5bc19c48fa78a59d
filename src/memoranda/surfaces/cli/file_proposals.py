"""`memoranda files proposals`: changes of files that agents and members propose, and what an owner makes of them."""

from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

import typer

from memoranda.surfaces.cli.files import (
    Empty,
    Name,
    Said,
    changes,
    text_in,
    told_how_to_go_on,
    written,
)
from memoranda.surfaces.cli.inbox import told_where
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, page_answer, when
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from memoranda.files.models import FileProposal, ProposedChange

ProposalId = Annotated[
    UUID,
    typer.Argument(
        metavar="ID",
        parser=id_of("`memoranda files proposals`"),
        help="The proposed change's id.",
    ),
]


class _Author:
    """Whom a change is by, as a row of a list names whom it is for."""

    def __init__(self, proposal: "FileProposal") -> None:
        self.user_id = proposal.author.user_id
        self.agent_id = proposal.author.agent_id


async def proposals(
    at: Session,
    *,
    status: Annotated[
        Literal["waiting", "applied", "discarded"],
        typer.Option("--status", metavar="waiting|applied|discarded", help="Where they stand."),
    ] = "waiting",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List changes of files that wait for an owner, or that one has decided."""
    page = await at.memoranda.file_proposals.page(at.who, status=status, limit=limit, cursor=cursor)
    by = await whose(at, [_Author(each) for each in page.items], nobody="a key")
    rows = [
        (
            *(entry(each.file, each.id), each.bytes, each.base_revision),
            *(who, when(each.created_at), "yes" if each.stale else ""),
        )
        for each, who in zip(page.items, by, strict=True)
    ]
    columns = ("@change of", "#bytes", "#made from", "~by", "since", "changed since")
    return page_answer(page, columns, rows, f"No change is {status}.")


async def proposal(at: Session, proposal_id: ProposalId) -> Answer:
    """Show a proposed change: what it would take out of the file as it stands now, and put in."""
    return _shown(await at.memoranda.file_proposals.get(at.who, proposal_id))


async def propose(
    at: Session,
    name: Name,
    file: Said,
    *,
    agent: Agent = None,
    expected_hash: Annotated[
        str | None,
        typer.Option("--expected-hash", metavar="HASH", help="What it was made from, as for edit."),
    ] = None,
    empty: Empty = False,
) -> Answer:
    """Propose what a file is to say: it waits until it is applied."""
    body = text_in(file, empty=empty)
    with told_how_to_go_on(("propose", name, file), name, agent):
        read = expected_hash or (await at.memoranda.files.get(at.who, name, agent=agent)).hash
        made = await at.memoranda.file_proposals.propose(at.who, name, body, read, agent=agent)
    return _shown(made)


async def apply(
    at: Session,
    proposal_id: ProposalId,
    *,
    expected_hash: Annotated[
        str | None,
        typer.Option(
            "--expected-hash",
            metavar="HASH",
            help="Over what has this hash now, where the file has changed since.",
        ),
    ] = None,
) -> Answer:
    """Write what was proposed. Where the file has changed since, nothing is done, and the change waits on."""
    verbs = at.memoranda.file_proposals
    async with told_where(at, proposal_id):
        try:
            applied = await verbs.apply(at.who, proposal_id, expected_hash=expected_hash)
        except Conflict as refused:
            _tell_how_to_go_on(refused, proposal_id)
            raise
    return written(applied)


async def discard(at: Session, proposal_id: ProposalId) -> Answer:
    """Discard a proposed change; nothing of its text is kept."""
    async with told_where(at, proposal_id):
        done = await at.memoranda.file_proposals.discard(at.who, proposal_id)
    return Answer(done, lambda: [card({"discarded": done.id, "file": done.file})])


def _shown(change: "ProposedChange") -> Answer:
    head = {
        "change": change.id,
        "file": change.file,
        "agent": change.agent_id,
        "status": change.status,
        "made from": f"revision {change.base_revision}",
        "changed since": _changed_since(change),
        "became": change.revision and f"revision {change.revision}",
    }

    def drawn() -> "Iterable[RenderableType]":
        yield card(head)
        if change.diff is not None:
            yield from changes(change.diff)

    return Answer(change, drawn)


def _changed_since(change: "ProposedChange") -> str:
    if not change.stale:
        return ""
    since = "yes" if change.stale_since is None else f"{change.stale_since:%Y-%m-%d %H:%M:%SZ}"
    return f"{since}; it has the hash {change.current_hash} now"


def _tell_how_to_go_on(refused: Conflict, proposal_id: UUID) -> None:
    now = refused.details.get("current_hash")
    if now is not None:
        refused.message += (
            f" It has the hash {now} now. See what the change would do to that: `memoranda files "
            f"proposal {proposal_id}`. Then apply it over that: `memoranda files apply {proposal_id} "
            f"--expected-hash {now}`."
        )


def register(files: typer.Typer) -> None:
    """Add the verbs of proposed changes to the group of files."""
    verb(files, "proposals", reads=True)(proposals)
    verb(files, "proposal", reads=True)(proposal)
    verb(files, "propose", files=("file",))(propose)
    verb(files, "apply")(apply)
    verb(files, "discard")(discard)
