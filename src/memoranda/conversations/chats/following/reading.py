"""What is read of a run within one transaction: its state, and the events after one."""

from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.chats.live import store
from memoranda.conversations.chats.live.models import RunEvents, RunSnapshot
from memoranda.conversations.chats.seeing import seen_run
from memoranda.storage import Transaction


def snapshot(tx: Transaction, who: Principal, run_id: UUID) -> RunSnapshot:
    """The run's state up to its newest event. Raises `NotFound`."""
    return _snapshot(tx, run_id, _head(tx, who, run_id))


def events(tx: Transaction, who: Principal, run_id: UUID, after: int, most: int) -> RunEvents:
    """At most so many events after that number, behind a snapshot where some of them are gone. Raises `NotFound`."""
    there = _head(tx, who, run_id)
    found = store.after(tx, run_id, after, most) if 0 <= after < there.last else []
    whole = found[0].sequence == after + 1 if found else after == there.last
    return RunEvents(
        items=found if whole else [],
        last=there.last,
        status=there.status,
        snapshot=None if whole else _snapshot(tx, run_id, there),
    )


def _head(tx: Transaction, who: Principal, run_id: UUID) -> store.Head:
    seen_run(tx, who, run_id)
    there = store.head(tx, run_id)
    if there is None:
        raise AssertionError("a run that is seen is there")
    return there


def _snapshot(tx: Transaction, run_id: UUID, there: store.Head) -> RunSnapshot:
    state = store.state_of(tx, run_id, there)
    return RunSnapshot(**dict(state), run_id=run_id, chat_id=there.chat_id)
