"""Which change of a run is one that a run may make: pure, and the same for every caller."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from memoranda.runs.models import Run, RunResult, RunStatus
from memoranda.words.errors import Conflict

LEGAL: Final[Mapping[RunStatus, frozenset[RunStatus]]] = {
    RunStatus.RUNNING: frozenset(
        {RunStatus.WAITING, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED}
    ),
    RunStatus.WAITING: frozenset({RunStatus.RUNNING, RunStatus.FAILED, RunStatus.CANCELLED}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}
"""What each status may become. What has ended becomes nothing."""


def changed(
    run: Run,
    becomes: RunStatus,
    now: datetime,
    *,
    reason: str | None = None,
    result: RunResult | None = None,
) -> Run:
    """The run as it is after the change; `reason` is why it waits or failed.

    A run that goes on after a wait is in its next stage. Raises `Conflict`, which names the
    status that the run has, where the change is none that it may make.
    """
    if becomes not in LEGAL[run.status]:
        raise _illegal(run, becomes)
    return run.model_copy(
        update={
            "status": becomes,
            "stage": run.stage + (becomes is RunStatus.RUNNING),
            "result": result,
            "waiting_reason": reason if becomes is RunStatus.WAITING else None,
            "failure_reason": reason if becomes is RunStatus.FAILED else None,
            "updated_at": now,
            "ended_at": now if becomes.ended else None,
        }
    )


def _illegal(run: Run, becomes: RunStatus) -> Conflict:
    said = f"The run is {run.status} and can't become {becomes}"
    if run.status.ended:
        advice = "one that has ended never changes. Start another."
    elif run.status is becomes:
        advice = "it is that already."
    elif run.status is RunStatus.WAITING:
        advice = "resume it first."
    else:
        advice = "only one that waits can be resumed."
    return Conflict(f"{said}: {advice}", status=run.status.value, run_id=str(run.id))
