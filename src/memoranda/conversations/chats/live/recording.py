"""What the product itself tells of a run, within the transaction that makes it so."""

from typing import Any, Final
from uuid import UUID

from memoranda.conversations.chats.live import store
from memoranda.conversations.chats.live.folding import started_calls
from memoranda.conversations.chats.live.models import RunEventType, RunState
from memoranda.conversations.chats.live.telling import new_row
from memoranda.conversations.chats.models import ChatMessage, ChatRunStatus
from memoranda.storage import Transaction
from memoranda.storage.signals import CHAT_RUNS, signal

QUEUED: Final = 1
"""The number of the event that a run waits; the next one is that it was picked up, or has ended."""


def begun(tx: Transaction, run_id: UUID) -> int:
    """Tell that the run waits to be picked up, and let a worker watch over it from now on; the event's number."""
    last = told_status(tx, run_id, ChatRunStatus.QUEUED)
    signal(tx, CHAT_RUNS)
    return last


def told_status(
    tx: Transaction,
    run_id: UUID,
    status: ChatRunStatus,
    reason: str | None = None,
    *,
    by: str | None = None,
) -> int:
    """Tell how the run stands by now, and why; after its end, nothing more is told. The event's number.

    The state of a run that ended is folded for good, so that it outlives its events.
    """
    named = {} if by is None else {"picked_up_by": by}
    data = {"status": status, "reason": reason, **named}
    there = _told(tx, run_id, RunEventType.STATUS, data)
    if not status.live:
        store.fold(tx, run_id, there)
    return there.last


def picked_up_by(tx: Transaction, run_id: UUID) -> str | None:
    """What the host of a live run that was picked up calls itself, if it said so."""
    (event,) = store.after(tx, run_id, QUEUED, 1)
    named: str | None = event.data.get("picked_up_by")
    return named


def told_message(tx: Transaction, run_id: UUID, message: ChatMessage) -> None:
    """Tell the answer as the chat keeps it, before the status that ends the run."""
    _told(tx, run_id, RunEventType.MESSAGE, message.model_dump(mode="json"))


def state_of(tx: Transaction, run_id: UUID) -> RunState:
    """What the run's events came to so far."""
    return store.state_of(tx, run_id, _head(tx, run_id))


def started_calls_of(tx: Transaction, run_id: UUID) -> frozenset[str]:
    """The ids of the calls that the run's host said it had begun."""
    return started_calls(state_of(tx, run_id))


def _told(tx: Transaction, run_id: UUID, type: RunEventType, data: dict[str, Any]) -> store.Head:
    return store.append(tx, run_id, _head(tx, run_id), [new_row(type, data)])


def _head(tx: Transaction, run_id: UUID) -> store.Head:
    there = store.head(tx, run_id)
    if there is None:  # whoever tells something of a run holds it
        raise AssertionError(f"there is no run {run_id} to tell of")
    return there
