"""Ends the runs of chats that nobody will finish: every worker looks now and then where any are live."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.storage import PLATFORM, Storage
from memoranda.storage.signals import CHAT_RUNS, settle, signals

LOOK: Final = timedelta(seconds=15)
"""How often a worker looks, at the least."""


class Watching:
    """Looks into the organizations that have live runs, and ends those whose time is over.

    Any number of workers may look at once: a run ends once. It is no chore, since a run that goes on is no
    work that waits, and whoever drains the work would wait for people.
    """

    def __init__(self, storage: Storage, runs: LiveRuns, *, look: timedelta = LOOK) -> None:
        self._storage = storage
        self._runs = runs
        self.look = look

    async def serve(self, _worker_id: UUID) -> timedelta:
        """Look once; how long not to look again."""
        for signal in await self._storage.read(PLATFORM, signals, CHAT_RUNS):
            if not isinstance(signal.scope, UUID) or not await self._runs.end_overdue(signal.scope):
                # Raised again by whoever began a run meanwhile, it stays.
                await self._storage.write(PLATFORM, settle, CHAT_RUNS, signal)
        return self.look
