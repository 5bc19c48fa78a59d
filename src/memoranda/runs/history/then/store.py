"""The SQL of runs as they stood at a past time: what has become of one since is told by what was recorded of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, func, select

from memoranda.runs.history.store import NO_RUN, PastRun
from memoranda.runs.models import RunResult, RunStatus
from memoranda.storage import Row, Transaction, one_of, one_of_pairs
from memoranda.storage.tables import run_changes, run_refs, runs
from memoranda.words.errors import Gone
from memoranda.words.ref import ResourceRef

_CHANGED_AT: Final = func.coalesce(
    runs.c.updated_at, runs.c.created_at, type_=runs.c.created_at.type
)
_RUNS: Final = (
    select(
        *(runs.c.id, runs.c.parent_id, runs.c.status, runs.c.result, runs.c.created_at),
        *(runs.c.waiting_reason, runs.c.failure_reason, _CHANGED_AT.label("changed_at")),
    )
    .where(
        runs.c.created_at >= bindparam("since"),
        runs.c.created_at <= bindparam("then"),
        runs.c.id != bindparam("but"),
    )
    .order_by(runs.c.created_at.desc(), runs.c.id.desc())
    .limit(bindparam("most"))
)
OF_USER: Final = _RUNS.where(runs.c.user_id == bindparam("user"))
OF_TRIGGER: Final = _RUNS.where(runs.c.trigger_id == bindparam("trigger"))
# A result names its rows from the end of its run on.
_NAMING: Final = select(run_refs.c.run_id).where(
    one_of_pairs(run_refs.c.kind, run_refs.c.ref_id, "rows"),
    run_refs.c.created_at >= bindparam("since"),
)
ABOUT: Final = _RUNS.where(runs.c.ended_at <= bindparam("then"), runs.c.id.in_(_NAMING))

CHANGES: Final = select(
    run_changes.c.run_id, run_changes.c.stage, run_changes.c.status, run_changes.c.reason
).where(one_of(run_changes.c.run_id, "ids"), run_changes.c.created_at <= bindparam("then"))


class _Stood(NamedTuple):
    """What a run had become last by then."""

    stage: int
    waits: bool
    reason: str | None


def earlier(
    tx: Transaction,
    *,
    user_id: UUID | None,
    trigger_id: UUID | None,
    entities: Sequence[ResourceRef],
    since: datetime,
    then: datetime,
    but: UUID | None,
    limit: int,
) -> list[PastRun]:
    """What looking back at that time would have found: as `history.store.earlier`, of that time.

    Raises `Gone` where nothing was recorded of how a run stood.
    """
    window: dict[str, Any] = {"since": since, "then": then, "but": but or NO_RUN, "most": limit}
    rows: list[Row] = []
    if user_id is not None:
        rows += tx.all(OF_USER, user=user_id, **window)
    if trigger_id is not None:
        rows += tx.all(OF_TRIGGER, trigger=trigger_id, **window)
    if entities:
        pairs = [(ref.kind, ref.id) for ref in dict.fromkeys(entities)]
        rows += tx.all(ABOUT, rows=pairs, **window)
    found = {row.id: row for row in rows}
    newest = sorted(found.values(), key=lambda row: (row.created_at, row.id), reverse=True)
    return _as_they_stood(tx, newest[:limit], then)


def _as_they_stood(tx: Transaction, rows: Sequence[Row], then: datetime) -> list[PastRun]:
    changed = [row.id for row in rows if row.changed_at > then]
    stood: dict[UUID, _Stood] = {}
    for row in tx.all(CHANGES, ids=changed, then=then) if changed else []:
        became = _Stood(row.stage, row.status == RunStatus.WAITING, row.reason)
        # A stage begins before it waits, also where both bear one time.
        stood[row.run_id] = max(stood.get(row.run_id, became), became, key=lambda each: each[:2])
    return [_run(row) if row.changed_at <= then else _before(row, stood) for row in rows]


def _run(row: Row) -> PastRun:
    values = row._asdict()
    del values["changed_at"]
    values["status"] = RunStatus(row.status)
    values["result"] = None if row.result is None else RunResult.model_validate(row.result)
    return PastRun(**values)


def _before(row: Row, stood: Mapping[UUID, _Stood]) -> PastRun:
    """The run as it stood before its row was changed, when there was neither a result nor a failure."""
    became = stood.get(row.id)
    if became is None:
        raise Gone(
            "How an earlier run stood then was not recorded, and it has changed since.",
            run_id=str(row.id),
        )
    status = RunStatus.WAITING if became.waits else RunStatus.RUNNING
    return PastRun(row.id, row.parent_id, status, None, row.created_at, became.reason, None)
