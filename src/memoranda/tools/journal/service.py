"""Reads the journal, and writes what nobody waits for."""

import asyncio
import logging
from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.storage import Storage, Transaction
from memoranda.tools.journal import store
from memoranda.tools.journal.line import Line
from memoranda.tools.models import ToolCall
from memoranda.words.cursor import read_cursor
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page

logger = logging.getLogger(__name__)

MOST_LISTED: Final = 200
MOST_WAITING: Final = 10_000
"""How many lines of an organization may wait to be written: what comes then is dropped."""


@checks_shapes
class Journal:
    """The journal of calls: one line for each, of those that were refused too.

    Calls that changed something have theirs in their own transaction. The others are written
    afterwards, many at once, so that no read waits for them and none fails by them.
    """

    def __init__(self, storage: Storage, *, kept: timedelta | None = None) -> None:
        self._storage = storage
        self._kept = kept
        self._waiting: dict[UUID, list[Line]] = {}
        # The loop holds tasks weakly, and nobody else waits for these.
        self._writing: dict[UUID, asyncio.Task[None]] = {}

    async def page(
        self,
        who: Principal,
        *,
        run_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ToolCall]:
        """The calls that `who` may know of, the newest first, at most `limit` (1 to 200).

        An owner knows of all, a member of those for its user, an agent of its own. Raises
        `Invalid` for a cursor that is not this list's, and `Refused`.
        """
        organization = organization_for(who, Permission.READ_TOOL_CALLS)
        check_count("limit", limit, most=MOST_LISTED)
        listing = "tool calls" if run_id is None else f"tool calls of {run_id}"
        start = read_cursor(listing, cursor)
        found = await self._storage.read(organization, store.page, who, run_id, start, limit + 1)
        return cut_page(listing, found, limit)

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of the lines that are older than they are kept; how many went."""
        if self._kept is None:
            return 0
        return await self._storage.write(organization_id, _prune, self._kept)

    def note(self, organization_id: UUID, line: Line) -> None:
        """Begin to write a line, of which nothing is heard again: what can't be written is logged as lost."""
        waiting = self._waiting.setdefault(organization_id, [])
        if len(waiting) >= MOST_WAITING:
            logger.warning("A line of the journal of tool calls was dropped: too many wait.")
            return
        waiting.append(line)
        if organization_id not in self._writing:
            task = asyncio.create_task(self._write(organization_id))
            self._writing[organization_id] = task

    async def settled(self) -> None:
        """Wait until all that was noted is written: before a storage is closed, and in tests."""
        while self._writing:
            await asyncio.wait(list(self._writing.values()))

    async def _write(self, organization_id: UUID) -> None:
        try:
            while lines := self._waiting.pop(organization_id, None):
                await self._keep(organization_id, lines)
        finally:
            del self._writing[organization_id]

    async def _keep(self, organization_id: UUID, lines: list[Line]) -> None:
        try:
            await self._storage.write(organization_id, store.add_all, lines)
        except Exception as error:  # noqa: BLE001 - of all kinds: nobody awaits this task, and its calls were answered
            # The type alone: an error's message may quote what people wrote.
            logger.warning(
                "%d lines of the journal of tool calls were lost (%s).",
                len(lines),
                type(error).__name__,
            )


def _prune(tx: Transaction, kept: timedelta) -> int:
    return store.prune(tx, tx.now - kept)
