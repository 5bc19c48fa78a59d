"""What graphs keep, joined: their items and their checkpoints, and both as people see them."""

from dataclasses import dataclass
from typing import Self

from memoranda.graphs.checkpoints.service import GraphCheckpoints
from memoranda.graphs.items.service import GraphItems
from memoranda.graphs.namespaces.service import GraphNamespaces
from memoranda.graphs.threads.service import GraphThreads
from memoranda.search.embedders.choice import Embedders
from memoranda.storage import Storage


@dataclass(frozen=True)
class Graphs:
    """`items` are values under keys of namespaces, and `checkpoints` the states of threads, for hosts.

    `namespaces` and `threads` are the same as people see them.
    """

    items: GraphItems
    checkpoints: GraphCheckpoints
    namespaces: GraphNamespaces
    threads: GraphThreads

    @classmethod
    def of(cls, storage: Storage, embedders: Embedders | None, timeout_s: float) -> Self:
        """The graphs of an opened product; a query waits `timeout_s` for its embedder at most."""
        embedder = None if embedders is None else embedders.live
        return cls(
            items=GraphItems(storage, embedder, timeout_s=timeout_s),
            checkpoints=GraphCheckpoints(storage),
            namespaces=GraphNamespaces(storage),
            threads=GraphThreads(storage),
        )
