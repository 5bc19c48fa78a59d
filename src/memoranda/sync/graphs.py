"""What graphs keep, for scripts: threads with their checkpoints, and namespaces with their items."""

from uuid import UUID

from memoranda.graphs.checkpoints.models import At
from memoranda.graphs.items.matching import labels_in
from memoranda.graphs.namespaces.models import GraphNamespace, ItemSummary, ShownItem
from memoranda.graphs.threads.models import CheckpointSummary, GraphThread, ShownCheckpoint
from memoranda.graphs.threads.service import MOST_SHOWN
from memoranda.sync.opened import Room
from memoranda.words.page import Page
from memoranda.words.purged import RowsPurged


class Graphs(Room):
    """What a host's graphs keep, as people see it; each verb is that of `GraphThreads` or `GraphNamespaces`."""

    def threads(
        self,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[GraphThread]:
        """A page of threads; see `GraphThreads.page`."""
        return self._call(
            lambda at: at.graphs.threads.page(
                at.owner, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
            )
        )

    def checkpoints(
        self,
        thread_id: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[CheckpointSummary]:
        """A page of a thread's checkpoints; see `GraphThreads.checkpoints`."""
        return self._call(
            lambda at: at.graphs.threads.checkpoints(
                at.owner,
                thread_id,
                user_id=user_id,
                agent_id=agent_id,
                limit=limit,
                cursor=cursor,
            )
        )

    def checkpoint(
        self,
        thread_id: str,
        *,
        namespace: str = "",
        checkpoint_id: str | None = None,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        after: int = 0,
        most: int = MOST_SHOWN,
    ) -> ShownCheckpoint:
        """A checkpoint with what it is made of; see `GraphThreads.checkpoint`."""
        return self._call(
            lambda at: at.graphs.threads.checkpoint(
                at.owner,
                At(thread_id, namespace, checkpoint_id),
                user_id=user_id,
                agent_id=agent_id,
                after=after,
                most=most,
            )
        )

    def purge_thread(
        self, thread_id: str, *, user_id: UUID | None = None, agent_id: UUID | None = None
    ) -> RowsPurged:
        """Delete a thread for good; see `GraphThreads.purge`."""
        return self._call(
            lambda at: at.graphs.threads.purge(
                at.owner, thread_id, user_id=user_id, agent_id=agent_id
            )
        )

    def namespaces(
        self,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[GraphNamespace]:
        """A page of namespaces; see `GraphNamespaces.page`."""
        return self._call(
            lambda at: at.graphs.namespaces.page(
                at.owner, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
            )
        )

    def items(
        self,
        *,
        namespace: str = "",
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ItemSummary]:
        """A page of items below a namespace, whose labels have periods between them; see `GraphNamespaces.items`."""
        return self._call(
            lambda at: at.graphs.namespaces.items(
                at.owner,
                labels_in(namespace),
                user_id=user_id,
                agent_id=agent_id,
                limit=limit,
                cursor=cursor,
            )
        )

    def item(self, item_id: UUID) -> ShownItem:
        """An item with its value; see `GraphNamespaces.item`."""
        return self._call(lambda at: at.graphs.namespaces.item(at.owner, item_id))

    def purge_item(self, item_id: UUID) -> RowsPurged:
        """Delete an item for good; see `GraphNamespaces.purge_item`."""
        return self._call(lambda at: at.graphs.namespaces.purge_item(at.owner, item_id))

    def purge_items(
        self, namespace: str, *, user_id: UUID | None = None, agent_id: UUID | None = None
    ) -> RowsPurged:
        """Delete for good what is below a namespace; see `GraphNamespaces.purge`."""
        return self._call(
            lambda at: at.graphs.namespaces.purge(
                at.owner, labels_in(namespace), user_id=user_id, agent_id=agent_id
            )
        )
