"""What makes a chat go on, each within one transaction: it is made, something is said, or another branch is taken."""

from typing import NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.store import check_subject
from memoranda.conversations.chats import store, tree
from memoranda.conversations.chats.branches import store as branches
from memoranda.conversations.chats.branches.moving import go, ways_of
from memoranda.conversations.chats.ending import changed
from memoranda.conversations.chats.errors import (
    not_editable,
    nothing_to_answer,
    sent_otherwise,
    taken_workflow,
    unknown_message,
)
from memoranda.conversations.chats.guarding import check_free, check_generation, check_revision
from memoranda.conversations.chats.live import recording
from memoranda.conversations.chats.models import Chat, ChatMessage, ChatRun, ChatRunStatus, Sent
from memoranda.conversations.chats.seeing import held_chat
from memoranda.conversations.generations import store as generations
from memoranda.conversations.models import Content, Conversation
from memoranda.runs.changes import started
from memoranda.runs.models import Run, RunStatus
from memoranda.storage import Transaction
from memoranda.words.errors import OverLimit
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject

MOST_MESSAGES = 10_000
"""Messages that a chat may have, on all of its branches together."""


class Seen(NamedTuple):
    """What a move goes by: the revision that was seen, and the bytes that a conversation may hold."""

    revision: int
    most: int


class Moved(NamedTuple):
    """What a move made, and the conversations that it changed."""

    sent: Sent
    conversations: list[Conversation]


def create(
    tx: Transaction, subject: ContextSubject, user_id: UUID, workflow_id: str, title: str | None
) -> Chat:
    """Make an empty chat for a workflow in which nothing was said yet. Raises `Conflict` for another."""
    check_subject(tx, user_id=user_id, agent_id=subject.agent_id)
    generations.lock(tx, workflow_id)
    generation = generations.present(tx, workflow_id)
    if store.of_workflow(tx, workflow_id) or store.is_spoken_in(tx, workflow_id, generation):
        raise taken_workflow(workflow_id)
    chat = Chat(
        id=new_id(),
        user_id=user_id,
        agent_id=subject.agent_id,
        workflow_id=workflow_id,
        generation=generation,
        title=title,
        active_leaf=None,
        revision=0,
        created_at=tx.now,
        updated_at=tx.now,
    )
    store.add(tx, chat)
    changed(tx, chat, "created")
    return chat


def send(
    tx: Transaction, who: Principal, chat_id: UUID, content: Content, client_message_id: str | None
) -> Sent:
    """Say something behind what is shown, and let a run wait that answers it; what was sent before is answered again."""
    chat = held_chat(tx, who, chat_id)
    if client_message_id is not None:
        before = store.sent_before(tx, chat.id, client_message_id)
        if before is not None:
            if before.content != content:
                raise sent_otherwise(before.id)
            return Sent(chat=chat, message=before, run=store.first_run_of(tx, before.id))
    check_generation(tx, chat)
    check_free(tx, chat)
    return _said(tx, chat, content, chat.active_leaf, client_message_id)


def edit(
    tx: Transaction,
    who: Principal,
    chat_id: UUID,
    message_id: UUID,
    content: Content,
    *,
    seen: Seen,
) -> Moved:
    """Say something else beside what was said, and leave all that came of that."""
    chat = _movable(tx, who, chat_id, seen.revision)
    ways = ways_of(tx, chat)
    edited = ways.places.get(message_id)
    if edited is None:
        raise unknown_message(message_id)
    answer = edited.role != "user"
    if answer or edited not in ways.shown:
        raise not_editable(message_id, answer=answer)
    moved = go(tx, chat, ways, ways.back_to(edited.parent_id), seen.most)
    return Moved(_said(tx, chat, content, edited.parent_id, None, action="edited"), moved)


