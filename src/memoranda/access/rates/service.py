"""Counts what each caller asks for, and refuses what is more than its minute allows."""

import asyncio
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.rates import store
from memoranda.access.rates.models import Rate, TooManyRequests
from memoranda.settings import Settings
from memoranda.storage import Storage
from memoranda.words.clock import Clock, system_clock
from memoranda.words.given import checks_shapes

__all__ = ["Rate", "Rates", "TooManyRequests", "limits_of"]

WINDOW: Final = timedelta(minutes=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Share:
    """What one caller may still ask for within a minute, as far as this process knows."""

    __slots__ = ("left", "lock", "spent")

    def __init__(self) -> None:
        self.left = 0
        self.spent = False  # nothing more of the minute is to be had
        self.lock = asyncio.Lock()


class _Minute(NamedTuple):
    """One minute of the clock, and what was shared out of it."""

    start: datetime
    shares: dict[tuple[UUID, str, Rate], _Share]


@checks_shapes
class Rates:
    """So many requests of a kind a minute, for each user, and for a key that is no user's.

    `limits` says how many; a kind without one, or with 0, is not counted. Minutes are those of
    the clock. Where several processes serve one database they count together, each by setting
    a part aside, so that not every request writes: together they never allow more than the
    limit, and a caller that goes through several of them at once may get a little less.
    """

    def __init__(
        self, storage: Storage, limits: Mapping[Rate, int], *, clock: Clock = system_clock
    ) -> None:
        self._storage = storage
        self._limits = limits
        self._clock = clock
        self._minute = _Minute(_EPOCH, {})

    async def count(self, who: Principal, rate: Rate) -> None:
        """Count one request. Raises `TooManyRequests`, saying in how many seconds to ask again.

        The operator, who has no organization, is not counted.
        """
        limit, organization_id = self._limits.get(rate, 0), who.organization_id
        if not limit or organization_id is None:
            return
        now, asker = self._clock(), _asker(who)
        start, shares = self._minute_of(now)
        share = shares.setdefault((organization_id, asker, rate), _Share())
        async with share.lock:
            if not share.left and not share.spent:
                part = await self._part(organization_id, asker, rate, start, limit)
                share.left, share.spent = part, part == 0 or not self._storage.shared
            if share.left:
                share.left -= 1
                return
        raise _refusal(rate, limit, start + WINDOW - now)

    async def prune(self, organization_id: UUID) -> int:
        """Delete what was counted in minutes that are over; how many rows."""
        return await self._storage.write(organization_id, store.prune)

    def _minute_of(self, now: datetime) -> _Minute:
        """The minute that it is; what was counted in another one is forgotten."""
        start = _EPOCH + (now - _EPOCH) // WINDOW * WINDOW
        if start != self._minute.start:
            self._minute = _Minute(start, {})
        return self._minute

    async def _part(
        self, organization_id: UUID, asker: str, rate: Rate, start: datetime, limit: int
    ) -> int:
        """How much of the minute this process may give out; all of it where it is alone."""
        if not self._storage.shared:
            return limit
        return await self._storage.write(
            organization_id, store.reserve, asker, rate.value, start, limit
        )


def _asker(who: Principal) -> str:
    """Who is counted: the user, whichever key is used; else the key."""
    return f"user:{who.user_id}" if who.user_id is not None else f"key:{who.key_id}"


def _refusal(rate: Rate, limit: int, left: timedelta) -> TooManyRequests:
    seconds = max(1, math.ceil(left.total_seconds()))
    return TooManyRequests(
        f"At most {limit} requests a minute are answered here: ask again in {seconds} seconds.",
        rate=rate.value,
        limit=limit,
        retry_after_s=seconds,
    )


def limits_of(settings: Settings) -> dict[Rate, int]:
    """How often each may be asked for within a minute, as the settings say."""
    return {
        Rate.MEMORY_WRITES: settings.writes_per_minute,
        Rate.FILE_WRITES: settings.writes_per_minute,
        Rate.LISTS: settings.lists_per_minute,
    }
