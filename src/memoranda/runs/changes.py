"""One change of a run within a transaction: the row, one activity and one event, or none of them."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import sees
from memoranda.runs import store
from memoranda.runs.events.store import record_event
from memoranda.runs.models import Run, RunResult, RunStatus
from memoranda.runs.telling import as_told, may_be_told
from memoranda.runs.transitions import changed
from memoranda.storage import Transaction
from memoranda.words.errors import Conflict, NotFound

EVENT: Final = "run.updated"
_STARTED: Final = "started"
_ACTIONS: Final[Mapping[RunStatus, str]] = {
    RunStatus.RUNNING: "resumed",
    RunStatus.WAITING: "waiting",
    RunStatus.COMPLETED: "completed",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "cancelled",
}
"""What is said to have happened where a run becomes this."""


def visible(tx: Transaction, who: Principal, run_id: UUID, *, hold: bool = False) -> Run:
    """The run that `who` may look into and change; another is answered like one that is not there."""
    run = store.find_run(tx, run_id, hold=hold)
    if run is None or not sees(who, user_id=run.user_id, agent_id=run.agent_id):
        raise unknown_run(run_id)
    return run


def told(tx: Transaction, who: Principal, run_id: UUID) -> Run:
    """The run, whole or as far as `who` may be told of it. Raises `NotFound` for any other."""
    run = store.find_run(tx, run_id)
    if run is None or not (
        sees(who, user_id=run.user_id, agent_id=run.agent_id) or may_be_told(who, run)
    ):
        raise unknown_run(run_id)
    return run if sees(who, user_id=run.user_id, agent_id=run.agent_id) else as_told(run)


def unknown_run(run_id: UUID) -> NotFound:
    """The refusal of a run that is not there, or not this caller's."""
    return NotFound(f"There is no run {run_id} that this key may look into.", run_id=str(run_id))


def started(tx: Transaction, run: Run) -> None:
    """Store a new run, and say so."""
    store.add_run(tx, run)
    _tell(tx, run, _STARTED)


def change(
    tx: Transaction,
    who: Principal,
    run_id: UUID,
    becomes: RunStatus,
    *,
    reason: str | None,
    result: RunResult | None,
) -> Run:
    """Let the run become this, and say so. Raises `NotFound`, and `Conflict` where it can't or a chat has it."""
    run = visible(tx, who, run_id, hold=True)
    if run.chat_id is not None:
        raise Conflict(
            "The run answers in a chat, which says what becomes of it: answer, fail or stop it there.",
            run_id=str(run.id),
            chat_id=str(run.chat_id),
        )
    return _become(tx, run, becomes, reason=reason, result=result)


def become(tx: Transaction, run_id: UUID, becomes: RunStatus, *, reason: str | None = None) -> Run:
    """Let the run of a chat become this, and say so; the chat has seen that it may."""
    run = store.find_run(tx, run_id, hold=True)
    if run is None:
        raise unknown_run(run_id)
    return _become(tx, run, becomes, reason=reason, result=None)


def _become(
    tx: Transaction, run: Run, becomes: RunStatus, *, reason: str | None, result: RunResult | None
) -> Run:
    now = changed(run, becomes, tx.now, reason=reason, result=result)
    store.change_run(tx, now)
    _tell(tx, now, _ACTIONS[becomes])
    return now


def _tell(tx: Transaction, run: Run, action: str) -> None:
    counts = {} if run.result is None else {"refs": len(run.result.refs)}
    store.record_activity(
        tx, f"run_{action}", run.id, run.user_id, run.agent_id, stage=run.stage, **counts
    )
    record_event(
        tx,
        EVENT,
        user_id=run.user_id,
        agent_id=run.agent_id,
        run_id=str(run.id),
        action=action,
        stage=run.stage,
    )
