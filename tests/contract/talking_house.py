"""Conversations to compact: talk of known sizes, summarizers that do what a test wants, and what is kept of it all."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.compaction.models import ArchivedMessage
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.compaction.summarizer import Summary, SummaryRequest
from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.models import Message, StoredMessage
from memoranda.conversations.rows import store as rows
from memoranda.conversations.said import is_summary
from memoranda.conversations.service import Conversations
from memoranda.conversations.usage.models import CallUsage
from memoranda.storage import Storage

USED = CallUsage(
    provider="acme", model="short-1", input_tokens=900, output_tokens=40, cost_micros=7
)


def says(role: Any, text: str, **more: Any) -> Message:
    return Message(role=role, content=text, **more)


def turn(number: int, size: int = 300) -> list[Message]:
    """A user asks, a tool is called and answers, and the assistant does."""
    return [
        says("user", f"question {number} " + "q" * size),
        Message(
            role="assistant",
            content=[
                {"type": "text", "text": f"looking {number}"},
                {"type": "tool_call", "id": f"c{number}", "name": "look_up", "arguments": "{}"},
            ],
        ),
        Message(
            role="tool",
            content=[
                {"type": "tool_result", "tool_call_id": f"c{number}", "content": "r" * size},
            ],
        ),
        says("assistant", f"answer {number} " + "a" * size),
    ]


class Scripted:
    """A summarizer that does something first, and answers what it is told to."""

    name = "scripted"

    def __init__(
        self,
        text: str = "They talked.",
        meanwhile: Callable[[], Awaitable[Any]] | None = None,
        error: Exception | None = None,
        usage: CallUsage | None = USED,
    ) -> None:
        self.text, self.meanwhile, self.error, self.usage = text, meanwhile, error, usage
        self.asked: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.asked.append(request)
        if self.meanwhile is not None:
            await self.meanwhile()
        if self.error is not None:
            raise self.error
        return Summary(self.text, self.usage)


class Talk:
    """One conversation with some turns, and the verbs on it."""

    def __init__(self, storage: Storage, who: Principal, conversation_id: UUID) -> None:
        self.storage, self.who, self.id = storage, who, conversation_id
        self.talks = Conversations(storage)

    @classmethod
    async def of(cls, storage: Storage, who: Principal, turns: int = 4, **more: Any) -> "Talk":
        made = await Conversations(storage).create(who, **more)
        talk = cls(storage, who, made.id)
        await talk.append(says("system", "You know ships."))
        for number in range(turns):
            await talk.append(*turn(number))
        return talk

    def compactions(self, summarizer: Any = None, **more: Any) -> Compactions:
        return Compactions(self.storage, summarizer or Scripted(), **more)

    async def append(self, *messages: Message) -> None:
        await self.talks.append(self.who, self.id, messages)

    async def active(self) -> list[StoredMessage]:
        return await self.talks.messages(self.who, self.id, limit=1_000)

    async def archived(self) -> list[ArchivedMessage]:
        found: list[ArchivedMessage] = []
        cursor = None
        while True:
            page = await self.compactions().history(self.who, self.id, limit=1_000, cursor=cursor)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def said(self) -> list[Message]:
        """Everything that was ever said, from the list and the archive together, in its order."""
        found = [*await self.active(), *await self.archived()]
        found = [each for each in found if not is_summary(each)]
        return [bare(each) for each in sorted(found, key=lambda each: each.position)]

    async def assert_whole(self) -> None:
        """What the conversation says of itself is what its rows are."""
        there = await self.talks.get(self.who, self.id)
        active = await self.active()
        digests = [digest_of(each) for each in active]
        stored = await self.storage.read(self.who.organization_id, rows.outline, self.id)
        assert [row.position for row in stored] == [each.position for each in active]
        assert [row.digest for row in stored] == digests
        assert [row.chain for row in stored] == list(chains(digests))
        assert there.length == len(active)
        assert there.digest == ([*chains(digests)] or [""])[-1]


def bare(message: Message) -> Message:
    """The message without its place."""
    return Message(
        role=message.role,
        content=message.content,
        metadata=message.metadata,
        pinned=message.pinned,
    )
