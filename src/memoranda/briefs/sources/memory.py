"""Live memories of every audience that covers the subject, but for the asker's own: newest first."""

from typing import Final

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import NoOptions
from memoranda.memories.finding.block import LEFT
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.words.ref import ResourceRef

DEFAULT_LIMIT = 20
REF_KIND = "memory"
PAST: Final = (
    "A memory about a row of the application is told where the row is there now: "
    "whether it was there then is not kept. One that was remembered on a branch of a chat that was left then, "
    "and come back to since, does not say so."
)


class MemorySource:
    """What the organization, or this agent, remembers."""

    name: ContextKind = "memory"
    kind: ContextKind = "memory"
    options_schema = NoOptions
    past = PAST

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """At most `spec.limit` memories (20 where it is None); 0 reads nothing."""
        limit = DEFAULT_LIMIT if spec.limit is None else spec.limit
        found = await self._memories.recent(
            request.subject, personal=False, limit=limit, as_of=request.as_of
        )
        return [memory_item(memory, self.kind) for memory in found]


def memory_item(memory: Memory, kind: ContextKind) -> ContextItem:
    """A memory as an item; its title is its own, or its category. One of a branch that was left says so first."""
    return ContextItem(
        source=kind,
        kind=kind,
        title=memory.title or memory.category or "",
        body=f"{LEFT if memory.branch_left else ''}{memory.text or ''}",
        subject_key=memory.subject_key,
        ref=ResourceRef(kind=REF_KIND, id=str(memory.id)),
        recorded_at=memory.recorded_at,
    )
