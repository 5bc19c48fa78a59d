"""A process that works at a switch of models, and says how far it is, until it is killed."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from multiprocessing.connection import Connection
from uuid import UUID

import numpy as np

from memoranda.knowledge.embedding import making
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.readiness import store as readiness
from memoranda.storage import Storage
from memoranda.words.ids import new_id
from tests.contract.document_house import embedders
from tests.search.synonyms import Synonyms

LEASE = timedelta(seconds=0.5)
"""How soon another takes up what a killed worker held."""


class Slow(Synonyms):
    """Takes long enough that a kill meets it, or the transactions beside it."""

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        await asyncio.sleep(0.002)
        return await super().embed(texts)


def switch_until_killed(url: str, organization_id: UUID, report: Connection) -> None:
    """Send None when the database is open, and then True after each piece of work, and False at the end."""
    making.BATCH, readiness.AT_ONCE = 4, 25  # type: ignore[misc]  # small steps, in this process alone
    asyncio.run(_work(url, organization_id, report))


async def _work(url: str, organization_id: UUID, report: Connection) -> None:
    storage = await Storage.open(url)
    at_hand = embedders(Slow("old"), Slow("new", 48))
    embedding = DocumentEmbedding(storage, at_hand, lease=LEASE, rest_s=0)
    report.send(None)
    worker_id = new_id()
    while await embedding.waiting(organization_id):
        await embedding.serve(organization_id, worker_id)
        report.send(True)
    report.send(False)
    await storage.close()
