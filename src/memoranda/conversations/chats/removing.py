"""What takes a chat away, or all that is in it, each within one transaction: nothing of what was said is left in it."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations import writing
from memoranda.conversations.chats import store
from memoranda.conversations.chats.branches import lists
from memoranda.conversations.chats.branches import store as branches
from memoranda.conversations.chats.ending import changed, finish
from memoranda.conversations.chats.models import Chat, ChatRunStatus
from memoranda.conversations.chats.seeing import held_chat
from memoranda.conversations.generations import store as generations
from memoranda.conversations.models import Conversation, ConversationKey
from memoranda.conversations.rows import store as rows
from memoranda.conversations.store import find
from memoranda.conversations.writing import Place
from memoranda.runs.store import record_activity
from memoranda.storage import Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.words.subject import ContextSubject

Quoted: TypeAlias = Callable[[Transaction, list[UUID]], None]
"""Takes away what other rooms quote of conversations that are deleted for good, within that transaction."""

DELETION: Final = "chat_deleted"
CLEARED = "The chat was cleared."
DELETED = "The chat was deleted."
RESET = "The workflow was reset."


class Removed(NamedTuple):
    """The chat as it is or was, what became of conversations, and the live run that ended."""

    chat: Chat
    conversations: list[Conversation]
    run_id: UUID | None


def clear(tx: Transaction, who: Principal, chat_id: UUID) -> Removed:
    """Take away all that was said in a chat, and by its agents; it goes on in the present generation."""
    chat = held_chat(tx, who, chat_id)
    present = generations.present(tx, chat.workflow_id)
    emptied = _forget(tx, chat)
    run_id = _end(tx, chat, CLEARED)
    _bare(tx, chat)
    store.empty(tx, chat.id)
    now = chat.model_copy(
        update={
            "generation": present,
            "active_leaf": None,
            "revision": chat.revision + 1,
            "updated_at": tx.now,
        }
    )
    store.change(tx, now, sequence=0)
    changed(tx, now, "cleared")
    return Removed(now, emptied, run_id)


def delete(tx: Transaction, who: Principal, chat_id: UUID, quoted: Quoted) -> Removed:
    """Take away a chat, with its agents' conversations: no save that was begun before comes through."""
    chat = held_chat(tx, who, chat_id)
    ids = [each.id for each in _own(tx, chat)]
    gone = [there for each in ids for there in writing.purge(tx, _place(tx, None, each))]
    _forget(tx, chat)  # keys without a conversation have another fence too
    quoted(tx, ids)
    record_activity(tx, DELETION, chat.id, user_id=who.user_id, agent_id=who.agent_id)
    run_id = _drop(tx, chat)
    for each in gone:
        rows.changed(tx, each, "purged")
    return Removed(chat, gone, run_id)


def forget_user(tx: Transaction, user_id: UUID) -> int:
    """Delete the user's chats, and how many; opinions too. What its agents know goes with the user's conversations, afterwards."""
    asked = [store.hold(tx, each.id) for each in store.of_user(tx, user_id)]
    held = [chat for chat in asked if chat is not None]
    for chat in held:
        _drop(tx, chat)
    if store.forget_opinions(tx, user_id):
        signal(tx, SCRUB)
    return len(held)


def forget_workflow(tx: Transaction, workflow_id: str) -> None:
    """Delete the chat of a workflow whose conversations are deleted for good; the caller holds the workflow."""
    chat = store.of_workflow(tx, workflow_id)
    if chat is not None:
        _drop(tx, chat)


def hold_workflow_of(tx: Transaction, conversation_id: UUID | None) -> None:
    """Hold the workflow of a conversation, if it has one, before the conversation is."""
    there = None if conversation_id is None else find(tx, conversation_id)
    if there is not None and there.workflow_id is not None:
        generations.lock(tx, there.workflow_id)


def forget_chats_of(tx: Transaction, conversations: list[Conversation]) -> None:
    """Delete the chats that these conversations, which are deleted for good, are of; their workflows are held."""
    for each in conversations:
        chat = None if each.workflow_id is None else store.of_workflow(tx, each.workflow_id)
        if chat is not None and _is_of(each, chat):
            _drop(tx, chat)


def end_generation(tx: Transaction, workflow_id: str) -> None:
    """End the live run of a workflow that is reset, which has nothing to save to any more.

    The chat can still be read, and goes on once it is cleared. The caller holds the workflow.
    """
    chat = store.of_workflow(tx, workflow_id)
    if chat is not None:
        _end(tx, chat, RESET)
        branches.drop_all(tx, chat.id)


def _drop(tx: Transaction, chat: Chat) -> UUID | None:
    """Delete the chat's rows; its runs stay among `runs`, without a word. Answers the live one, which ended."""
    run_id = _end(tx, chat, DELETED)
    _bare(tx, chat)
    store.remove(tx, chat.id)
    changed(tx, chat, "deleted")
    signal(tx, SCRUB)
    return run_id


def _bare(tx: Transaction, chat: Chat) -> None:
    """Take the words that hosts gave as reasons from the chat's runs."""
    store.bare_runs(tx, [run.id for run in store.runs_of(tx, chat.id)])


def _end(tx: Transaction, chat: Chat, reason: str) -> UUID | None:
    live = store.live_run(tx, chat.id)
    if live is None:
        return None
    return finish(tx, chat, live, ChatRunStatus.STOPPED, reason=reason).run.id


def _forget(tx: Transaction, chat: Chat) -> list[Conversation]:
    """Clear what the chat's agents know, and let nothing come through that they began to save.

    A reset has done so for a generation that ended, and then it is the present one that is cleared.
    """
    now = chat.model_copy(update={"generation": generations.present(tx, chat.workflow_id)})
    agents = {each.agent_id for each in _own(tx, now)} | {*branches.agents(tx, chat.id)}
    strangers = {
        each.agent_id
        for each in generations.of_workflow(tx, chat.workflow_id)
        if each.generation == now.generation and each.user_id != chat.user_id
    }
    places = [_place(tx, lists.key_of(now, each), None) for each in agents - strangers]
    emptied = [writing.clear(tx, place) for place in places]
    return [each for each in emptied if each is not None]


def _own(tx: Transaction, chat: Chat) -> list[Conversation]:
    """The conversations of the chat's generation, and of later ones, that are its user's, held."""
    return [
        each
        for each in generations.of_workflow(tx, chat.workflow_id)
        if each.generation >= chat.generation and each.user_id == chat.user_id
    ]


def _is_of(conversation: Conversation, chat: Chat) -> bool:
    """Whether the conversation, of the chat's workflow, is what an agent of the chat knows."""
    return conversation.generation == chat.generation and conversation.user_id == chat.user_id


def _place(tx: Transaction, key: ConversationKey | None, id: UUID | None) -> Place:
    if not isinstance(tx.scope, UUID):
        raise TypeError("A chat is an organization's.")
    return Place(key, id, ContextSubject(organization_id=tx.scope), _everybody)


def _everybody(_: Conversation) -> bool:
    """Whoever may clear the chat clears what its agents know."""
    return True
