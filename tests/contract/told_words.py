"""Memories told in words that stand nowhere else, so that whatever is left of them can be found."""

import random
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.service import Conversations
from memoranda.memories.candidate import digest
from memoranda.memories.limits import COLLECTION
from memoranda.memories.models import Memory
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.removal.service import Removal
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.search.terms import read_passage
from memoranda.search.vectors.making import store as making
from memoranda.storage import Storage, Transaction
from memoranda.words.ids import new_id
from memoranda.words.text import fold
from tests.contract.memory_trail import MODEL
from tests.contract.tenants import Tenant
from tests.contract.traces import Trace


class Told:
    """Texts of made-up words, and every trace that they and their vectors could leave."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self.traces: set[Trace] = set()
        self._lost: set[Trace] = set()
        self._last: Trace = ""

    @property
    def kept(self) -> set[Trace]:
        """Those that are in the rows as long as the memory is: some take others' place there."""
        return self.traces - self._lost

    def word(self) -> str:
        """A word that has another stem than itself."""
        letters = (self._chance.choice(some) for some in ("bdfgklmnprtv", "aou") * 4)
        made = "".join(letters) + "king"
        (stem,) = read_passage(made).counts
        assert stem != made
        self.traces |= {made, stem}
        return made

    def lose(self, said: str) -> str:
        """The same text, of which nothing has to be in the rows any more."""
        self._lost |= {*said.split(), *read_passage(said).counts, digest(fold(said))}
        return said

    def text(self) -> str:
        """A few such words, whose digest is a trace too."""
        said = " ".join(self.word() for _ in range(5))
        self.traces.add(digest(fold(said)))
        return said

    def vector(self) -> bytes:
        made = self._chance.randbytes(48)
        self._lost.add(self._last)
        self._last = made
        self.traces.add(made)
        return made


class House(NamedTuple):
    """The verbs that a life of a memory goes through, on one storage."""

    storage: Storage
    memories: Memories
    proposals: Proposals
    conversations: Conversations
    removal: Removal

    @classmethod
    def on(cls, storage: Storage, ways: Ways = Ways(models=(MODEL,)), **listeners) -> "House":  # noqa: B008 - a constant
        conversations = Conversations(storage)
        removal = Removal(storage, ways, quoting=conversations.quoting, **listeners)
        return cls(
            storage, Memories(storage, ways), Proposals(storage, ways), conversations, removal
        )

    async def make_vectors(self, tenant: Tenant, told: Told) -> None:
        """What the worker does: make every vector that is wanted."""

        def make(tx: Transaction) -> None:
            claim = making.claim(
                tx, COLLECTION, MODEL, new_id(), lease=timedelta(minutes=1), most=1_000
            )
            making.keep(tx, claim, [told.vector() for _ in claim.texts])

        await self.storage.write(organization(tenant), make)

    async def whole_life(self, tenant: Tenant, told: Told, user_id: UUID | None = None) -> Memory:
        """A memory that has been all that a memory can be, with proposals of all kinds about it."""
        who, to = tenant.owner, {"user_id": user_id}
        first = told.text()
        made = await self.memories.remember(
            who,
            first,
            title=told.word(),
            category=told.word(),
            tags=[told.word(), told.word()],
            pinned=True,
            **to,
        )
        await self.make_vectors(tenant, told)
        await self.memories.update(who, made.id, text=told.text(), title=told.word(), pinned=False)
        await self.make_vectors(tenant, told)
        await self.memories.update(who, made.id, tags=[told.word()], category=None)
        await self.memories.forget(who, made.id)
        await self.memories.restore(who, made.id)
        await self.make_vectors(tenant, told)
        # What it said before, said again: one proposal is discarded, and another waits.
        again = await self.proposals.propose(who, first, title=told.word(), **to)
        await self.proposals.discard(who, again.proposal.id)
        await self.proposals.propose(who, first, tags=[told.word()], **to)
        return await self.memories.get(who, made.id)

    async def accepted_life(
        self, tenant: Tenant, told: Told, user_id: UUID | None = None
    ) -> Memory:
        """A memory that began as a proposal and was corrected by who accepted it."""
        proposed = await self.proposals.propose(
            tenant.owner, told.lose(told.text()), title=told.word(), user_id=user_id
        )
        return await self.proposals.accept(tenant.owner, proposed.proposal.id, text=told.text())

    async def merged_life(self, tenant: Tenant, told: Told) -> tuple[UUID, UUID]:
        """A memory that another one was merged into, and that other one."""
        who, said = tenant.owner, told.text()
        two = [
            await self.memories.remember(who, said + end, title=told.word()) for end in (".", "!")
        ]
        (merge,) = await self.proposals.tidy_up(who)
        survivor = await self.proposals.accept(who, merge.id)
        (gone,) = {each.id for each in two} - {survivor.id}
        return survivor.id, gone


def organization(of: Tenant | Principal) -> UUID:
    """Whose rows they are."""
    who = of.owner if isinstance(of, Tenant) else of
    assert who.organization_id is not None
    return who.organization_id
