"""Routes for what graphs keep: threads with their checkpoints, and namespaces with their items."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from memoranda.graphs.checkpoints.models import At
from memoranda.graphs.items.matching import labels_in
from memoranda.graphs.namespaces.models import GraphNamespace, ItemSummary, ShownItem
from memoranda.graphs.threads.models import CheckpointSummary, GraphThread, ShownCheckpoint
from memoranda.graphs.threads.service import MOST_LISTED, MOST_SHOWN
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Cursor
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import NotFound, OverLimit, ReadOnly
from memoranda.words.page import Page
from memoranda.words.purged import RowsPurged

routes = APIRouter(prefix="/v1/graphs", tags=["graphs"], route_class=Operation)

Most = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Thread = Annotated[str, Query(description="The host's own id of the thread.")]
Labels = Annotated[str, Query(description="The labels of a namespace, with periods between them.")]


@routes.get("/threads")
async def list_graph_threads(
    who: Caller,
    product: Product,
    *,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[GraphThread]:
    """List threads, and for whom each is kept."""
    return await product.graphs.threads.page(
        who, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
    )


@routes.delete("/threads")
@raises(NotFound, OverLimit, ReadOnly)
async def purge_graph_thread(
    who: Caller,
    product: Product,
    *,
    thread_id: Thread,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
) -> RowsPurged:
    """Delete a thread of exactly this user and agent for good, with its checkpoints."""
    return await product.graphs.threads.purge(who, thread_id, user_id=user_id, agent_id=agent_id)


@routes.get("/checkpoints")
@raises(NotFound, OverLimit)
async def list_checkpoints(
    who: Caller,
    product: Product,
    *,
    thread_id: Thread,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[CheckpointSummary]:
    """List the checkpoints of a thread of exactly this user and agent, the last first."""
    return await product.graphs.threads.checkpoints(
        who, thread_id, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
    )


@routes.get("/checkpoint")
@raises(NotFound, OverLimit)
async def get_checkpoint(
    who: Caller,
    product: Product,
    *,
    thread_id: Thread,
    namespace: Annotated[
        str, Query(description="The checkpoint's; empty for the graph's own.")
    ] = "",
    checkpoint_id: Annotated[
        str | None, Query(description="Which one; the latest of the namespace without it.")
    ] = None,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    after: Annotated[
        int, Query(ge=0, le=LARGEST, description="The byte to go on from: an answer's next_after.")
    ] = 0,
    most: Annotated[
        int, Query(ge=1, le=MOST_SHOWN, description="Bytes of its parts to show.")
    ] = MOST_SHOWN,
) -> ShownCheckpoint:
    """Get a checkpoint with what it is made of: up to 1 MB, and where it goes on."""
    return await product.graphs.threads.checkpoint(
        who,
        At(thread_id, namespace, checkpoint_id),
        user_id=user_id,
        agent_id=agent_id,
        after=after,
        most=most,
    )


@routes.get("/namespaces")
async def list_graph_namespaces(
    who: Caller,
    product: Product,
    *,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[GraphNamespace]:
    """List the namespaces that hold items, and for whom each is kept."""
    return await product.graphs.namespaces.page(
        who, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
    )


@routes.get("/items")
@raises(OverLimit)
async def list_graph_items(
    who: Caller,
    product: Product,
    *,
    namespace: Labels = "",
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[ItemSummary]:
    """List items without their values, the newest first: all, or those below a namespace."""
    return await product.graphs.namespaces.items(
        who, labels_in(namespace), user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
    )


@routes.delete("/items")
@raises(NotFound, OverLimit, ReadOnly)
async def purge_graph_items(
    who: Caller,
    product: Product,
    *,
    namespace: Labels,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
) -> RowsPurged:
    """Delete for good all items below a namespace, of exactly this user and agent."""
    return await product.graphs.namespaces.purge(
        who, labels_in(namespace), user_id=user_id, agent_id=agent_id
    )


@routes.get("/items/{item_id}")
async def get_graph_item(item_id: UUID, who: Caller, product: Product) -> ShownItem:
    """Get an item with its value."""
    return await product.graphs.namespaces.item(who, item_id)


@routes.delete("/items/{item_id}")
@raises(ReadOnly)
async def purge_graph_item(item_id: UUID, who: Caller, product: Product) -> RowsPurged:
    """Delete an item for good."""
    return await product.graphs.namespaces.purge_item(who, item_id)
