"""The verbs of notes: leave one for the next run, take it back, and see what was told."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.conversations.chats.keys import is_of_rating
from memoranda.conversations.chats.notes import store
from memoranda.conversations.chats.notes.lines import line_of
from memoranda.conversations.chats.notes.models import Note
from memoranda.conversations.chats.seeing import held_chat, seen_chat
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, text_input
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 500
_START: Final = UUID(int=0)


@checks_shapes
class ChatNotes:
    """What happened between two turns of a chat, and waits until a run is told it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def add(self, who: Principal, chat_id: UUID, key: str, text: str) -> Note:
        """Leave a note of at most 1,000 characters for the next run.

        It becomes one bracketed line ahead of what the user says next, and is told once a run has answered. A newer
        note takes the place of one that waits under the same key. Raises `NotFound`, `Invalid` (also for a key that
        begins with "rating of ", which are those of ratings), and `OverLimit` beyond 50 notes that wait.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        key, line = text_input("key", key), line_of(text)
        if is_of_rating(key):
            raise Invalid(
                'A key that begins with "rating of " is that of a rating: name another, or rate the answer.',
                field="key",
            )
        return await self._storage.write(organization, _add, who, chat_id, key, line)

    async def take_back(self, who: Principal, chat_id: UUID, key: str) -> bool:
        """Tell nobody what waits under that key; whether something waited. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        key = text_input("key", key)
        return await self._storage.write(organization, _take_back, who, chat_id, key)

    async def page(
        self, who: Principal, chat_id: UUID, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Note]:
        """The chat's notes, told ones among them, the oldest first, at most `limit` (1 to 500).

        Raises `NotFound`, and `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        listing = f"notes of {chat_id}"
        after = read_cursor(listing, cursor) or _START
        found = await self._storage.read(organization, _page, who, chat_id, after, limit + 1)
        return cut_page(listing, found, limit)


def _add(tx: Transaction, who: Principal, chat_id: UUID, key: str, line: str) -> Note:
    return store.add(tx, held_chat(tx, who, chat_id).id, key, line)


def _take_back(tx: Transaction, who: Principal, chat_id: UUID, key: str) -> bool:
    return store.take_back(tx, held_chat(tx, who, chat_id).id, key)


def _page(tx: Transaction, who: Principal, chat_id: UUID, after: UUID, most: int) -> list[Note]:
    return store.page(tx, seen_chat(tx, who, chat_id).id, after, most)
