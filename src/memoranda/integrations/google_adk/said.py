"""What ADK's events and entries say, as messages and texts, and back. Pure."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from memoranda.conversations.finding.models import FoundMessage
from memoranda.conversations.models import Message, Role
from memoranda.memories.models import Memory
from memoranda.words.text import clean

SAID: Final = "said:"
FACT: Final = "memory:"
_USER: Final = "user"
_LONGEST: Final = 60
"""Characters of a part, as JSON, of the name of a conversation, which may have 200."""


def workflow_of(application: str, person: str, session: str | None) -> str:
    """The name of the conversation that keeps what a session said: no two sessions have the same one.

    Blanks around a name are no part of it.
    """
    return json.dumps(["adk", *map(_short, (application, person, session or ""))])


def is_of(workflow_id: str | None, application: str, person: str) -> bool:
    """Whether it is a conversation of this application with this person."""
    start = json.dumps(["adk", *map(_short, (application, person))]).removesuffix("]")
    return workflow_id is not None and workflow_id.startswith(f"{start}, ")


def _short(name: str) -> str:
    """A name as it is, or what stands for one that has no room beside two others."""
    name = clean(name).strip()
    if len(json.dumps(name)) <= _LONGEST:
        return name
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()[:40]


def message_of(event: Event) -> Message | None:
    """What an event says in words; None where it says nothing."""
    text = text_of(event.content)
    if not text:
        return None
    role: Role = "user" if event.author == _USER else "assistant"
    said = {"name": clean(event.author), **_at(event.timestamp), "adk_event_id": clean(event.id)}
    return Message(role=role, content=text, metadata=said)


def _at(timestamp: float) -> dict[str, str]:
    """When it was; nothing for a time that no calendar has."""
    try:
        return {"at": datetime.fromtimestamp(timestamp, UTC).isoformat()}
    except (ValueError, OverflowError, OSError):
        return {}


def messages_of(events: Iterable[Event]) -> list[Message]:
    """What events say, in their order; one that comes twice once."""
    found = {event.id: message_of(event) for event in events if not event.partial}
    return [message for message in found.values() if message is not None]


def text_of(content: types.Content | None) -> str:
    """The words of a content, without what a model thought and what no store can hold."""
    parts: Sequence[types.Part] = (content.parts if content else None) or ()
    return clean("\n".join(part.text for part in parts if part.text and not part.thought)).strip()


def entry_of_message(found: FoundMessage) -> MemoryEntry:
    """A message that was found, as ADK has it."""
    return MemoryEntry(
        id=f"{SAID}{found.conversation_id}:{found.position}",
        author=found.name or found.role,
        timestamp=found.at or found.ts.isoformat(),
        content=types.Content(
            role=_USER if found.role == _USER else "model", parts=[types.Part(text=found.text)]
        ),
    )


def entry_of_memory(memory: Memory) -> MemoryEntry:
    """A memory that was found, as ADK has it."""
    return MemoryEntry(
        id=f"{FACT}{memory.id}",
        author=memory.origin.value,
        timestamp=memory.recorded_at.isoformat(),
        content=types.Content(role=_USER, parts=[types.Part(text=memory.text)]),
    )
