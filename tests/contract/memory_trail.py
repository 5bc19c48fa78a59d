"""What a change of memories leaves behind beside their own rows, read straight from the tables."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from memoranda.memories.limits import COLLECTION
from memoranda.runs import store as runs
from memoranda.search.vectors.making import store as making
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import events, memories, search_postings, search_vectors
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant

MODEL = "model-a"

EVENTS = select(events.c.user_id, events.c.agent_id, events.c.metadata).order_by(events.c.number)
WORDS = select(search_postings.c.document_id, search_postings.c.term)
VECTORS = select(
    search_vectors.c.item_id,
    search_vectors.c.text_id,
    search_vectors.c.model,
    search_vectors.c.vector,
    search_vectors.c.failures,
)
READ = select(memories.c.id, memories.c.words_version)


async def activities(storage: Storage, tenant: Tenant) -> list[Any]:
    """The organization's activities about memories, the oldest first."""
    found = await storage.read(tenant.owner.organization_id, runs.activities_before, None, 500)
    return [each for each in reversed(found) if each.type.startswith("memory_fact")]


async def told(storage: Storage, tenant: Tenant) -> list[Any]:
    """What listeners are told, in the order of the commits: rows of user, agent and metadata."""
    return await read(storage, tenant, EVENTS)


async def actions(storage: Storage, tenant: Tenant) -> list[tuple[str, int, str]]:
    """The memory, version and action of each event."""
    return [
        (row.metadata["memory_id"], row.metadata["version"], row.metadata["action"])
        for row in await told(storage, tenant)
    ]


async def words(storage: Storage, tenant: Tenant) -> dict[UUID, set[str]]:
    """The terms that each memory is found by."""
    found: dict[UUID, set[str]] = {}
    for row in await read(storage, tenant, WORDS):
        found.setdefault(row.document_id, set()).add(row.term)
    return found


async def vectors(storage: Storage, tenant: Tenant) -> dict[UUID, UUID]:
    """The text of each memory that a vector is, or is to be, made of."""
    rows = await read(storage, tenant, VECTORS)
    return {row.item_id: row.text_id for row in rows if row.failures >= 0}


async def words_versions(storage: Storage, tenant: Tenant) -> dict[UUID, int]:
    """Which way of reading each memory's words were read in."""
    return {row.id: row.words_version for row in await read(storage, tenant, READ)}


async def read(storage: Storage, tenant: Tenant, statement: Any) -> list[Any]:
    def rows(tx: Transaction) -> list[Any]:
        return tx.all(statement)

    return await storage.read(tenant.owner.organization_id, rows)


async def make_vectors(storage: Storage, tenant: Tenant) -> None:
    """What the worker does: make every vector that is wanted."""

    def make(tx: Transaction) -> None:
        claim = making.claim(
            tx, COLLECTION, MODEL, new_id(), lease=timedelta(minutes=1), most=1_000
        )
        making.keep(tx, claim, [bytes(8)] * len(claim.texts))

    await storage.write(tenant.owner.organization_id, make)


async def made_of(storage: Storage, tenant: Tenant) -> dict[UUID, UUID]:
    """The text of each memory that there is a vector of."""
    rows = await read(storage, tenant, VECTORS)
    return {row.item_id: row.text_id for row in rows if row.vector is not None}
