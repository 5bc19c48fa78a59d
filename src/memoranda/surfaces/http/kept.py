"""Routes for what agent frameworks keep in forms of their own: histories, sessions, branches, and all of it together."""

from typing import Annotated, ClassVar, Final
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import Response

from memoranda.conversations.branches.models import KeptBranch
from memoranda.conversations.errors import LaterGeneration, OlderGeneration
from memoranda.conversations.histories.kept.models import KeptEntry, KeptHistory, ShownHistory
from memoranda.conversations.histories.kept.service import MOST_LISTED
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.sessions.kept.models import (
    EventPage,
    KeptSession,
    KeptState,
    ShownSession,
)
from memoranda.conversations.sessions.kept.service import MOST_STATES
from memoranda.kept.models import KeptCounts
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.exchange import JsonLines, all_lines
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Cursor
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Conflict, Gone, NotFound, OverLimit, ReadOnly
from memoranda.words.page import Page
from memoranda.words.purged import RowsPurged

routes = APIRouter(prefix="/v1", tags=["kept"], route_class=Operation)

Most = Annotated[int, Query(ge=1, le=MOST_LISTED)]
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Disposition": 'attachment; filename="kept.jsonl"',
    "X-Accel-Buffering": "no",
}


class KeptLines(JsonLines):
    """The lines of an export of what frameworks keep."""

    operation: ClassVar[str] = "export_kept"


@routes.get("/kept")
async def get_kept_counts(who: Caller, product: Product, user_id: UUID | None = None) -> KeptCounts:
    """Get how much agent frameworks keep that you may see, by kind."""
    return await product.kept.counts(who, user_id=user_id)


@routes.get("/kept/export", status_code=200, response_class=KeptLines)
async def export_kept(who: Caller, product: Product, user_id: UUID | None = None) -> Response:
    """Export all that agent frameworks keep that you may see, or of one user, as JSON Lines."""
    lines = product.kept.export(who, user_id=user_id)
    # The first is awaited here, while an error can still be told as one.
    first = await anext(lines)
    return KeptLines(all_lines(first, lines), headers=HEADERS)


@routes.get("/histories")
async def list_histories(
    who: Caller,
    product: Product,
    *,
    user_id: UUID | None = None,
    scope: Annotated[str | None, Query(description="By what the host lists them.")] = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[KeptHistory]:
    """List histories, the newest first."""
    return await product.kept.histories.page(
        who, user_id=user_id, scope=scope, limit=limit, cursor=cursor
    )


@routes.get("/histories/{history_id}")
async def get_history(history_id: UUID, who: Caller, product: Product) -> ShownHistory:
    """Get a history with its record, without what was said."""
    return await product.kept.histories.get(who, history_id)


@routes.get("/histories/{history_id}/entries")
async def list_history_entries(
    history_id: UUID, who: Caller, product: Product, cursor: Cursor = None, limit: Most = 100
) -> Page[KeptEntry]:
    """List what was said in a history, on all of its branches, in the order of its making."""
    return await product.kept.histories.entries(who, history_id, limit=limit, cursor=cursor)


@routes.delete("/histories/{history_id}")
@raises(ReadOnly)
async def purge_history(history_id: UUID, who: Caller, product: Product) -> RowsPurged:
    """Delete a history for good, with the entries that no other one comes by."""
    return await product.kept.histories.purge(who, history_id)


@routes.get("/sessions")
async def list_sessions(
    who: Caller,
    product: Product,
    *,
    application: str | None = None,
    user_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[KeptSession]:
    """List sessions, the newest first."""
    return await product.kept.sessions.page(
        who, application=application, user_id=user_id, limit=limit, cursor=cursor
    )


@routes.get("/sessions/states")
async def list_session_states(
    who: Caller,
    product: Product,
    *,
    user_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_STATES)] = MOST_STATES,
) -> Page[KeptState]:
    """List what outlives sessions: of applications' people, and of applications."""
    return await product.kept.sessions.states(who, user_id=user_id, limit=limit, cursor=cursor)


@routes.delete("/sessions/states")
@raises(NotFound, ReadOnly)
async def purge_session_state(
    who: Caller,
    product: Product,
    *,
    application: str,
    person: Annotated[
        str, Query(description="What the application calls its user; empty for its own state.")
    ] = "",
) -> RowsPurged:
    """Delete for good what a person, or an application, keeps across sessions."""
    return await product.kept.sessions.purge_state(who, application, person)


@routes.get("/sessions/{session_id}")
async def get_session(session_id: UUID, who: Caller, product: Product) -> ShownSession:
    """Get a session with its own state, without its events."""
    return await product.kept.sessions.get(who, session_id)


@routes.get("/sessions/{session_id}/events")
async def list_session_events(
    session_id: UUID,
    who: Caller,
    product: Product,
    after: Annotated[
        int,
        Query(ge=0, le=LARGEST, description="The position to go on after: a page's next_after."),
    ] = 0,
    limit: Most = 100,
) -> EventPage:
    """List the events of a session in their order."""
    return await product.kept.sessions.events(who, session_id, after=after, limit=limit)


@routes.delete("/sessions/{session_id}")
@raises(ReadOnly)
async def purge_session(session_id: UUID, who: Caller, product: Product) -> RowsPurged:
    """Delete a session for good, with its events. What its person keeps across sessions stays."""
    return await product.kept.sessions.purge(who, session_id)


@routes.get("/branches")
@raises(OverLimit)
async def list_branches(
    who: Caller,
    product: Product,
    *,
    workflow_id: str | None = None,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[KeptBranch]:
    """List branches of conversations, the newest first. Each is a conversation of its own, of that id."""
    return await product.conversations.branches.page(
        who,
        workflow_id=workflow_id,
        user_id=user_id,
        agent_id=agent_id,
        limit=limit,
        cursor=cursor,
    )


@routes.delete("/branches")
@raises(NotFound, Gone, Conflict, OlderGeneration, LaterGeneration, OverLimit, ReadOnly)
async def purge_branch(
    who: Caller,
    product: Product,
    *,
    workflow_id: str,
    name: str,
    generation: Annotated[int, Query(ge=1, le=LARGEST)] = 1,
    agent_id: UUID | None = None,
    user_id: UUID | None = None,
) -> RowsPurged:
    """Delete a branch for good, with what was said on it alone. Its name stays given."""
    key = ConversationKey(workflow_id=workflow_id, generation=generation, agent_id=agent_id)
    return await product.conversations.branches.purge(who, key, name, user_id=user_id)
