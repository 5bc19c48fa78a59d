"""`memoranda runs`: what agents are running for whom, what becomes of each run, and what it logged."""

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.documents import parse_json
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Conversation, Cursor, Limit, Trigger, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, page_answer, when
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from memoranda.briefs.blocks.models import RunBlock
    from memoranda.runs.models import Run

runs = group("Runs of agents: start one, say what becomes of it, look at it, read its log.")

_READ_ID = id_of("`memoranda runs list`")
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
    return _shown(made)


@verb(runs, "list", reads=True)
async def list_runs(
    at: Session,
    *,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="running|waiting|completed|failed|cancelled",
            help="Those that stand so.",
        ),
    ] = None,
    agent: Agent = None,
    user: User = None,
    parent: Annotated[
        UUID | None,
        typer.Option("--parent", metavar="ID", parser=_READ_ID, help="Those that it started."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List runs, the newest first."""
    from memoranda.runs.models import RunStatus
    from memoranda.words.inputs import choice_input

    page = await at.memoranda.runs.page(
        at.who,
        status=None if status is None else choice_input("status", status, RunStatus),
        agent_id=await at.agent_id(agent),
        user_id=await at.user_id(user),
        parent_id=parent,
        limit=limit,
        cursor=cursor,
    )
    known_to = await whose(at, page.items, nobody="nobody")
    rows = [
        (entry(_says(each), each.id), each.status, who, when(each.created_at))
        for each, who in zip(page.items, known_to, strict=True)
    ]
    return page_answer(page, ("@run", "status", "~for", "created"), rows, "There is no such run.")


@verb(runs, "show", reads=True)
async def show_run(at: Session, run_id: RunId) -> Answer:
    """Show one run."""
    return _shown(await at.memoranda.runs.get(at.who, run_id))


Stage = Annotated[
    int | None,
    typer.Option("--stage", metavar="N", help="Of this stage, from 0; else of its present one."),
]
Reason = Annotated[str, typer.Argument(metavar="REASON", help="Why, in a sentence.")]


@verb(runs, "wait")
async def wait_run(at: Session, run_id: RunId, reason: Reason) -> Answer:
    """Let a running run wait."""
    return _shown(await at.memoranda.runs.wait(at.who, run_id, reason))


@verb(runs, "resume")
async def resume_run(at: Session, run_id: RunId) -> Answer:
    """Let a run that waits go on, in its next stage."""
    return _shown(await at.memoranda.runs.resume(at.who, run_id))


@verb(runs, "complete")
async def complete_run(
    at: Session,
    run_id: RunId,
    *,
    summary: Annotated[
        str | None, typer.Option("--summary", metavar="TEXT", help="What it came to.")
    ] = None,
    ref: Annotated[
        list[str] | None,
        typer.Option(
            "--ref", metavar="KIND:ID", help="A row that it came to; may be given several times."
        ),
    ] = None,
) -> Answer:
    """End a running run well, with what it came to."""
    done = await at.memoranda.runs.complete(
        at.who, run_id, summary=summary, refs=[_ref(each) for each in ref or ()]
    )
    return _shown(done)


@verb(runs, "fail")
async def fail_run(at: Session, run_id: RunId, reason: Reason) -> Answer:
    """End a run as failed."""
    return _shown(await at.memoranda.runs.fail(at.who, run_id, reason))


@verb(runs, "cancel")
async def cancel_run(at: Session, run_id: RunId) -> Answer:
    """End a run that nobody needs any more."""
    return _shown(await at.memoranda.runs.cancel(at.who, run_id))


Explain = Annotated[
    bool, typer.Option("--explain", help="Show also what was offered, and what became of it.")
]


@verb(runs, "brief")
async def build_run_block(
    at: Session,
    run_id: RunId,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the run is about.")],
    *,
    stage: Stage = None,
    refresh: Annotated[
        bool | None,
        typer.Option("--refresh/--keep", help="Build another block, or none where there is one."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="NAME", help="A policy; else the default one.")
    ] = None,
    conversation: Conversation = None,
    explain: Explain = False,
) -> Answer:
    """Build the block for a run's stage where it is due, or show the one that is kept."""
    block = await at.memoranda.briefs.for_run(
        at.who,
        run_id,
        query,
        stage=stage,
        refresh=refresh,
        policy_name=policy,
        conversation=conversation,
        explain=explain or not at.choices.as_json,
    )
    return _drawn(block, explain=explain)


@verb(runs, "block", reads=True)
async def get_run_block(
    at: Session, run_id: RunId, *, stage: Stage = None, explain: Explain = False
) -> Answer:
    """Show the block of text that a run's stage was given, as it was kept."""
    block = await at.memoranda.briefs.block(
        at.who, run_id, stage=stage, explain=explain or not at.choices.as_json
    )
    return _drawn(block, explain=explain)


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


def _ref(written: str) -> dict[str, Any]:
    kind, colon, row_id = written.partition(":")
    if not (kind and colon and row_id):
        raise Invalid("--ref names a row as KIND:ID, such as crm.deal:42.", field="ref")
    return {"kind": kind, "id": row_id}


def _says(run: "Run") -> str | None:
    return (run.result and run.result.summary) or run.waiting_reason or run.failure_reason


def _shown(run: "Run") -> Answer:
    fields = dict(run)
    if fields.pop("whole") is False:
        fields |= {"told": "without its input, and not whom it was for: it is another's"}
    if run.result is not None:
        refs = ", ".join(f"{ref.kind}:{ref.id}" for ref in run.result.refs)
        fields |= {"result": run.result.summary, "refs": refs}
    return Answer(run, lambda: [card(fields)])


def _drawn(block: "RunBlock", *, explain: bool) -> Answer:
    from memoranda.surfaces.cli.briefs import drawn, rows_of

    def told() -> "Iterator[RenderableType]":
        if block.pruned:
            yield Text("The text is no longer kept. This is what it was made of.")
            yield rows_of(block.brief)
            return
        yield from drawn(block.brief, block.policy, None, everything=explain)

    return Answer(block, told)
