"""What graphs keep: threads with their checkpoints, and namespaces with their items."""

from memoranda.client.call import Call, Id, given
from memoranda.graphs.namespaces.models import GraphNamespace, ItemSummary, ShownItem
from memoranda.graphs.threads.models import CheckpointSummary, GraphThread, ShownCheckpoint
from memoranda.words.page import Page
from memoranda.words.purged import RowsPurged

MOST_SHOWN = 1024 * 1024
"""Bytes of a checkpoint that one answer shows."""


def list_graph_threads(
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[GraphThread]]:
    """List threads, and for whom each is kept."""
    return Call(
        "GET",
        "/v1/graphs/threads",
        Page[GraphThread],
        query=given(user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit),
    )


def purge_graph_thread(
    thread_id: str, *, user_id: Id | None = None, agent_id: Id | None = None
) -> Call[RowsPurged]:
    """Delete a thread of exactly this user and agent for good, with its checkpoints."""
    return Call(
        "DELETE",
        "/v1/graphs/threads",
        RowsPurged,
        query=given(thread_id=thread_id, user_id=user_id, agent_id=agent_id),
    )


def list_checkpoints(
    thread_id: str,
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[CheckpointSummary]]:
    """List the checkpoints of a thread of exactly this user and agent, the last first."""
    return Call(
        "GET",
        "/v1/graphs/checkpoints",
        Page[CheckpointSummary],
        query=given(
            thread_id=thread_id, user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit
        ),
    )


def get_checkpoint(
    thread_id: str,
    *,
    namespace: str = "",
    checkpoint_id: str | None = None,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    after: int = 0,
    most: int = MOST_SHOWN,
) -> Call[ShownCheckpoint]:
    """Get a checkpoint with what it is made of: up to 1 MB, and where it goes on."""
    return Call(
        "GET",
        "/v1/graphs/checkpoint",
        ShownCheckpoint,
        query=given(
            thread_id=thread_id,
            namespace=namespace,
            checkpoint_id=checkpoint_id,
            user_id=user_id,
            agent_id=agent_id,
            after=after,
            most=most,
        ),
    )


def list_graph_namespaces(
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[GraphNamespace]]:
    """List the namespaces that hold items, and for whom each is kept."""
    return Call(
        "GET",
        "/v1/graphs/namespaces",
        Page[GraphNamespace],
        query=given(user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit),
    )


def list_graph_items(
    *,
    namespace: str = "",
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[ItemSummary]]:
    """List items without their values, the newest first: all, or those below a namespace."""
    return Call(
        "GET",
        "/v1/graphs/items",
        Page[ItemSummary],
        query=given(
            namespace=namespace, user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit
        ),
    )


def purge_graph_items(
    namespace: str, *, user_id: Id | None = None, agent_id: Id | None = None
) -> Call[RowsPurged]:
    """Delete for good all items below a namespace, of exactly this user and agent."""
    return Call(
        "DELETE",
        "/v1/graphs/items",
        RowsPurged,
        query=given(namespace=namespace, user_id=user_id, agent_id=agent_id),
    )


def get_graph_item(item_id: Id) -> Call[ShownItem]:
    """Get an item with its value."""
    return Call("GET", "/v1/graphs/items/{item_id}", ShownItem, at={"item_id": item_id})


def purge_graph_item(item_id: Id) -> Call[RowsPurged]:
    """Delete an item for good."""
    return Call("DELETE", "/v1/graphs/items/{item_id}", RowsPurged, at={"item_id": item_id})
