"""What changes a run that goes on, each within one transaction: its events, a stop, and the end that nobody else brings."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.chats import store as chats
from memoranda.conversations.chats.ending import become, finish
from memoranda.conversations.chats.errors import not_now, unknown_chat_run
from memoranda.conversations.chats.live import recording, store
from memoranda.conversations.chats.live.folding import partial_answer
from memoranda.conversations.chats.live.models import Heard
from memoranda.conversations.chats.live.patience import Patience, Standing, ending_of
from memoranda.conversations.chats.live.telling import NewRow, check_room, same
from memoranda.conversations.chats.models import ChatRun, ChatRunStatus
from memoranda.conversations.chats.seeing import held_run, seen_run
from memoranda.storage import Transaction
from memoranda.words.errors import Conflict

STOPPED = "It was stopped before anything picked it up."


def emit(
    tx: Transaction, who: Principal, run_id: UUID, new: Sequence[NewRow], after: int | None
) -> Heard:
    """Keep these events of the run, and that it was heard of."""
    run = seen_run(tx, who, run_id)
    there = store.head(tx, run_id, hold=True)
    if there is None:  # it went meanwhile
        raise unknown_chat_run(run_id)
    run = run.model_copy(update={"status": there.status})
    if new and after is not None and after != there.last:
        if not _told_already(tx, run_id, new, after):
            raise Conflict(
                f"The run has told {there.last} events, and not {after}: go on from there.",
                run_id=str(run_id),
                sequence=there.last,
            )
        return _heard(run, there.last)
    if new:
        _check_running(run)
        check_room(there.last, there.bytes, new)
        there = store.append(tx, run_id, there, new)
    if run.status in {ChatRunStatus.RUNNING, ChatRunStatus.WAITING}:
        chats.see(tx, run_id)
    return _heard(run, there.last)


def stop(tx: Transaction, who: Principal, run_id: UUID) -> ChatRun:
    """Let the run end: at once where nothing picked it up, else as soon as its host does."""
    chat, run = held_run(tx, who, run_id)
    match run.status:
        case ChatRunStatus.QUEUED:
            return finish(tx, chat, run, ChatRunStatus.STOPPED, reason=STOPPED).run
        case ChatRunStatus.RUNNING | ChatRunStatus.WAITING:
            return become(tx, run, ChatRunStatus.STOPPING)
        case _:
            return run


def end_overdue(tx: Transaction, run_id: UUID, patience: Patience) -> bool:
    """End the run if nobody will finish it, and keep how far it had come; whether it was ended."""
    held = chats.hold_run(tx, run_id)
    if held is None:
        return False
    chat, run = held
    standing = Standing(run.id, run.status, run.seen_at)
    ending = ending_of(standing, tx.now, patience) if run.status.live else None
    if ending is None:
        return False
    partial = partial_answer(recording.state_of(tx, run_id))
    finish(
        tx,
        chat,
        run,
        ending.status,
        reason=ending.reason,
        answer=partial or None,
        state="stopped" if ending.status is ChatRunStatus.STOPPED else "failed",
    )
    return True


def _told_already(tx: Transaction, run_id: UUID, new: Sequence[NewRow], after: int) -> bool:
    return same(store.after(tx, run_id, after, len(new)), new)


def _check_running(run: ChatRun) -> None:
    if run.status is ChatRunStatus.QUEUED or not run.status.live:
        raise not_now(run, "pick it up before you tell of it.")


def _heard(run: ChatRun, last: int) -> Heard:
    stop = run.status is ChatRunStatus.STOPPING or not run.status.live
    return Heard(run_id=run.id, sequence=last, status=run.status, stop=stop)
