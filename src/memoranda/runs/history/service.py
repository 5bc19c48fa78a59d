"""The verb of runs looked back at, for context sources: it takes a subject and no principal."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from memoranda.runs.history import store
from memoranda.runs.history.store import PastRun
from memoranda.storage import Storage, Transaction
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject


class RunHistory:
    """Earlier runs of an organization."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def earlier(
        self,
        subject: ContextSubject,
        entities: Sequence[ResourceRef] = (),
        *,
        lookback: timedelta,
        limit: int,
        but: UUID | None = None,
    ) -> list[PastRun]:
        """Runs created within `lookback`, by `(created_at, id)` the newest first, at most `limit`.

        They are of the subject's user or of its trigger, or their result names one of the
        entities, whoever they were for: the boundary is the organization. `but` is left out.
        Nothing is read for a limit of 0, or where there is nothing to look for.
        """
        if limit == 0 or not (subject.user_id or subject.trigger_id or entities):
            return []
        return await self._storage.read(
            subject.organization_id,
            _earlier,
            lookback,
            user_id=subject.user_id,
            trigger_id=subject.trigger_id,
            entities=entities,
            but=but,
            limit=limit,
        )


def _earlier(tx: Transaction, /, lookback: timedelta, **wanted: Any) -> list[PastRun]:
    return store.earlier(tx, since=tx.now - lookback, **wanted)
