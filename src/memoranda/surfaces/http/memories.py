"""Routes for memories: remember, read, forget."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from memoranda.access.rates.service import Rate
from memoranda.access.roles import ToolPolicyRequired
from memoranda.memories.models import Memory, Revision
from memoranda.memories.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor, Listing, Moment
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import Conflict, DuplicateMemory, NotFound, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["memories"], route_class=Operation)


class MemoryToKeep(Body):
    """What to remember, and who may know it: a user, an agent, both, or the organization."""

    text: str
    user_id: UUID | None = None
    agent_id: UUID | None = None
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: Moment | None = None
    attribute: str | None = None
    run_id: UUID | None = None
    conversation_id: UUID | None = None


@routes.post("/memories", status_code=201)
@raises(NotFound, Conflict, DuplicateMemory, ReadOnly, ToolPolicyRequired)
@counted(Rate.MEMORY_WRITES)
async def remember(body: MemoryToKeep, who: Caller, product: Product) -> Memory:
    """Remember a text. Under an attribute, it takes the place of what was known before."""
    return await product.memories.remember(
        who,
        body.text,
        user_id=body.user_id,
        agent_id=body.agent_id,
        title=body.title,
        category=body.category,
        tags=body.tags,
        expires_at=body.expires_at,
        attribute=body.attribute,
        run_id=body.run_id,
        conversation_id=body.conversation_id,
    )


@routes.get("/memories")
@raises(NotFound)
@counted(Rate.LISTS)
async def list_memories(
    who: Caller,
    product: Product,
    *,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Memory]:
    """List live memories, the newest first."""
    return await product.memories.page(
        who, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
    )


@routes.get("/memories/{memory_id}")
@counted(None)
async def get_memory(memory_id: UUID, who: Caller, product: Product) -> Memory:
    """Get a memory as it is now."""
    return await product.memories.get(who, memory_id)


@routes.get("/memories/{memory_id}/history")
@counted(None)
async def memory_history(memory_id: UUID, who: Caller, product: Product) -> Listing[Revision]:
    """List what a memory said, revision by revision."""
    return Listing(items=list(await product.memories.history(who, memory_id)))


@routes.post("/memories/{memory_id}/forget")
@raises(Conflict, ReadOnly, ToolPolicyRequired)
@counted(Rate.MEMORY_WRITES)
async def forget(memory_id: UUID, who: Caller, product: Product) -> Memory:
    """Forget a memory: its chain ends in a tombstone."""
    return await product.memories.forget(who, memory_id)
