"""The verbs of items: a batch of reads and puts, and the end of what has expired."""

import logging
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import MATRIX, Permission, organization_for, subject_of
from memoranda.graphs.items import searching, store
from memoranda.graphs.items.checking import check, check_put
from memoranda.graphs.items.models import Answer, Operation, PutItem, SearchItems
from memoranda.graphs.items.searching import Asked
from memoranda.graphs.items.store import Meant, Placed
from memoranda.search.embedders.asking import PATIENCE_S, ask
from memoranda.search.embedders.port import Embedder, Matrix
from memoranda.storage import Storage
from memoranda.words.errors import Unavailable
from memoranda.words.given import checks_shapes

logger = logging.getLogger(__name__)

SWEPT_AT_ONCE: Final = 1_000


@checks_shapes
class GraphItems:
    """Values under keys of namespaces, which a host's graphs put, ask for and search.

    They are kept per subject: a user's, an agent's, both's, or the organization's own, and none of them sees
    what another keeps. With an `embedder`, items are found by what they mean; a query waits
    `timeout_s` for it at most.
    """

    def __init__(
        self, storage: Storage, embedder: Embedder | None = None, *, timeout_s: float = PATIENCE_S
    ) -> None:
        self._storage = storage
        self._embedder = embedder
        self._timeout_s = timeout_s

    @property
    def embeds(self) -> bool:
        """Whether items are found by what they mean."""
        return self._embedder is not None

    async def batch(
        self,
        who: Principal,
        operations: Sequence[Operation],
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> list[Answer]:
        """Answer each in its place; all puts are made, or none is.

        What is read is as it was before the puts, and of two puts under one key the last holds. An item
        that has expired is not there. Where the embedder can't be reached, items are put without
        what a search by meaning needs, and a query answers the newest items, without scores.
        Raises `Invalid`, `OverLimit`, `Refused`, and `NotFound` for a user or agent that is not there.
        """
        puts: dict[tuple[tuple[str, ...], str], PutItem] = {}
        reads: dict[int, searching.Read] = {}
        for place, each in enumerate(operations):
            check(f"operations.{place}", each)
            if isinstance(each, PutItem):
                puts[each.namespace, each.key] = each
            else:
                reads[place] = each
        subject = subject_of(who, agent_id, user_id)
        if reads or not puts:
            organization_for(who, Permission.READ_GRAPHS)
        if puts:
            organization_for(who, Permission.WRITE_GRAPHS)
        placed = [check_put(each) for each in puts.values()]
        asked = await self._asked(reads, list(puts.values()), placed)
        organization, storage = subject.organization_id, self._storage
        if puts:
            done = await storage.write(organization, searching.change, subject, asked)
        else:
            done = await storage.read(organization, searching.read, subject, asked)
            if done.refreshed and Permission.WRITE_GRAPHS in MATRIX[who.role]:
                await storage.write(organization, store.refresh, done.refreshed)
        return [done.answers.get(place) for place in range(len(operations))]

    async def sweep(
        self, who: Principal, *, user_id: UUID | None = None, agent_id: UUID | None = None
    ) -> int:
        """Delete the subject's items that have expired; how many."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        swept = 0
        while some := await self._storage.write(
            organization, searching.sweep, subject, SWEPT_AT_ONCE
        ):
            swept += some
        return swept

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of the organization's items that have expired; how many, and 0 when none is left."""
        return await self._storage.write(organization_id, store.sweep, SWEPT_AT_ONCE)

    async def _asked(
        self,
        reads: dict[int, searching.Read],
        puts: Sequence[PutItem],
        values: Sequence[str | None],
    ) -> Asked:
        queries = {
            each.query: each.query
            for each in reads.values()
            if isinstance(each, SearchItems) and each.query and each.query.strip()
        }
        meant = await self._vectors(list(queries), self._timeout_s)
        made = await self._vectors([text for each in puts for text in each.texts], PATIENCE_S)
        placed: list[Placed] = []
        at = 0
        for each, value in zip(puts, values, strict=True):
            vectors = None if made is None else made[at : at + len(each.texts)]
            at += len(each.texts)
            placed.append(Placed(each.namespace, each.key, value, vectors, each.ttl_ms))
        model = self._embedder.model if self._embedder else None
        return Asked(reads, placed, _by_query(list(queries), meant, model), model)

    async def _vectors(self, texts: Sequence[str], within_s: float) -> Matrix | None:
        """One row per text; None without an embedder, and where it does not answer."""
        if self._embedder is None or not texts:
            return None
        try:
            return await ask(self._embedder, texts, within_s=within_s)
        except Unavailable as failure:
            logger.warning("Items of graphs can't be embedded now: %s", failure.message)
            return None


def _by_query(queries: Sequence[str], made: Matrix | None, model: str | None) -> dict[str, Meant]:
    if made is None or model is None:
        return {}
    # A query that the model can't read has a vector of zeros, which is near nothing.
    return {
        query: Meant(model, vector)
        for query, vector in zip(queries, made, strict=True)
        if vector.any()
    }
