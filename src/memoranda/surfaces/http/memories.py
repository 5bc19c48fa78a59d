"""Routes for memories: remember, find, read, correct, forget and restore."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from memoranda.access.rates.service import Rate
from memoranda.access.roles import ToolPolicyRequired
from memoranda.memories.errors import MemoriesFull, NotRestorable, PinsFull, StaleVersion
from memoranda.memories.models import (
    Memory,
    MemoryPage,
    MemorySearch,
    MemoryStats,
    MemoryStatus,
    Recall,
    Revision,
)
from memoranda.memories.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import (
    Body,
    Cursor,
    Flag,
    Listing,
    Moment,
    Number,
)
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    NotFound,
    OverLimit,
    ReadOnly,
    SecretFound,
)
from memoranda.words.ref import ResourceRef

routes = APIRouter(prefix="/v1", tags=["memories"], route_class=Operation)


class Said(Body):
    """What to remember, and who may know it: a user, an agent, both, or the organization."""

    text: str
    user_id: UUID | None = None
    agent_id: UUID | None = None
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: Moment | None = None
    attribute: str | None = None
    about: ResourceRef | None = None
    run_id: UUID | None = None
    conversation_id: UUID | None = None


class MemoryToKeep(Said):
    """What to remember, for whom, and whether to pin it."""

    pinned: Flag = False


class MemoryChange(Body):
    """What to change; what is left out stays. Null clears, and as a user or agent means all.

    With `expected_version` nothing changes unless the memory is at that version.
    """

    text: str = Field(default_factory=str)
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: Moment | None = None
    pinned: Flag = Field(default_factory=bool)
    user_id: UUID | None = None
    agent_id: UUID | None = None
    expected_version: Number | None = None


class MemoryQuery(Body):
    """What to look for, and for whom: without a user or agent, in all that the caller may read."""

    query: str
    user_id: UUID | None = None
    agent_id: UUID | None = None
    limit: Number = 50
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class RunQuery(Body):
    """What a run is about, and for whom it runs. `run_id` has the recall noted in that run's log."""

    query: str
    user_id: UUID | None = None
    agent_id: UUID | None = None
    run_id: UUID | None = None
    enabled: Flag = True


@routes.post("/memories", status_code=201)
@raises(
    NotFound,
    Conflict,
    DuplicateMemory,
    MemoriesFull,
    PinsFull,
    SecretFound,
    ReadOnly,
    ToolPolicyRequired,
)
@counted(Rate.MEMORY_WRITES)
async def remember(body: MemoryToKeep, who: Caller, product: Product) -> Memory:
    """Remember a text. Under an attribute, it takes the place of what was known before."""
    return await product.memories.remember(who, **dict(body))


@routes.get("/memories")
@raises(NotFound, OverLimit)
@counted(Rate.LISTS)
async def list_memories(
    who: Caller,
    product: Product,
    *,
    status: MemoryStatus = MemoryStatus.ACTIVE,
    pinned_only: bool = False,
    category: str | None = None,
    tag: str | None = None,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    oldest_first: bool = False,
    unused_only: Annotated[
        bool,
        Query(description="List what no run was given for half a year, for somebody to review."),
    ] = False,
    as_of: Annotated[Moment | None, Query(description="List what was active at that time.")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> MemoryPage:
    """List memories, the newest first: those that are active, or those that are forgotten."""
    return await product.memories.page(
        who,
        status=status,
        pinned_only=pinned_only,
        categories=() if category is None else (category,),
        tags=() if tag is None else (tag,),
        user_id=user_id,
        agent_id=agent_id,
        oldest_first=oldest_first,
        as_of=as_of,
        unused_only=unused_only,
        limit=limit,
        cursor=cursor,
    )


@routes.post("/memories/search")
@raises(NotFound)
@counted(Rate.LISTS)
async def search_memories(body: MemoryQuery, who: Caller, product: Product) -> MemorySearch:
    """Search memories by words, letters and meaning. The query stands in the body, so that no log of addresses holds it."""
    return await product.memories.search(who, **dict(body))


@routes.post("/memories/recall")
@raises(NotFound, ReadOnly)
@counted(None)
async def recall(body: RunQuery, who: Caller, product: Product) -> Recall:
    """Get the block of memories that a run about the query is given: pinned ones, then the nearest."""
    return await product.memories.recall(who, **dict(body))


@routes.get("/memories/stats")
@counted(Rate.LISTS)
async def memory_stats(who: Caller, product: Product) -> MemoryStats:
    """Count memories and proposals, beside how many there may be."""
    return await product.memories.stats(who)


@routes.get("/memories/{memory_id}")
@counted(Rate.LISTS)
async def get_memory(memory_id: UUID, who: Caller, product: Product) -> Memory:
    """Get a memory as it is now."""
    return await product.memories.get(who, memory_id)


@routes.patch("/memories/{memory_id}")
@raises(
    Conflict,
    DuplicateMemory,
    MemoriesFull,
    PinsFull,
    SecretFound,
    StaleVersion,
    ReadOnly,
    ToolPolicyRequired,
)
@counted(Rate.MEMORY_WRITES)
async def update_memory(
    memory_id: UUID, body: MemoryChange, who: Caller, product: Product
) -> Memory:
    """Change what a memory says, its pin or its audience; another audience gives it another id."""
    given = {name: getattr(body, name) for name in body.model_fields_set}
    return await product.memories.update(who, memory_id, **given)


@routes.get("/memories/{memory_id}/history")
@counted(Rate.LISTS)
async def memory_history(memory_id: UUID, who: Caller, product: Product) -> Listing[Revision]:
    """List what a memory said, revision by revision."""
    return Listing(items=list(await product.memories.history(who, memory_id)))


@routes.post("/memories/{memory_id}/forget")
@raises(Conflict, ReadOnly, ToolPolicyRequired)
@counted(Rate.MEMORY_WRITES)
async def forget(memory_id: UUID, who: Caller, product: Product) -> Memory:
    """Forget a memory. The answer says until when it may be restored."""
    return await product.memories.forget(who, memory_id)


@routes.post("/memories/{memory_id}/restore")
@raises(
    *(Conflict, DuplicateMemory, MemoriesFull, NotRestorable, SecretFound),
    *(ReadOnly, ToolPolicyRequired),
)
@counted(Rate.MEMORY_WRITES)
async def restore_memory(memory_id: UUID, who: Caller, product: Product) -> Memory:
    """Let a memory that was forgotten within 30 days say again what it said."""
    return await product.memories.restore(who, memory_id)
