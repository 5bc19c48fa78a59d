"""A chat with somebody who asks and a host that answers, for tests: what is said, what is shown and what agents know."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from memoranda.access.models import Principal
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    Chat,
    ChatRun,
    Prepared,
    Sent,
    Thread,
)
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.models import ConversationKey, LoadedConversation, Message
from memoranda.conversations.service import Conversations
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import METADATA
from tests.contract.tenants import Tenant

BESIDE = ("conversation", "workflow_generations", "runs", "run_changes", "events", "event_counters")
WRITTEN = [
    table
    for name, table in METADATA.tables.items()
    if name.startswith(("chat", *BESIDE, "activities"))
]
SYSTEM = Message(role="system", content="You know ships.")


def text_of(content: Any) -> str:
    """What content says, in words."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def says(text: str) -> Message:
    """What an assistant says."""
    return Message(role="assistant", content=text)


def assert_sendable(messages: list[Message]) -> None:
    """Every provider takes a request of these messages."""
    for provider in CAPABILITIES:
        assert check_request(provider, build_request(provider, messages)) == []


def rows_of(tx: Transaction) -> dict[str, list[Any]]:
    """Every row of the organization that a verb of chats may write, by table."""
    return {table.name: tx.all(select(*table.c).order_by(*table.primary_key)) for table in WRITTEN}


@dataclass
class Desk:
    """One chat of a user, and the verbs on it."""

    storage: Storage
    who: Principal
    chat: Chat

    def __post_init__(self) -> None:
        self.chats = Chats(self.storage)
        self.talks = Conversations(self.storage)

    @classmethod
    async def of(cls, storage: Storage, tenant: Tenant, **more: Any) -> "Desk":
        """A new chat of Anna's."""
        named = {"user_id": tenant.anna.id, **more}
        chat = await Chats(storage).create(tenant.owner, **named)
        return cls(storage, tenant.owner, chat)

    @property
    def id(self) -> UUID:
        return self.chat.id

    async def now(self) -> Chat:
        self.chat = await self.chats.get(self.who, self.id)
        return self.chat

    async def revision(self) -> int:
        return (await self.now()).revision

    async def ask(self, text: str, **more: Any) -> Sent:
        return await self.chats.send(self.who, self.id, text, **more)

    async def begin(self, run: ChatRun, agent_id: UUID | None = None) -> Prepared:
        """Pick the run up, unless that was done, and prepare an agent."""
        if (await self.chats.run(self.who, run.id)).status == "queued":
            await self.chats.pick_up(self.who, run.id)
        return await self.chats.prepare(self.who, run.id, agent_id)

    def turn(self, prepared: Prepared, text: str, agent_id: UUID | None = None) -> AgentTurn:
        """The list that was sent, with the answer."""
        sent = prepared.request(SYSTEM)
        return AgentTurn(
            agent_id=agent_id, messages=[*sent, says(text)], fence=prepared.loaded.fence
        )

    async def reply(self, run: ChatRun, text: str, *agents: UUID | None, **more: Any) -> Answered:
        """Answer with each of the agents, or with none by name."""
        turns = [
            self.turn(await self.begin(run, agent_id), text, agent_id)
            for agent_id in agents or (None,)
        ]
        return await self.chats.answer(self.who, run.id, text, turns, **more)

    async def exchange(self, asked: str, answered: str, *agents: UUID | None) -> Answered:
        """Ask, and answer."""
        return await self.reply((await self.ask(asked)).run, answered, *agents)

    async def edit(self, message_id: UUID, text: str) -> Sent:
        return await self.chats.edit(
            self.who, self.id, message_id, text, expected_revision=await self.revision()
        )

    async def regenerate(self) -> Sent:
        return await self.chats.regenerate(
            self.who, self.id, expected_revision=await self.revision()
        )

    async def switch(self, message_id: UUID) -> Thread:
        return await self.chats.switch(
            self.who, self.id, message_id, expected_revision=await self.revision()
        )

    async def rows(self) -> dict[str, list[Any]]:
        """Every row that a verb of chats may write."""
        return await self.storage.read(self.who.organization_id, rows_of)

    async def shown(self) -> list[str]:
        """What the path says."""
        thread = await self.chats.thread(self.who, self.id)
        return [text_of(each.content) for each in thread.messages]

    async def loaded(self, agent_id: UUID | None = None) -> LoadedConversation:
        key = ConversationKey(
            workflow_id=self.chat.workflow_id, generation=self.chat.generation, agent_id=agent_id
        )
        return await self.talks.load(self.who, key)

    async def known(self, agent_id: UUID | None = None) -> list[str]:
        """What an agent's stored conversation says, but for the system's prompt; it is whole in itself."""
        loaded = await self.loaded(agent_id)
        linked = [*chains(map(digest_of, loaded.messages))]
        assert (loaded.length, loaded.digest) == (len(linked), (linked or [""])[-1])
        return [text_of(each.content) for each in loaded.messages if each.role != "system"]

    async def assert_known(self, *agents: UUID | None) -> None:
        """What each agent knows is what is shown."""
        shown = await self.shown()
        for agent_id in agents or (None,):
            assert await self.known(agent_id) == shown
