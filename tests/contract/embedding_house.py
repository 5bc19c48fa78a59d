"""An organization whose memories are written and embedded step by step, under a clock that is set by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import insert

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.access.service import Access
from memoranda.memories import store
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate, Edit, digest
from memoranda.memories.embedding.service import Embedding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.ways import Ways
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.port import Embedder
from memoranda.search.vectors.service import Vectors
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memories, memory_revisions
from memoranda.words.ids import new_id

ADD_MEMORY = insert(memories)
ADD_REVISION = insert(memory_revisions)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2027, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)


def said(text: str, audience: Audience | None = None) -> Candidate:
    return Candidate(
        audience=audience or Audience(),
        subject_key=None,
        text=text,
        title=None,
        category=None,
        tags=(),
        expires_at=None,
        author=Author(),
    )


@dataclass
class House:
    """Writes as the product does, and serves as a worker does."""

    storage: Storage
    organization_id: UUID
    embedders: Embedders
    worker_id: UUID = field(default_factory=new_id)

    def __post_init__(self) -> None:
        self.use(self.embedders)

    def use(self, embedders: Embedders) -> None:
        """Set another embedder, as after a restart with other settings."""
        self.embedders = embedders
        self.embedding = Embedding(self.storage, embedders, rest_s=0)
        self.vectors = Vectors(self.storage, embedders, COLLECTION, timeout_s=30, rest_s=0)

    @property
    def ways(self) -> Ways:
        return Ways(MemoryLimits(active=100_000), self.embedders.models)

    async def remember(self, *texts: str, models: Sequence[str] | None = None) -> list[UUID]:
        ways = self.ways if models is None else self.ways._replace(models=tuple(models))
        return await self.storage.write(self.organization_id, _remember, texts, ways)

    async def edit(self, memory_id: UUID, **fields: str) -> None:
        await self.storage.write(
            self.organization_id, store.change, memory_id, Edit(**fields), Author(), self.ways
        )

    async def forget(self, memory_id: UUID) -> None:
        await self.storage.write(self.organization_id, store.forget, memory_id, Author(), self.ways)

    async def move(self, memory_id: UUID, to: Audience) -> UUID:
        moved = await self.storage.write(
            self.organization_id, store.change, memory_id, Edit(), Author(), self.ways, to=to
        )
        return moved.id

    async def serve(self, worker_id: UUID | None = None) -> int:
        """Serve until there is nothing to do; how many times there was something."""
        turns = 0
        while await self.embedding.serve(self.organization_id, worker_id or self.worker_id):
            turns += 1
        return turns

    async def found(self, query: str) -> list[UUID] | None:
        nearest = await self.vectors.nearest(self.organization_id, query, at_least=0.55, most=50)
        return None if nearest is None else [hit.item_id for hit in nearest.hits]

    async def progress(self) -> tuple[int, ...]:
        progress = await self.embedding.progress(self.organization_id)
        assert progress is not None
        return tuple(progress)


def _remember(tx: Transaction, texts: Sequence[str], ways: Ways) -> list[UUID]:
    return [store.remember(tx, said(text), ways).id for text in texts]


def add_many(tx: Transaction, count: int) -> None:
    """Memories from before there were vectors, written without all that goes with a remembering."""
    ids = [(new_id(), new_id(), f"note {number}") for number in range(count)]
    shared = {"audience": "all", "subject_refs": [], "version": 1, "live": True}
    times = {"recorded_at": tx.now, "created_at": tx.now}
    chains = [
        {"id": id_, "head_id": head_id, "folded": text, "folded_digest": digest(text)}
        for id_, head_id, text in ids
    ]
    tx.run_many(ADD_MEMORY, [chain | shared | times for chain in chains])
    said = {"version": 1, "tags": (), "origin": "user", "created_at": tx.now}
    heads = [{"id": head_id, "memory_id": id_, "text": text} for id_, head_id, text in ids]
    tx.run_many(ADD_REVISION, [head | said for head in heads])


async def new_house(storage: Storage, *embedders: Embedder) -> House:
    made = await Access(storage).create_organization(LOCAL_OPERATOR, "Acme")
    return House(storage, made.organization.id, Embedders(embedders[0], tuple(embedders[1:])))