def regenerate(tx: Transaction, who: Principal, chat_id: UUID, seen: Seen) -> Moved:
    """Let the latest message be answered again, beside the answer that it has."""
    chat = _movable(tx, who, chat_id, seen.revision)
    ways = ways_of(tx, chat)
    asked = next((place for place in reversed(ways.shown) if place.role == "user"), None)
    if asked is None:
        raise nothing_to_answer(chat)
    moved = go(tx, chat, ways, ways.back_to(asked.parent_id), seen.most)
    branches.drop(tx, [asked.id])  # nobody comes back to where the path goes on
    (message,) = store.messages(tx, [asked.id])
    now = _at(tx, chat, asked.id)
    return Moved(_begun(tx, now, message, action="regenerated"), moved)


def switch(
    tx: Transaction,
    who: Principal,
    chat_id: UUID,
    message_id: UUID,
    seen: Seen,
) -> tuple[Chat, list[Conversation]]:
    """Show the branch that begins with the message, up to the newest message of it."""
    chat = _movable(tx, who, chat_id, seen.revision)
    ways = ways_of(tx, chat)
    if message_id not in ways.places:
        raise unknown_message(message_id)
    leaf = tree.newest_leaf(ways.places, message_id)
    if leaf == ways.leaf:
        return chat, []
    moved = go(tx, chat, ways, ways.over_to(leaf), seen.most)
    now = _at(tx, chat, leaf)
    changed(tx, now, "switched")
    return now, moved


def _movable(tx: Transaction, who: Principal, chat_id: UUID, expected_revision: int) -> Chat:
    chat = held_chat(tx, who, chat_id)
    check_generation(tx, chat)
    check_revision(chat, expected_revision)
    check_free(tx, chat)
    return chat


def _said(
    tx: Transaction,
    chat: Chat,
    content: Content,
    parent_id: UUID | None,
    client_message_id: str | None,
    *,
    action: str = "sent",
) -> Sent:
    sequence = store.last_sequence(tx, chat.id) + 1
    if sequence > MOST_MESSAGES:
        raise OverLimit(
            f"A chat has at most {MOST_MESSAGES} messages: clear it, or begin another.",
            limit=MOST_MESSAGES,
        )
    message = ChatMessage(
        id=new_id(),
        chat_id=chat.id,
        parent_id=parent_id,
        sequence=sequence,
        role="user",
        content=content,
        client_message_id=client_message_id,
        run_id=None,
        state="complete",
        created_at=tx.now,
    )
    store.add_message(tx, message)
    return _begun(tx, _at(tx, chat, message.id, sequence=sequence), message, action=action)


def _at(tx: Transaction, chat: Chat, leaf: UUID, *, sequence: int | None = None) -> Chat:
    """The chat as it shows the path to that message."""
    now = chat.model_copy(
        update={"active_leaf": leaf, "revision": chat.revision + 1, "updated_at": tx.now}
    )
    store.change(tx, now, sequence=sequence)
    return now


def _begun(tx: Transaction, chat: Chat, message: ChatMessage, *, action: str) -> Sent:
    """Let a run wait to be picked up that answers the message."""
    run = ChatRun(
        id=new_id(),
        chat_id=chat.id,
        message_id=message.id,
        answer_id=None,
        revision=chat.revision,
        status=ChatRunStatus.QUEUED,
        reason=None,
        last_event=0,
        created_at=tx.now,
        picked_up_at=None,
        seen_at=tx.now,
        ended_at=None,
    )
    started(
        tx,
        Run(
            id=run.id,
            agent_id=chat.agent_id,
            user_id=chat.user_id,
            trigger_id=None,
            parent_id=None,
            status=RunStatus.RUNNING,
            input=None,
            created_at=tx.now,
            updated_at=tx.now,
            chat_id=chat.id,
        ),
    )
    store.add_run(tx, chat, run)
    last = recording.begun(tx, run.id)
    changed(tx, chat, action, run.id)
    return Sent(chat=chat, message=message, run=run.model_copy(update={"last_event": last}))
