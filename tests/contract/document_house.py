"""An organization whose documents are embedded by made-up models, under a clock that is set by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select

from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.models import Source
from memoranda.knowledge.service import Knowledge
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.port import Embedder
from memoranda.storage import PLATFORM, Scope, Storage, Transaction
from memoranda.storage.tables import (
    knowledge_embeddings,
    knowledge_settings,
    knowledge_sources,
    knowledge_vectors,
)
from memoranda.words.ids import new_id
from tests.contract.tenants import new_tenant

VECTORS = (
    select(knowledge_vectors.c.model, func.count(knowledge_vectors.c.ordinal).label("rows"))
    .join(knowledge_sources, knowledge_vectors.c.source_id == knowledge_sources.c.id)
    .group_by(knowledge_vectors.c.model)
)
ROWS = select(knowledge_embeddings.c.model, knowledge_embeddings.c.status).join(
    knowledge_sources, knowledge_embeddings.c.source_id == knowledge_sources.c.id
)
SETTINGS = select(
    knowledge_settings.c.active_embedding_model,
    knowledge_settings.c.next_embedding_model,
    knowledge_settings.c.changes,
)


def words(number: int, paragraphs: int = 3) -> str:
    """A document whose chunks say something of their own, and one word that all documents share."""
    return "\n\n".join(
        f"harbor document{number} part{part} " + f"stone{number}x{part} " * 40
        for part in range(paragraphs)
    )


@dataclass
class DocumentHouse:
    """Adds and searches as the product does, and serves as a worker does."""

    storage: Storage
    who: Principal
    embedders: Embedders | None
    platform: bool = False
    worker_id: UUID = field(default_factory=new_id)

    def __post_init__(self) -> None:
        self.use(self.embedders)

    def use(self, embedders: Embedders | None) -> None:
        """Set other embedders, as after a restart with other settings."""
        self.embedders = embedders
        self.embedding = DocumentEmbedding(self.storage, embedders, rest_s=0)
        self.knowledge = Knowledge(
            self.storage, max_bytes=10_000_000, embedding=self.embedding, timeout_s=30
        )

    @property
    def scope(self) -> Scope:
        if self.platform:
            return PLATFORM
        assert self.who.organization_id is not None
        return self.who.organization_id

    async def add(self, text: str, key: str | None = None, title: str = "a.txt") -> Source:
        who = LOCAL_OPERATOR if self.platform else self.who
        return await self.knowledge.add(
            who, text.encode(), title=title, object_key=key, platform=self.platform
        )

    async def take_in_one(self) -> Source | None:
        """What a worker does with one document."""
        claimed = await self.knowledge.claim(self.scope, self.worker_id)
        if claimed is None:
            return None
        return await self.knowledge.ingest(self.scope, claimed, self.worker_id)

    async def take_in(self, *texts: str) -> list[Source]:
        """Add documents, and take them and whatever else waits in."""
        added = [await self.add(text) for text in texts]
        while await self.take_in_one() is not None:
            pass
        return [await self.get(source.id) for source in added]

    async def get(self, source_id: UUID) -> Source:
        return await self.knowledge.get(LOCAL_OPERATOR if self.platform else self.who, source_id)

    async def serve(self, most: int = 10_000) -> int:
        """Serve until there is nothing to do; how many times there was something."""
        for turn in range(most):
            if not await self.embedding.serve(self.scope, self.worker_id):
                return turn
        return most

    async def switch(self, model: str, *, force: bool = False) -> None:
        who = LOCAL_OPERATOR if self.platform else self.who
        await self.knowledge.switch_model(who, model, platform=self.platform, force=force)

    async def vectors(self) -> dict[str, int]:
        """How many vectors there are of each model."""
        return await self.storage.read(self.scope, _vectors)

    async def rows(self) -> list[tuple[str, str]]:
        return await self.storage.read(self.scope, _rows)

    async def settings(self) -> tuple[str | None, str | None, int] | None:
        return await self.storage.read(self.scope, _settings)


def _vectors(tx: Transaction) -> dict[str, int]:
    return {row.model: row.rows for row in tx.all(VECTORS)}


def _rows(tx: Transaction) -> list[tuple[str, str]]:
    return sorted((row.model, row.status) for row in tx.all(ROWS))


def _settings(tx: Transaction) -> tuple[str | None, str | None, int] | None:
    row = tx.one(SETTINGS)
    return None if row is None else (row[0], row[1], row[2])


def embedders(*each: Embedder) -> Embedders:
    return Embedders(each[0], tuple(each[1:]))


async def new_document_house(storage: Storage, *at_hand: Embedder) -> DocumentHouse:
    tenant = await new_tenant(storage)
    return DocumentHouse(storage, tenant.owner, embedders(*at_hand) if at_hand else None)


def platform_of(house: DocumentHouse) -> DocumentHouse:
    """The platform's documents, searched by the house's owner."""
    return DocumentHouse(house.storage, house.who, house.embedders, platform=True)


HOUR = timedelta(hours=1)


def all_words(numbers: Sequence[int]) -> list[str]:
    return [words(number) for number in numbers]
