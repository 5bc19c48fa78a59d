"""All rooms of memories on one storage, with every path by which anybody is shown one."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of
from memoranda.conversations.service import Conversations
from memoranda.memories.embedding.service import Embedding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.models import FoundMemory, Memory, MemoryStatus, ProposalStatus
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.removal.service import Removal
from memoranda.memories.service import Memories
from memoranda.memories.ways import DEFAULT_WAYS, Ways
from memoranda.runs.events.service import Events
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.port import Embedder
from memoranda.search.vectors.service import Vectors
from memoranda.storage import Storage
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.copied_rows import Rows, rows_of
from tests.contract.tenants import Tenant

PATIENCE_S = 60.0  # a busy machine is no failure


class House:
    """The verbs of memories for one organization; with an embedder, its worker is one call."""

    def __init__(
        self,
        storage: Storage,
        acme: Tenant,
        clock: SteppedClock,
        embedder: Embedder | None = None,
        limits: MemoryLimits = DEFAULT_WAYS.limits,
    ) -> None:
        embedders = Embedders(embedder) if embedder else None
        self.storage = storage
        self.acme = acme
        self.clock = clock
        self.vectors = (
            Vectors(storage, embedders, COLLECTION, timeout_s=PATIENCE_S) if embedders else None
        )
        ways = Ways(limits, self.vectors.models if self.vectors else ())
        self.memories = Memories(storage, ways, vectors=self.vectors)
        self.proposals = Proposals(storage, ways, vectors=self.vectors)
        self.removal = Removal(storage, ways, quoting=Conversations(storage).quoting)
        self.events = Events(storage)
        self.embedding = Embedding(storage, embedders)

    @property
    def organization(self) -> UUID:
        assert self.acme.owner.organization_id is not None
        return self.acme.owner.organization_id

    async def embed(self) -> None:
        while await self.embedding.serve(self.organization, new_id()):
            pass

    async def close(self) -> None:
        await self.memories.settled()
        if self.vectors is not None:
            await self.vectors.close()

    async def shown(
        self, who: Principal, queries: Mapping[str, str], **named: UUID
    ) -> dict[str, Any]:
        """What `who` is shown of live memories, by the path that it is shown on.

        `named` is the user and agent whose memories are asked for.
        """
        memories = self.memories
        shown: dict[str, Any] = {
            "list": (await memories.page(who, limit=200, **named)).items,
            "oldest first": (await memories.page(who, oldest_first=True, **named)).items,
            "pinned": (await memories.page(who, pinned_only=True, **named)).items,
            "by category": (await memories.page(who, categories=["kind"], **named)).items,
            "by tag": (await memories.page(who, tags=["label"], **named)).items,
        }
        if who.role is not Role.AGENT:  # it is told nothing of what has been forgotten
            now = await memories.page(who, as_of=self.clock.now, **named)
            shown["as of now"] = now.items
        for how, query in queries.items():
            shown[f"search by {how}"] = (await memories.search(who, query, **named)).results
            recalled = await memories.recall(who, query, timeout_s=PATIENCE_S, **named)
            shown[f"recall by {how}"] = (recalled.block, recalled.memories)
        subject = subject_of(who, named.get("agent_id"), named.get("user_id"))
        for personal in (True, False):
            name = f"{'personal' if personal else 'shared'} context"
            shown[name] = await memories.recent(subject, personal=personal, limit=99)
        return shown

    async def everything(self, who: Principal, queries: Mapping[str, str]) -> dict[str, Any]:
        """All that `who` is told about memories: what lives, what does not, counts and proposals.

        But for how often each was used, which is another at each asking.
        """
        told = {path: unused(said) for path, said in (await self.shown(who, queries)).items()}
        told["stats"] = await self.memories.stats(who)
        told["forgotten"] = (await self.memories.page(who, status=MemoryStatus.FORGOTTEN)).items
        for status in ProposalStatus:
            told[f"{status} proposals"] = (await self.proposals.page(who, status=status)).items
        told["events"] = (await self.events.page(who, 0, limit=500)).items
        return told

    async def rows(self) -> Rows:
        """Every row of the organization, by its table."""
        await self.memories.settled()
        return await self.storage.read(self.organization, rows_of)


def unused(said: Any) -> Any:
    """The same, as if no run had been given any of it."""
    if isinstance(said, Memory):
        return said.model_copy(update={"uses": 0, "used_at": None})
    if isinstance(said, FoundMemory):
        return said.model_copy(update={"memory": unused(said.memory)})
    return [unused(each) for each in said] if isinstance(said, list | tuple) else said


def changed(before: Rows, after: Rows) -> set[str]:
    """The tables in which not all rows are the same."""
    assert before.keys() == after.keys()
    return {
        name for name in before if sorted(map(str, before[name])) != sorted(map(str, after[name]))
    }
