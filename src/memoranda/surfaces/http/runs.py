"""Routes for runs, their logs, and what happened in an organization."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from memoranda.briefs.blocks.models import RunBlock
from memoranda.briefs.models import MOST_TOKENS
from memoranda.runs.models import Activity, LogLevel, Run, RunLog, RunStatus
from memoranda.runs.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Flag, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import (
    Conflict,
    Erased,
    Gone,
    NotFound,
    PolicyRejected,
    ReadOnly,
    RequiredContextSourceError,
)
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["runs"], route_class=Operation)

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]


class RunToStart(Body):
    """A new run, for the subject that its ids name. `input` is any JSON."""

    agent_id: UUID | None = None
    user_id: UUID | None = None
    trigger_id: UUID | None = None
    parent_id: UUID | None = None
    input: Any = None


class ReasonOfRun(Body):
    """Why a run waits, or why it failed."""

    reason: str


class ResultOfRun(Body):
    """What a run came to."""

    summary: str | None = None
    refs: list[Any] = Field(
        default=[], description="The rows that it came to, each with `kind` and `id`."
    )


class BriefOfRun(Body):
    """What a run's stage is built a block for. A policy is named, or stated here, or the default one."""

    query: str
    stage: Number | None = Field(
        default=None, ge=0, le=LARGEST, description="Its present one, if left out."
    )
    refresh: Flag | None = Field(
        default=None, description="True builds another block, false builds none where there is one."
    )
    entities: list[Any] = Field(
        default=[], description="Rows that it is about; those of the run's input, if left out."
    )
    policy: dict[str, Any] | None = None
    policy_name: str | None = None
    conversation: UUID | None = None
    budget: Number | None = Field(
        default=None, ge=1, le=MOST_TOKENS, description="In tokens, for all."
    )
    explain: Flag = False


class LineToLog(Body):
    """A line of a run's log; `metadata` is ids and counts, never text that a person wrote."""

    step: str
    level: LogLevel = LogLevel.INFO
    metadata: dict[str, Any] | None = None


@routes.post("/runs", status_code=201)
@raises(NotFound, ReadOnly)
async def create_run(body: RunToStart, who: Caller, product: Product) -> Run:
    """Start a run."""
    return await product.runs.create(
        who,
        agent_id=body.agent_id,
        user_id=body.user_id,
        trigger_id=body.trigger_id,
        parent_id=body.parent_id,
        input=body.input,
    )


@routes.get("/runs")
async def list_runs(
    who: Caller,
    product: Product,
    *,
    status: RunStatus | None = None,
    agent_id: UUID | None = None,
    user_id: UUID | None = None,
    parent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[Run]:
    """List runs, the newest first."""
    return await product.runs.page(
        who,
        status=status,
        agent_id=agent_id,
        user_id=user_id,
        parent_id=parent_id,
        limit=limit,
        cursor=cursor,
    )


@routes.get("/runs/{run_id}")
async def get_run(run_id: UUID, who: Caller, product: Product) -> Run:
    """Get a run: whole, or as far as a brief may tell of it where it is another's."""
    return await product.runs.get(who, run_id)


@routes.post("/runs/{run_id}/wait")
@raises(Conflict, ReadOnly)
async def wait_run(run_id: UUID, body: ReasonOfRun, who: Caller, product: Product) -> Run:
    """Let a running run wait."""
    return await product.runs.wait(who, run_id, body.reason)


@routes.post("/runs/{run_id}/resume")
@raises(Conflict, ReadOnly)
async def resume_run(run_id: UUID, who: Caller, product: Product) -> Run:
    """Let a run that waits go on, in its next stage."""
    return await product.runs.resume(who, run_id)


@routes.post("/runs/{run_id}/complete")
@raises(Conflict, ReadOnly)
async def complete_run(run_id: UUID, body: ResultOfRun, who: Caller, product: Product) -> Run:
    """End a running run well, with what it came to."""
    return await product.runs.complete(who, run_id, summary=body.summary, refs=body.refs)


@routes.post("/runs/{run_id}/fail")
@raises(Conflict, ReadOnly)
async def fail_run(run_id: UUID, body: ReasonOfRun, who: Caller, product: Product) -> Run:
    """End a run as failed."""
    return await product.runs.fail(who, run_id, body.reason)


@routes.post("/runs/{run_id}/cancel")
@raises(Conflict, ReadOnly)
async def cancel_run(run_id: UUID, who: Caller, product: Product) -> Run:
    """End a run that nobody needs any more."""
    return await product.runs.cancel(who, run_id)


@routes.post("/runs/{run_id}/brief")
@raises(NotFound, PolicyRejected, ReadOnly, RequiredContextSourceError, Gone, Erased)
async def build_run_block(
    run_id: UUID, body: BriefOfRun, who: Caller, product: Product
) -> RunBlock:
    """Get the block for a run's stage: built where it is due, else the one that is kept."""
    return await product.briefs.for_run(
        who,
        run_id,
        body.query,
        stage=body.stage,
        refresh=body.refresh,
        entities=body.entities,
        policy=body.policy,
        policy_name=body.policy_name,
        budget=body.budget,
        conversation=body.conversation,
        explain=body.explain,
    )


@routes.get("/runs/{run_id}/block")
@raises(Erased)
async def get_run_block(
    run_id: UUID,
    who: Caller,
    product: Product,
    *,
    stage: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    explain: bool = False,
) -> RunBlock:
    """Get the block that a run's stage was given, as it was kept."""
    return await product.briefs.block(who, run_id, stage=stage, explain=explain)


@routes.post("/runs/{run_id}/logs", status_code=201)
@raises(ReadOnly)
async def log_run(run_id: UUID, body: LineToLog, who: Caller, product: Product) -> RunLog:
    """Add a line to a run's log."""
    return await product.runs.log(who, run_id, body.step, level=body.level, metadata=body.metadata)


@routes.get("/runs/{run_id}/logs")
async def list_run_logs(
    run_id: UUID, who: Caller, product: Product, cursor: Cursor = None, limit: Limit = 100
) -> Page[RunLog]:
    """List a run's log from its beginning."""
    return await product.runs.logs(who, run_id, limit=limit, cursor=cursor)


@routes.get("/activities")
async def list_activities(
    who: Caller, product: Product, cursor: Cursor = None, limit: Limit = 50
) -> Page[Activity]:
    """List what happened in the organization, the newest first."""
    return await product.runs.activities(who, limit=limit, cursor=cursor)
