"""What runs are told of definitions; it needs no more than the database."""

from collections.abc import Sequence

from memoranda.state.definitions import store
from memoranda.state.definitions.models import DefinitionKind, DefinitionSummary
from memoranda.storage import Storage
from memoranda.words.subject import ContextSubject


class DefinitionSummaries:
    """Summaries of what is published, for those who may see it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def visible(
        self,
        subject: ContextSubject,
        *,
        kinds: Sequence[DefinitionKind] = tuple(DefinitionKind),
        limit: int,
    ) -> list[DefinitionSummary]:
        """Published definitions that the subject's user or agent may see, by name, at most `limit`; 0 reads nothing."""
        if limit == 0 or not kinds:
            return []
        return await self._storage.read(
            subject.organization_id,
            store.summaries,
            [kind.value for kind in kinds],
            limit,
            store.Seer(subject.user_id, subject.agent_id),
        )
