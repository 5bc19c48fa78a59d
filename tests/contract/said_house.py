"""An organization whose conversations are written, read into the index and searched step by step."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoranda.access.models import Agent, Principal, User
from memoranda.conversations.finding.embedding import ConversationEmbedding
from memoranda.conversations.finding.indexing import ConversationIndexing
from memoranda.conversations.finding.models import ConversationAnswer, FoundMessage
from memoranda.conversations.finding.service import ConversationSearch
from memoranda.conversations.models import Conversation, Message
from memoranda.conversations.service import Conversations
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.port import Embedder
from memoranda.storage import Storage
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant

Brief = list[tuple[str, float]]


@dataclass
class SaidHouse:
    """Says and searches as the product does, and serves as a worker does."""

    storage: Storage
    tenant: Tenant
    embedders: Embedders | None = None
    worker_id: UUID = field(default_factory=new_id)

    def __post_init__(self) -> None:
        self.talks = Conversations(self.storage)
        self.use(self.embedders)

    def use(self, embedders: Embedders | None) -> None:
        """Set other embedders, as after a restart with other settings."""
        self.embedders = embedders
        self.search = ConversationSearch(self.storage, embedders, timeout_s=30)
        self.indexing = ConversationIndexing(self.storage)
        self.embedding = ConversationEmbedding(self.storage, embedders, rest_s=0)

    @property
    def scope(self) -> UUID:
        assert self.tenant.owner.organization_id is not None
        return self.tenant.owner.organization_id

    async def begin(self, user: User | None = None, agent: Agent | None = None) -> Conversation:
        return await self.talks.create(
            self.tenant.owner,
            user_id=user.id if user else None,
            agent_id=agent.id if agent else None,
        )

    async def say(self, conversation: Conversation, *said: str | Message) -> Conversation:
        turn = [each if isinstance(each, Message) else user(each) for each in said]
        return await self.talks.append(self.tenant.owner, conversation.id, turn)

    async def talk(
        self, *said: str, by: User | None = None, to: Agent | None = None
    ) -> Conversation:
        """A conversation with these messages, which a worker has read."""
        made = await self.say(await self.begin(by, to), *said)
        await self.serve()
        return made

    async def read(self, most: int = 10_000) -> int:
        """Read what waits into the index of words; how many times there was something."""
        for turn in range(most):
            if not await self.indexing.serve(self.scope, self.worker_id):
                return turn
        return most

    async def embed(self, most: int = 10_000) -> int:
        """Make the vectors that lack; how many times there was something."""
        for turn in range(most):
            if not await self.embedding.serve(self.scope, self.worker_id):
                return turn
        return most

    async def serve(self) -> None:
        await self.read()
        await self.embed()

    async def ask(
        self, query: str, who: Principal | None = None, **asked: Any
    ) -> ConversationAnswer:
        return await self.search.search(who or self.tenant.owner, query, **asked)

    async def found(self, query: str, who: Principal | None = None, **asked: Any) -> Brief:
        answer = await self.ask(query, who, **asked)
        return [(result.text, result.score) for result in answer.results]

    async def texts(self, query: str, who: Principal | None = None, **asked: Any) -> set[str]:
        return {text for text, _ in await self.found(query, who, **asked)}

    async def one(self, query: str, who: Principal | None = None) -> FoundMessage:
        (found,) = (await self.ask(query, who)).results
        return found


def user(text: str, **told: Any) -> Message:
    return Message(role="user", content=text, metadata=told)


async def new_said_house(storage: Storage, *at_hand: Embedder, name: str = "Acme") -> SaidHouse:
    embedders = Embedders(at_hand[0], tuple(at_hand[1:])) if at_hand else None
    return SaidHouse(storage, await new_tenant(storage, name), embedders)
