"""What is written down of a chat: all as it was in one moment, what is large read in pages of one transaction each."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.chats import store as chats
from memoranda.conversations.chats import tree
from memoranda.conversations.chats.exporting import store
from memoranda.conversations.chats.exporting.models import HEADER, ExportEnd, line_of
from memoranda.conversations.chats.feedback.models import Feedback
from memoranda.conversations.chats.models import Chat, ChatRun
from memoranda.conversations.chats.notes import store as notes
from memoranda.conversations.chats.notes.models import Note
from memoranda.conversations.chats.seeing import seen_chat
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict
from memoranda.words.jsonlines import json_line

T = TypeVar("T")

MESSAGES_AT_ONCE: Final = 10
"""Messages of a page: each may have 1 MB."""
AT_ONCE: Final = 100
"""Runs, opinions or notes of a page."""


@dataclass(frozen=True)
class _Seen:
    """The chat when the first page was read: its newest message then, and which are on the path that is shown.

    Messages and runs that ended never change, and are read later. What does change is here: the run that was live,
    what was thought of answers, and notes.
    """

    chat: Chat
    shown: frozenset[UUID]
    newest: UUID | None
    last: int
    live: ChatRun | None
    feedback: Sequence[Feedback]
    notes: Sequence[Note]


async def lines(
    storage: Storage, organization_id: UUID, who: Principal, chat_id: UUID
) -> AsyncGenerator[str, None]:
    """All lines, the first of which says what they are, and the last how many of each kind there were."""
    seen = await storage.read(organization_id, _seen, who, chat_id)
    yield json_line(HEADER)
    yield line_of("chat", seen.chat)

    async def read(of: Callable[[Transaction, T | None], Sequence[T]]) -> AsyncIterator[T]:
        last: T | None = None
        while True:
            page: Sequence[T] = await storage.read(organization_id, _page, who, seen, of, last)
            for each in page:
                yield each
            if not page:
                return
            last = page[-1]

    upto, count = seen.chat.revision, dict.fromkeys(("messages", "runs", "feedback", "notes"), 0)
    async for message in read(
        lambda tx, last: store.messages(
            tx, chat_id, last.sequence if last else 0, seen.last, MESSAGES_AT_ONCE
        )
    ):
        count["messages"] += 1
        yield line_of("message", message, shown=message.id in seen.shown)
    async for run in read(
        lambda tx, last: store.runs(tx, chat_id, last.revision if last else -1, upto, AT_ONCE)
    ):
        count["runs"] += 1
        yield line_of("run", seen.live if seen.live and run.id == seen.live.id else run)
    async for given in read(_rest_of(seen.feedback)):
        count["feedback"] += 1
        yield line_of("feedback", given)
    async for note in read(_rest_of(seen.notes)):
        count["notes"] += 1
        yield line_of("note", note)
    yield line_of("end", ExportEnd(**count))


def _seen(tx: Transaction, who: Principal, chat_id: UUID) -> _Seen:
    chat = seen_chat(tx, who, chat_id)
    places = chats.outline(tx, chat_id)
    newest = max(places.values(), key=lambda place: place.sequence, default=None)
    shown = frozenset(place.id for place in tree.path(places, chat.active_leaf))
    return _Seen(
        chat,
        shown,
        None if newest is None else newest.id,
        0 if newest is None else newest.sequence,
        chats.live_run(tx, chat_id),
        _all(lambda last: store.feedback(tx, chat_id, last, AT_ONCE)),
        _all(lambda last: notes.page(tx, chat_id, last.id if last else store.START, AT_ONCE)),
    )


def _all(page: Callable[[T | None], Sequence[T]]) -> Sequence[T]:
    found: list[T] = []
    while some := page(found[-1] if found else None):
        found += some
    return found


def _rest_of(kept: Sequence[T]) -> Callable[[Transaction, T | None], Sequence[T]]:
    """Pages of what was read already."""
    told = 0

    def page(_: Transaction, __: T | None) -> Sequence[T]:
        nonlocal told
        some = kept[told : told + AT_ONCE]
        told += len(some)
        return some

    return page


def _page(
    tx: Transaction,
    who: Principal,
    seen: _Seen,
    of: Callable[[Transaction, T | None], Sequence[T]],
    last: T | None,
) -> Sequence[T]:
    """A page, where the chat is still what was begun with."""
    chat = seen_chat(tx, who, seen.chat.id)
    cleared = seen.newest and not store.is_there(tx, chat.id, seen.newest, seen.last)
    if cleared or chat.generation != seen.chat.generation:
        raise Conflict(
            "The chat was cleared while it was written down: what is written is not all of it. Export it again.",
            chat_id=str(chat.id),
        )
    return of(tx, last)
