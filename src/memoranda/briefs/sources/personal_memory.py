"""Live memories whose audience is the asking user and no agent: newest first."""

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import NoOptions
from memoranda.briefs.sources.memory import DEFAULT_LIMIT, PAST, memory_item
from memoranda.memories.service import Memories


class PersonalMemorySource:
    """The standing wishes of the person who asks; a subject without a user has none."""

    name: ContextKind = "personal_memory"
    kind: ContextKind = "personal_memory"
    options_schema = NoOptions
    past = PAST

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """At most `spec.limit` memories (20 where it is None); 0 reads nothing."""
        limit = DEFAULT_LIMIT if spec.limit is None else spec.limit
        found = await self._memories.recent(
            request.subject, personal=True, limit=limit, as_of=request.as_of
        )
        return [memory_item(memory, self.kind) for memory in found]
