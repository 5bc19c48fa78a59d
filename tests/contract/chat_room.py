"""A chat to try things on: its user, an agent, and the verbs of whoever takes part."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.models import AgentTurn, Answered, Chat, ChatRun
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.models import Message
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from tests.contract.tenants import Tenant


@dataclass(frozen=True)
class Room:
    """One chat of Anna's with the scout, as the organization's owner goes about it."""

    storage: Storage
    chats: Chats
    tenant: Tenant
    chat: Chat

    @property
    def who(self) -> Principal:
        return self.tenant.owner

    @property
    def live(self) -> LiveRuns:
        return self.chats.live

    async def queued(self, text: str = "When does the ferry leave?") -> ChatRun:
        """A run that nobody has picked up."""
        return (await self.chats.send(self.who, self.chat.id, text)).run

    async def running(self, text: str = "When does the ferry leave?") -> ChatRun:
        """A run that was picked up, and whose agent begins."""
        run = await self.queued(text)
        return await self.chats.pick_up(self.who, run.id)

    async def tell(self, run: ChatRun, *texts: str) -> None:
        await self.live.emit(self.who, run.id, [TextDelta(text=text) for text in texts])

    async def answered(self, text: str = "When does the ferry leave?") -> Answered:
        """A whole turn: said, prepared and answered."""
        run = await self.running(text)
        return await self.answer(run, f"To {text!r}: at noon.")

    async def answer(self, run: ChatRun, text: str, **more: Any) -> Answered:
        """Answer as the scout does: with the list that it was given, and the answer behind it."""
        agent = self.tenant.scout.id
        prepared = await self.chats.prepare(self.who, run.id, agent)
        said = [*prepared.request(), Message(role="assistant", content=text)]
        turn = AgentTurn(agent_id=agent, messages=said, fence=prepared.loaded.fence)
        return await self.chats.answer(self.who, run.id, text, [turn], **more)

    async def shown(self) -> list[Any]:
        """What the thread says, in its order."""
        thread = await self.chats.thread(self.who, self.chat.id)
        return [message.content for message in thread.messages]

    async def known(self) -> list[Message]:
        """What the scout's conversation holds."""
        talks = Conversations(self.storage)
        found = await talks.of_workflow(self.who, self.chat.workflow_id)
        own = [each for each in found.items if each.agent_id == self.tenant.scout.id]
        if not own:
            return []
        stored = await talks.messages(self.who, own[0].id, limit=1_000)
        return [Message(role=each.role, content=each.content) for each in stored]


async def new_room(storage: Storage, tenant: Tenant, chats: Chats | None = None) -> Room:
    chats = chats or Chats(storage)
    chat = await chats.create(tenant.owner, user_id=tenant.anna.id, agent_id=tenant.scout.id)
    return Room(storage, chats, tenant, chat)


def strangers(ours: Tenant, theirs: Tenant) -> list[Principal]:
    """Who must never learn of Anna's chat with the scout."""
    return [
        theirs.owner,
        theirs.member(theirs.anna),
        ours.member(ours.ben),
        ours.key_of(ours.clerk, ours.anna),
        ours.key_of(ours.scout, ours.ben),
    ]


NOWHERE = UUID(int=7)
