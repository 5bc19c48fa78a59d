"""What has to hold before a chat changes: each raises, and nothing has changed then."""

from memoranda.conversations.chats import store
from memoranda.conversations.chats.errors import ended_generation, in_progress, moved_since
from memoranda.conversations.chats.models import Chat
from memoranda.conversations.generations import store as generations
from memoranda.storage import Transaction


def check_generation(tx: Transaction, chat: Chat) -> None:
    """Raise `OlderGeneration` where the chat's workflow was reset; whoever holds the chat knows that it isn't now."""
    present = generations.present(tx, chat.workflow_id)
    if chat.generation != present:
        raise ended_generation(chat, present)


def check_free(tx: Transaction, chat: Chat) -> None:
    """Raise `RunInProgress` while a run of the chat is live."""
    live = store.live_run(tx, chat.id)
    if live is not None:
        raise in_progress(live)


def check_revision(chat: Chat, expected: int) -> None:
    """Raise `RevisionConflict` where the chat is at another revision."""
    if chat.revision != expected:
        raise moved_since(chat)
