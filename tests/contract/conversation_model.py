"""What is said to conversations, what was acknowledged of it, and what has to hold whatever was done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoranda.conversations.endings import mark_stopped
from memoranda.conversations.models import (
    Conversation,
    ConversationKey,
    LoadedConversation,
    Message,
)
from memoranda.conversations.seeding import seed
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request

SHAPES = (
    "plain",
    "tools",
    "apart",
    "malformed",
    "long",
    "open",
    "stopped",
    "thinking",
    "mid call",
    "nothing",
)
WORDS = "and ships leave at dawn " * 8
PROVIDERS = (None, "anthropic", "openai_chat", "openai_responses", "gemini")


def turn_of(shape: str, number: int, provider: str | None) -> list[Message]:
    """One turn that ended, or broke off, in the way that its shape says; every text names its number."""
    known = {} if provider is None else {"provider": provider, "model": "m"}

    def answers(*blocks: dict[str, Any]) -> Message:
        return Message(role="assistant", content=list(blocks), metadata=known)

    def text(said: str) -> dict[str, Any]:
        return {"type": "text", "text": f"{said} {number} {WORDS}"}

    def call(letter: str, arguments: str = '{"q": "ships"}') -> dict[str, Any]:
        ids = {"id": f"call_{number}_{letter}", "name": "look_up"}
        return {"type": "tool_call", **ids, "arguments": arguments}

    def result(letter: str, size: int = 60) -> dict[str, Any]:
        found = f"found {number} " + "x" * size
        ids = {"tool_call_id": f"call_{number}_{letter}", "name": "look_up"}
        return {"type": "tool_result", **ids, "content": found}

    def tool(*results: dict[str, Any]) -> Message:
        return Message(role="tool", content=list(results))

    asked, done = (
        Message(role="user", content=f"question {number} {WORDS}"),
        answers(text("answer")),
    )
    thought = {"type": "thinking", "thinking": f"hm {number}"}
    both = answers(text("looking"), call("a"), call("b"))
    return {
        "plain": lambda: [asked, Message(role="assistant", content=f"answer {number} {WORDS}")],
        "tools": lambda: [asked, both, tool(result("b"), result("a")), done],
        "apart": lambda: [asked, both, tool(result("a")), tool(result("b")), done],
        "malformed": lambda: [asked, answers(call("a", '{"q": ')), tool(result("a")), done],
        "long": lambda: [asked, answers(call("a")), tool(result("a", 2_500)), done],
        "open": lambda: [asked, both, tool(result("b"))],
        "stopped": lambda: mark_stopped([asked, answers(text("ans"))]),
        "thinking": lambda: mark_stopped([asked, answers(thought)]),
        "mid call": lambda: mark_stopped([asked, answers(text("looking"), call("a", '{"q'))]),
        "nothing": lambda: mark_stopped([asked]),
    }[shape]()


@dataclass
class Client:
    """A host that loaded the conversation once, and goes on from what it loaded."""

    key: ConversationKey
    messages: list[Message] = field(default_factory=list)
    fence: int = 0
    digest: str = ""
    seen: int = 0
    """How many writes there had been by then, compactions aside."""

    def take(self, key: ConversationKey, loaded: LoadedConversation, writes: int) -> None:
        self.key, self.messages, self.seen = key, list(loaded.messages), writes
        self.fence, self.digest = loaded.fence, loaded.digest


@dataclass
class Kept:
    """What must be there: every message that was acknowledged since the last clearing."""

    acknowledged: list[Message] = field(default_factory=list)
    pinned: list[Message] = field(default_factory=list)
    writes: int = 0
    ended: set[UUID] = field(default_factory=set)

    def add(self, messages: Sequence[Message]) -> None:
        self.acknowledged += messages
        self.writes += 1

    def empty(self, conversation: Conversation | None = None) -> None:
        self.acknowledged, self.pinned = [], []
        self.writes += 1
        if conversation is not None:
            self.ended.add(conversation.id)


def faults_of(messages: Sequence[Message]) -> list[str]:
    """What any provider would refuse in the next run that begins with these messages."""
    sent = seed("You know ships.", messages, "and now?")
    return [
        f"{provider}: {fault}"
        for provider in CAPABILITIES
        for fault in check_request(provider, build_request(provider, sent))
    ]


def signs_of(message: Message) -> list[Any]:
    """What a message is known by when its results may have been cut or cleared since."""
    if isinstance(message.content, str):
        return [(message.role, message.content)]
    return [
        (message.role, block["type"], block.get("tool_call_id"))
        if block["type"] == "tool_result"
        else (message.role, str(block))
        for block in message.content
    ]


def missing(acknowledged: Sequence[Message], found: Sequence[Message]) -> list[Any]:
    """What was acknowledged and is nowhere."""
    there = {sign for message in found for sign in signs_of(message)}
    return [sign for message in acknowledged for sign in signs_of(message) if sign not in there]
