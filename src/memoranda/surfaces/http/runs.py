"""Routes for runs, their logs, and what happened in an organization."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from memoranda.runs.models import Activity, LogLevel, Run, RunLog
from memoranda.runs.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import NotFound, ReadOnly
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


@routes.get("/runs/{run_id}")
async def get_run(run_id: UUID, who: Caller, product: Product) -> Run:
    """Get a run."""
    return await product.runs.get(who, run_id)


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
