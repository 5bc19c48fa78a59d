"""The verb of runs looked back at, for context sources: it takes a subject and no principal."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from memoranda.runs.history import store
from memoranda.runs.history.store import PastRun
from memoranda.runs.history.then import store as then
from memoranda.storage import Storage, Transaction
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject

_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)


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
        as_of: datetime | None = None,
    ) -> list[PastRun]:
        """Runs created within `lookback`, by `(created_at, id)` the newest first, at most `limit`.

        They are of the subject's user or of its trigger, or their result names one of the
        entities, whoever they were for: the boundary is the organization. `but` is left out.
        Nothing is read for a limit of 0, or where there is nothing to look for. With `as_of`, as
        they stood at that time, back from then; raises `Gone` where that was not recorded.
        """
        if limit == 0 or not (subject.user_id or subject.trigger_id or entities):
            return []
        return await self._storage.read(
            subject.organization_id,
            _earlier,
            lookback,
            as_of,
            user_id=subject.user_id,
            trigger_id=subject.trigger_id,
            entities=entities,
            but=but,
            limit=limit,
        )


def _earlier(
    tx: Transaction, /, lookback: timedelta, as_of: datetime | None, **wanted: Any
) -> list[PastRun]:
    if as_of is None:
        return store.earlier(tx, since=tx.now - lookback, **wanted)
    return then.earlier(tx, since=_back(as_of, lookback), then=as_of, **wanted)


def _back(as_of: datetime, lookback: timedelta) -> datetime:
    """So long before that time; not before 1970, where no run is and the calendar may end."""
    return as_of - lookback if as_of - _FIRST > lookback else _FIRST
