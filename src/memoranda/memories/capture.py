"""What a run's log says of the memories that were written, or could not be, in its course."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import sees
from memoranda.runs import store as runs
from memoranda.runs.models import LogLevel
from memoranda.storage import Transaction

STEP: Final = "memory-capture"
STORED: Final = "stored"
DROPPED: Final = "dropped"


def note(
    tx: Transaction, who: Principal, run_id: UUID | None, outcome: str, /, **metadata: object
) -> None:
    """Add a line to the run's log, where there is such a run and the caller may know of it."""
    run = None if run_id is None else runs.find_run(tx, run_id)
    if run is None or not sees(who, user_id=run.user_id, agent_id=run.agent_id):
        return
    level = LogLevel.WARNING if outcome == DROPPED else LogLevel.INFO
    runs.add_log(tx, run.id, level, STEP, {"outcome": outcome, **metadata})
