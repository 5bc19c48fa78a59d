"""The SQL of runs, their logs and activities."""

from collections.abc import Collection, Mapping
from datetime import datetime
from itertools import chain, combinations
from typing import Any, Final
from uuid import UUID

from sqlalchemy import bindparam, func, insert, or_, select, update

from memoranda.runs.models import Activity, LogLevel, Run, RunLog, RunStatus
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import activities, run_changes, run_logs, run_refs, runs
from memoranda.words.ids import new_id

_UPDATED_AT = func.coalesce(runs.c.updated_at, runs.c.created_at, type_=runs.c.created_at.type)
_STORED: Final = tuple(name for name in Run.model_fields if name != "whole")
_RUN_COLUMNS = [
    _UPDATED_AT.label(name) if name == "updated_at" else runs.c[name] for name in _STORED
]
_LOG_COLUMNS = [run_logs.c[name] for name in RunLog.model_fields]
_ACTIVITY_COLUMNS = [activities.c[name] for name in Activity.model_fields]

INSERT_RUN = insert(runs)
RUN = select(*_RUN_COLUMNS).where(runs.c.id == bindparam("run_id"))
# Whoever changes a run holds it: the next one waits, and then sees what has become of it.
HELD = RUN.with_for_update()
_CHANGES: Final = (
    *("status", "stage", "result", "waiting_reason"),
    *("failure_reason", "updated_at", "ended_at"),
)
CHANGE = (
    update(runs)
    .where(runs.c.id == bindparam("changed"))
    .values({name: bindparam(f"new_{name}", type_=runs.c[name].type) for name in _CHANGES})
)
LEFT = select(runs.c.id).where(one_of(runs.c.id, "ids"), runs.c.left_at.is_not(None))
LEFT_BY_THEN = LEFT.where(runs.c.left_at <= bindparam("then"))
INSERT_REF = insert(run_refs)
INSERT_CHANGE = insert(run_changes)
_WANTED: Final = {
    "status": runs.c.status == bindparam("in_status"),
    "agent": runs.c.agent_id == bindparam("agent"),
    "user": runs.c.user_id == bindparam("user"),
    "nobody": runs.c.user_id.is_(None),
    "parent": runs.c.parent_id == bindparam("parent"),
}
_PAGE = (
    select(*_RUN_COLUMNS)
    .where(runs.c.id < bindparam("before"))
    .order_by(runs.c.id.desc())
    .limit(bindparam("most"))
)
PAGES: Final = {
    frozenset(names): _PAGE.where(*(_WANTED[name] for name in names))
    for names in chain.from_iterable(combinations(_WANTED, size) for size in range(len(_WANTED)))
}
"""The list of runs under every set of what may be wanted of them."""
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
# What the agent did for nobody in particular, or for this user.
ACTIVITIES_OF_AGENT = (
    select(*_ACTIVITY_COLUMNS)
    .where(
        activities.c.agent_id == bindparam("agent"),
        or_(activities.c.user_id.is_(None), activities.c.user_id == bindparam("user")),
    )
    .order_by(activities.c.id.desc())
    .limit(bindparam("most"))
)
BEGINNING, END = UUID(int=0), UUID(int=2**128 - 1)


def add_run(tx: Transaction, run: Run) -> None:
    """Store a new run."""
    tx.send(INSERT_RUN, **{name: getattr(run, name) for name in _STORED})
    _record_change(tx, run)


def find_run(tx: Transaction, run_id: UUID, *, hold: bool = False) -> Run | None:
    """The run, if the organization has it; with `hold`, nobody else changes it in this transaction."""
    row = tx.one(HELD if hold else RUN, run_id=run_id)
    return None if row is None else _run(row)


def left(
    tx: Transaction, run_ids: Collection[UUID], then: datetime | None = None
) -> frozenset[UUID]:
    """Those of these runs whose answers are on a branch of their chat that was left, and with `then` was by that time.

    Of a branch that was come back to since, nobody knows any more that it was left then.
    """
    if then is None:
        return frozenset(row.id for row in tx.all(LEFT, ids=list(run_ids)))
    return frozenset(row.id for row in tx.all(LEFT_BY_THEN, ids=list(run_ids), then=then))


def change_run(tx: Transaction, run: Run) -> None:
    """Store what has become of a run that this transaction holds, and the rows that its result names."""
    result = run.result
    stored = dict(run) | {"result": result and result.model_dump(mode="json", exclude_none=True)}
    tx.send(CHANGE, changed=run.id, **{f"new_{name}": stored[name] for name in _CHANGES})
    if not run.status.ended:
        _record_change(tx, run)
    refs = [] if result is None else result.refs
    named = {"run_id": run.id, "created_at": run.created_at}
    tx.send_many(
        INSERT_REF,
        [
            {**named, "ordinal": place, "kind": ref.kind, "ref_id": ref.id}
            for place, ref in enumerate(refs)
        ],
    )


def _record_change(tx: Transaction, run: Run) -> None:
    """Keep that the run went on or waits, which the next change of its row takes away."""
    tx.send(
        INSERT_CHANGE,
        run_id=run.id,
        stage=run.stage,
        status=run.status,
        reason=run.waiting_reason,
        created_at=run.updated_at,
    )


def page(
    tx: Transaction,
    *,
    status: RunStatus | None,
    agent_id: UUID | None,
    user_id: UUID | None,
    parent_id: UUID | None,
    before: UUID | None,
    limit: int,
    alone: bool = False,
) -> list[Run]:
    """Runs newest first, from before the run `before`; `alone` are those of no user, where none is named."""
    wanted: Mapping[str, tuple[str, object]] = {
        "status": ("in_status", status),
        "agent": ("agent", agent_id),
        "user": ("user", user_id),
        "parent": ("parent", parent_id),
    }
    named = {name: pair for name, pair in wanted.items() if pair[1] is not None}
    names = {*named, "nobody"} if alone and user_id is None else set(named)
    rows = tx.all(PAGES[frozenset(names)], before=before or END, most=limit, **dict(named.values()))
    return [_run(row) for row in rows]


def _run(row: Row) -> Run:
    return Run.model_validate(row._asdict())


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


def activities_of_agent(
    tx: Transaction, agent_id: UUID, user_id: UUID | None, limit: int
) -> list[Activity]:
    """What the agent did, for this user or for none, the newest first."""
    rows = tx.all(ACTIVITIES_OF_AGENT, agent=agent_id, user=user_id, most=limit)
    return [Activity.model_validate(row._asdict()) for row in rows]
