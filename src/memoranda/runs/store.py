"""The SQL of runs, their logs and activities."""

from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, insert, select

from memoranda.runs.models import Activity, LogLevel, Run, RunLog
from memoranda.storage import Transaction
from memoranda.storage.tables import activities, run_logs, runs
from memoranda.words.ids import new_id

_RUN_COLUMNS = [runs.c[name] for name in Run.model_fields]
_LOG_COLUMNS = [run_logs.c[name] for name in RunLog.model_fields]
_ACTIVITY_COLUMNS = [activities.c[name] for name in Activity.model_fields]

INSERT_RUN = insert(runs)
RUN = select(*_RUN_COLUMNS).where(runs.c.id == bindparam("run_id"))
INSERT_LOG = insert(run_logs)
LOGS = (
    select(*_LOG_COLUMNS)
    .where(run_logs.c.run_id == bindparam("run"), run_logs.c.id > bindparam("after"))
    .order_by(run_logs.c.id)
    .limit(bindparam("most"))
)
INSERT_ACTIVITY = insert(activities)
ACTIVITIES = (
    select(*_ACTIVITY_COLUMNS)
    .where(activities.c.id < bindparam("before"))
    .order_by(activities.c.id.desc())
    .limit(bindparam("most"))
)
BEGINNING, END = UUID(int=0), UUID(int=2**128 - 1)


def add_run(tx: Transaction, run: Run) -> None:
    """Store a new run."""
    tx.send(INSERT_RUN, **dict(run))


def find_run(tx: Transaction, run_id: UUID) -> Run | None:
    """The run, if the organization has it."""
    row = tx.one(RUN, run_id=run_id)
    return None if row is None else Run.model_validate(row._asdict())


def add_log(
    tx: Transaction, run_id: UUID, level: LogLevel, step: str, metadata: dict[str, Any]
) -> RunLog:
    """Add a line to a run's log."""
    log = RunLog(
        id=new_id(), run_id=run_id, level=level, step=step, metadata=metadata, created_at=tx.now
    )
    tx.send(INSERT_LOG, **dict(log))
    return log


def logs(tx: Transaction, run_id: UUID, after: UUID | None, limit: int) -> list[RunLog]:
    """A run's log from its beginning, or from after the line `after`."""
    rows = tx.all(LOGS, run=run_id, after=after or BEGINNING, most=limit)
    return [RunLog.model_validate(row._asdict()) for row in rows]


def record_activity(
    tx: Transaction,
    type: str,
    subject_id: UUID | None = None,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    **metadata: Any,
) -> None:
    """Say, within the transaction that does it, what happens to which row and by whom.

    `metadata` is ids and counts, never text. The platform keeps no activity:
    in its scope nothing is recorded.
    """
    if not isinstance(tx.scope, UUID):
        return
    tx.send(
        INSERT_ACTIVITY,
        id=new_id(),
        type=type,
        subject_id=subject_id,
        user_id=user_id,
        agent_id=agent_id,
        metadata=metadata,
        created_at=tx.now,
    )


def activities_before(tx: Transaction, before: UUID | None, limit: int) -> list[Activity]:
    """Newest first, from before the activity `before`."""
    rows = tx.all(ACTIVITIES, before=before or END, most=limit)
    return [Activity.model_validate(row._asdict()) for row in rows]
