"""`memoranda runs`: what agents are running for whom, and what each run logged."""

from typing import Annotated
from uuid import UUID

import typer

from memoranda.surfaces.cli.documents import parse_json
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, Trigger, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, page_answer, when
from memoranda.surfaces.cli.verbs import group, verb

runs = group("Runs of agents: start one, look at it, read its log.")

_READ_ID = id_of("`memoranda runs create`")
RunId = Annotated[UUID, typer.Argument(metavar="ID", parser=_READ_ID, help="The run's id.")]


@verb(runs, "create")
async def create_run(
    at: Session,
    *,
    agent: Agent = None,
    user: User = None,
    trigger: Trigger = None,
    parent: Annotated[
        UUID | None,
        typer.Option("--parent", metavar="ID", parser=_READ_ID, help="The run that started it."),
    ] = None,
    input: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="What it is given, as JSON.")
    ] = None,
) -> Answer:
    """Start a run of an agent, for a user or a trigger."""
    made = await at.memoranda.runs.create(
        at.who,
        agent_id=await at.agent_id(agent),
        user_id=await at.user_id(user),
        trigger_id=trigger,
        parent_id=parent,
        input=None if input is None else parse_json(input, "--input"),
    )
    return Answer(made, lambda: [card(dict(made))])


@verb(runs, "show", reads=True)
async def show_run(at: Session, run_id: RunId) -> Answer:
    """Show one run."""
    found = await at.memoranda.runs.get(at.who, run_id)
    return Answer(found, lambda: [card(dict(found))])


@verb(runs, "logs", reads=True)
async def show_logs(
    at: Session, run_id: RunId, limit: Limit = 100, cursor: Cursor = None
) -> Answer:
    """Show what a run logged, oldest first."""
    page = await at.memoranda.runs.logs(at.who, run_id, limit=limit, cursor=cursor)
    rows = [
        (when(each.created_at), each.level, each.step, each.metadata or "") for each in page.items
    ]
    columns = ("when", "level", "~step", "~what")
    return page_answer(page, columns, rows, "This run has logged nothing.")
