"""Chats and their runs as a caller may see them: any other is answered like one that is not there."""

from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import sees
from memoranda.conversations.chats import store
from memoranda.conversations.chats.errors import unknown_chat, unknown_chat_run
from memoranda.conversations.chats.models import Chat, ChatRun
from memoranda.storage import Transaction


def sees_chat(who: Principal, chat: Chat) -> bool:
    """Whether `who` may know of the chat."""
    return sees(who, user_id=chat.user_id, agent_id=chat.agent_id)


def seen_chat(tx: Transaction, who: Principal, chat_id: UUID) -> Chat:
    """The chat, to be read. Raises `NotFound`."""
    return _seen(who, store.find(tx, chat_id), chat_id)


def held_chat(tx: Transaction, who: Principal, chat_id: UUID) -> Chat:
    """The chat, to be changed in this transaction alone. Raises `NotFound`."""
    seen_chat(tx, who, chat_id)  # whoever may not see it takes no lock of it
    return _seen(who, store.hold(tx, chat_id), chat_id)


def seen_run(tx: Transaction, who: Principal, run_id: UUID) -> ChatRun:
    """The run, to be read. Raises `NotFound`."""
    run = store.find_run(tx, run_id)
    chat = None if run is None else store.find(tx, run.chat_id)
    if run is None or chat is None or not sees_chat(who, chat):
        raise unknown_chat_run(run_id)
    return run


def held_run(tx: Transaction, who: Principal, run_id: UUID) -> tuple[Chat, ChatRun]:
    """The run with its chat, to be changed in this transaction alone. Raises `NotFound`."""
    seen_run(tx, who, run_id)
    held = store.hold_run(tx, run_id)
    if held is None or not sees_chat(who, held[0]):
        raise unknown_chat_run(run_id)
    return held


def _seen(who: Principal, chat: Chat | None, chat_id: UUID) -> Chat:
    if chat is None or not sees_chat(who, chat):
        raise unknown_chat(chat_id)
    return chat
