"""What is read of a chat within one transaction: the path that is shown, and where some texts are quoted."""

from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.chats import store, tree
from memoranda.conversations.chats.errors import unknown_message
from memoranda.conversations.chats.live import recording
from memoranda.conversations.chats.models import Chat, ChatMessage, ChatRun, ShownMessage, Thread
from memoranda.conversations.chats.seeing import seen_chat, sees_chat
from memoranda.storage import Storage, Transaction
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

LOOKED_THROUGH: Final = 20
"""Chats that one look for quotes goes through."""


def thread(
    tx: Transaction, who: Principal, chat_id: UUID, before: UUID | None, most: int
) -> Thread:
    """The last messages of the path that is shown, or the last ones before that message. Raises `NotFound`."""
    chat = seen_chat(tx, who, chat_id)
    return thread_of(tx, chat, before, most)


def thread_of(tx: Transaction, chat: Chat, before: UUID | None, most: int) -> Thread:
    """The same, of a chat that is seen."""
    places = store.outline(tx, chat.id)
    ids = [place.id for place in tree.path(places, chat.active_leaf)]
    if before is not None:
        if before not in ids:
            raise unknown_message(before)
        ids = ids[: ids.index(before)]
    earlier, shown = ids[:-most], ids[-most:]
    versions = tree.versions(places.values())
    return Thread(
        chat=chat,
        messages=[_shown(each, versions) for each in store.messages(tx, shown)],
        earlier=len(earlier),
        run=store.live_run(tx, chat.id),
        last_run=None if chat.active_leaf is None else _run_of(tx, places[chat.active_leaf]),
    )


def of_workflow(
    tx: Transaction, who: Principal, subject: ContextSubject, workflow_id: str
) -> list[Chat]:
    """The chat that stands for the workflow, if there is one of this user and agent, and the caller sees it."""
    chat = store.of_workflow(tx, workflow_id)
    if chat is None or not sees_chat(who, chat):
        return []
    of_both = subject.user_id in {None, chat.user_id} and subject.agent_id in {None, chat.agent_id}
    return [chat] if of_both else []


def _run_of(tx: Transaction, place: store.Place) -> ChatRun | None:
    """The run that said it, or the newest that was to answer it."""
    if place.run_id is not None:
        return store.find_run(tx, place.run_id)
    return store.last_run_of(tx, place.id)


async def quoting(
    storage: Storage, organization_id: UUID, texts: Iterable[str], but: UUID | None
) -> list[UUID]:
    """The chats that keep one of these texts, the newest first; none of the user `but`."""
    quotes = Quotes(texts)
    found: list[UUID] = []
    before: UUID | None = None
    while quotes:
        # A few at a time, so that no one view of the database is held for long.
        some, before = await storage.read(organization_id, _quoting, quotes, before)
        found += [each.id for each in some if but is None or each.user_id != but]
        if before is None:
            break
    return found


def _quoting(
    tx: Transaction, quotes: Quotes, before: UUID | None
) -> tuple[list[Chat], UUID | None]:
    chats = store.page(tx, None, None, before, LOOKED_THROUGH)
    found = [chat for chat in chats if any(map(quotes.are_in, _kept(tx, chat)))]
    return found, chats[-1].id if chats else None


def _kept(tx: Transaction, chat: Chat) -> Iterator[Any]:
    """All that is kept of what was said, on whichever branch."""
    yield chat.title
    yield from store.texts(tx, chat.id)
    live = store.live_run(tx, chat.id)
    if live is not None:
        yield recording.state_of(tx, live.id).model_dump(mode="json")


def _shown(message: ChatMessage, versions: dict[UUID | None, list[UUID]]) -> ShownMessage:
    beside = versions[message.parent_id]
    return ShownMessage(**dict(message), version=beside.index(message.id) + 1, versions=beside)
