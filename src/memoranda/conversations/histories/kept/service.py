"""The verbs of histories as people see them: list, show, read what was said, and delete for good."""

import json
from collections.abc import AsyncIterator, Collection
from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, sees_user
from memoranda.conversations.histories.kept import store
from memoranda.conversations.histories.kept.models import KeptEntry, KeptHistory, ShownHistory
from memoranda.conversations.histories.kept.store import EVERYBODY, Whose
from memoranda.conversations.owned import organization_of_host, user_of_host
from memoranda.runs.store import record_activity
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import make_cursor, read_cursor
from memoranda.words.errors import NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, check_storable
from memoranda.words.page import Page, cut_page
from memoranda.words.purged import RowsPurged
from memoranda.words.quotes import Quotes

MOST_LISTED: Final = 200
PAGE_BYTES: Final = 1024 * 1024
"""Bytes after which a page of entries ends; one that is larger stands alone."""
PURGED: Final = "history_purged"
_LISTING: Final = "histories"
_BEGINNING: Final = UUID(int=0)


@checks_shapes
class KeptHistories:
    """The histories of agent frameworks, for people.

    An owner sees those of all users and of nobody, a member its user's own. An agent's key is refused, since
    histories name no agent.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        scope: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[KeptHistory]:
        """Histories of the user named (all that the caller sees, without), or of a scope, the newest first.

        `limit` is 1 to 200. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_storable("scope", scope or "")
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        found = await self._storage.read(
            organization, store.page, whose_of(who, user_id), scope, before, limit + 1
        )
        return cut_page(_LISTING, found, limit)

    async def get(self, who: Principal, history_id: UUID) -> ShownHistory:
        """A history with its record. Raises `NotFound`."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, _seen, who, history_id)

    async def entries(
        self, who: Principal, history_id: UUID, *, limit: int = 100, cursor: str | None = None
    ) -> Page[KeptEntry]:
        """What was said in a history, on all of its branches, in the order of its making.

        A page ends after `limit` entries (1 to 200), or once it holds 1 MB. Raises `NotFound`, and `Invalid`
        for a cursor of another list.
        """
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        listing = f"entries of history {history_id}"
        after = read_cursor(listing, cursor) or _BEGINNING
        items, more = await self._storage.read(
            organization, _entries, who, history_id, after, limit
        )
        return Page(items=items, next_cursor=make_cursor(listing, items[-1].id) if more else None)

    async def purge(self, who: Principal, history_id: UUID) -> RowsPurged:
        """Delete a history for good, with the entries that no other one comes by. Raises `NotFound`."""
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        rows = await self._storage.write(organization, _purge, who, history_id)
        return RowsPurged(rows=rows, scrubbed=await self._storage.scrub())

    async def quoting(
        self, organization_id: UUID, texts: Collection[str], but: UUID | None = None
    ) -> list[UUID]:
        """The histories that keep one of these texts, the newest first; none of the user `but`.

        For whoever has the right to see them all: nothing is changed here.
        """
        quotes = Quotes(texts)
        if not quotes:
            return []
        return [
            each.id
            async for each in self.kept(organization_id, EVERYBODY)
            if (but is None or each.user_id != but)
            and await self._storage.read(organization_id, _quotes, quotes, each)
        ]

    async def kept(self, organization_id: UUID, whose: Whose) -> AsyncIterator[KeptHistory]:
        """Every history of these owners, the newest first, as they are when it is their turn."""
        before = None
        while some := await self._storage.read(
            organization_id, store.page, whose, None, before, MOST_LISTED
        ):
            for each in some:
                yield each
            before = some[-1].id

    async def said(self, organization_id: UUID, history_id: UUID) -> AsyncIterator[KeptEntry]:
        """Every entry that the history comes by, in the order of their making."""
        after, more = _BEGINNING, True
        while more:
            items, more = await self._storage.read(
                organization_id, _some_entries, history_id, after, MOST_LISTED
            )
            for each in items:
                yield each
            after = items[-1].id if items else after


def whose_of(who: Principal, user_id: UUID | None) -> Whose:
    """Whose histories the caller may see, of those that it names. Raises `Refused` for another user's."""
    named = user_of_host(who, user_id)
    return EVERYBODY if named is None else Whose(named, named)


def _seen(tx: Transaction, who: Principal, history_id: UUID) -> ShownHistory:
    found = store.shown(tx, history_id)
    # Those of no user are the organization's: whoever sees all users sees them.
    if found is None or not sees_user(who, found.user_id or _BEGINNING):
        raise NotFound(
            f"There is no history {history_id}: list those that there are.",
            history_id=str(history_id),
        )
    return found


def _entries(
    tx: Transaction, who: Principal, history_id: UUID, after: UUID, most: int
) -> tuple[list[KeptEntry], bool]:
    _seen(tx, who, history_id)
    return _some_entries(tx, history_id, after, most)


def _some_entries(
    tx: Transaction, history_id: UUID, after: UUID, most: int
) -> tuple[list[KeptEntry], bool]:
    items: list[KeptEntry] = []
    size = 0
    for each in store.entries(tx, history_id, after):
        size += len(each.content.encode())
        if len(items) == most or (items and size > PAGE_BYTES):
            return items, True
        items.append(each)
    return items, False


def _purge(tx: Transaction, who: Principal, history_id: UUID) -> int:
    rows = store.remove(tx, _seen(tx, who, history_id))
    record_activity(
        tx,
        PURGED,
        subject_id=history_id,
        user_id=who.user_id,
        agent_id=who.agent_id,
        rows=rows,
    )
    return rows


def _quotes(tx: Transaction, quotes: Quotes, history: KeptHistory) -> bool:
    there = store.shown(tx, history.id)
    if there is None:
        return False
    named = [there.name, there.scope, there.revision, *there.tips, read_json(there.record)]
    return quotes.are_in(named) or any(
        quotes.are_in([each.name, read_json(each.content)])
        for each in store.entries(tx, history.id, _BEGINNING)
    )


def read_json(text: str) -> Any:
    """What a framework wrote as JSON, or the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
