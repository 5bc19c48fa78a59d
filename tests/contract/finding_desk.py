"""Memories that can be found by meaning too: one organization, an embedder, and the worker's part in one call."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from memoranda.memories import store
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate
from memoranda.memories.embedding.service import Embedding
from memoranda.memories.finding.service import Finding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.models import FoundMemory, Memory, MemorySearch
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.port import Embedder
from memoranda.search.vectors.service import Vectors
from memoranda.storage import Storage, Transaction
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant
from tests.search.made_up_embedder import MadeUp

LIMITS = MemoryLimits(active=100_000, pinned=1_000)
# Words that share no letters with what they mean, so that only an embedder brings them together.
ALIKE = {"automobile": "car", "vehicle": "car", "physician": "doctor", "medic": "doctor"}


class Synonyms(MadeUp):
    """Texts whose words mean the same have the same vector; what is no word means nothing."""

    def of(self, text: str) -> np.ndarray:
        words = [ALIKE.get(word, word) for word in text.lower().split() if word.isalpha()]
        return super().of(" ".join(words) or "nothing")


class SetClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: int) -> None:
        self.now += timedelta(days=days)


class Desk:
    """Whatever a test of finding needs. Without an embedder there is nothing to embed."""

    def __init__(self, storage: Storage, acme: Tenant, embedder: Embedder | None) -> None:
        self.storage = storage
        self.acme = acme
        self.embedder: Any = embedder
        self.embedders = embedders = Embedders(embedder) if embedder else None
        self.vectors = Vectors(storage, embedders, COLLECTION, timeout_s=0.3) if embedders else None
        self.ways = Ways(LIMITS, self.vectors.models if self.vectors else ())
        self.memories = Memories(storage, self.ways)
        self.finding = Finding(storage, self.vectors)
        self.embedding = Embedding(storage, embedders)

    @classmethod
    async def open(cls, storage: Storage, embedder: Embedder | None = None) -> "Desk":
        return cls(storage, await new_tenant(storage), embedder)

    @property
    def organization(self) -> UUID:
        assert self.acme.owner.organization_id is not None
        return self.acme.owner.organization_id

    async def close(self) -> None:
        await self.finding.settled()
        if self.vectors is not None:
            await self.vectors.close()

    async def remember(self, *texts: str, **given) -> list[Memory]:
        """Remembered by the owner, and embedded."""
        made = [await self.memories.remember(self.acme.owner, text, **given) for text in texts]
        await self.embed()
        return made

    async def embed(self) -> None:
        worker = new_id()
        while await self.embedding.serve(self.organization, worker):
            pass

    async def remember_at_once(
        self, texts: Sequence[str], audience: Audience, **given
    ) -> list[Memory]:
        """The same in one transaction, without checks; how a space's memories are made."""
        made = await self.storage.write(
            self.organization, _remember, texts, audience, self.ways, given
        )
        await self.embed()
        return made

    async def search(self, query: str, who=None, **given) -> MemorySearch:
        return await self.finding.search(who or self.acme.owner, query, **given)

    async def found(self, query: str, who=None, **given) -> list[str | None]:
        """The texts that a search shows, best first."""
        return [each.memory.text for each in (await self.search(query, who, **given)).results]

    async def only(self, query: str, **given) -> FoundMemory:
        """The one thing that a search shows."""
        (only,) = (await self.search(query, **given)).results
        return only


def _remember(
    tx: Transaction, texts: Sequence[str], audience: Audience, ways: Ways, given: Mapping
) -> list[Memory]:
    candidate = Candidate(
        audience=audience,
        subject_key=None,
        text="",
        title=None,
        category=None,
        tags=(),
        expires_at=None,
        author=Author(),
    )
    return [store.remember(tx, candidate._replace(text=text, **given), ways) for text in texts]
