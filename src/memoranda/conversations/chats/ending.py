"""What becomes of a run, within one transaction: its row here, that of `runs`, what is told of it, and its answer."""

from typing import Any, Final
from uuid import UUID

from memoranda.conversations.chats import store
from memoranda.conversations.chats.live import recording
from memoranda.conversations.chats.models import (
    Answered,
    Chat,
    ChatMessage,
    ChatRun,
    ChatRunStatus,
    MessageState,
)
from memoranda.conversations.chats.notes import store as notes
from memoranda.conversations.models import Content
from memoranda.runs.changes import become as run_becomes
from memoranda.runs.events.store import record_event
from memoranda.runs.models import RunStatus
from memoranda.storage import Transaction
from memoranda.words.ids import new_id

EVENT: Final = "chat.updated"
"""The type of the event that every change of a chat records."""

_AMONG_RUNS: Final = {
    ChatRunStatus.QUEUED: RunStatus.RUNNING,
    ChatRunStatus.RUNNING: RunStatus.RUNNING,
    ChatRunStatus.STOPPING: RunStatus.RUNNING,
    ChatRunStatus.WAITING: RunStatus.WAITING,
    ChatRunStatus.COMPLETED: RunStatus.COMPLETED,
    ChatRunStatus.STOPPED: RunStatus.CANCELLED,
    ChatRunStatus.FAILED: RunStatus.FAILED,
}
"""What the run is among `runs`, which know neither a queue nor that somebody is stopping."""


def become(
    tx: Transaction,
    run: ChatRun,
    status: ChatRunStatus,
    *,
    reason: str | None = None,
    by: str | None = None,
    **more: Any,
) -> ChatRun:
    """Let a held run stand so, here and among `runs`, and tell those who follow it, and `by` whom it was picked up.

    It ends with `finish`.
    """
    now = run.model_copy(update={"status": status, "reason": reason, "seen_at": tx.now, **more})
    store.set_status(tx, now)
    if _AMONG_RUNS[status] is not _AMONG_RUNS[run.status]:
        run_becomes(tx, run.id, _AMONG_RUNS[status], reason=reason)
    last = recording.told_status(tx, run.id, status, reason, by=by)
    return now.model_copy(update={"last_event": last})


def finish(
    tx: Transaction,
    chat: Chat,
    run: ChatRun,
    status: ChatRunStatus,
    *,
    reason: str | None = None,
    answer: Content | None = None,
    state: MessageState = "complete",
) -> Answered:
    """End a held run; with an `answer` the path goes on to that, and what it was told is told.

    Without one the path stays as it is, and its notes wait again.
    """
    said = None if answer is None else _say(tx, chat, run, answer, state)
    if said is None:
        notes.unclaim(tx, run)
    else:
        notes.told(tx, run)
        recording.told_message(tx, run.id, said)
        chat = chat.model_copy(
            update={"active_leaf": said.id, "revision": chat.revision + 1, "updated_at": tx.now}
        )
        store.change(tx, chat, sequence=said.sequence)
    ended = become(
        tx, run, status, reason=reason, ended_at=tx.now, answer_id=None if said is None else said.id
    )
    changed(tx, chat, status.value, run.id)
    return Answered(chat=chat, run=ended, answer=said)


def changed(tx: Transaction, chat: Chat, action: str, run_id: UUID | None = None) -> None:
    """Record the event. Late: until the commit nobody else of the organization records one."""
    named = {} if run_id is None else {"run_id": str(run_id)}
    record_event(
        tx,
        EVENT,
        user_id=chat.user_id,
        agent_id=chat.agent_id,
        chat_id=str(chat.id),
        revision=chat.revision,
        action=action,
        **named,
    )


def _say(
    tx: Transaction, chat: Chat, run: ChatRun, content: Content, state: MessageState
) -> ChatMessage:
    said = ChatMessage(
        id=new_id(),
        chat_id=chat.id,
        parent_id=run.message_id,
        sequence=store.last_sequence(tx, chat.id) + 1,
        role="assistant",
        content=content,
        client_message_id=None,
        run_id=run.id,
        state=state,
        created_at=tx.now,
    )
    store.add_message(tx, said)
    return said
