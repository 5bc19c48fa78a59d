"""The SQL of runs looked back at: each way of finding one is a read of its own index."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, select

from memoranda.runs.models import RunResult, RunStatus
from memoranda.runs.result import MOST_REFS
from memoranda.storage import Row, Transaction, one_of, one_of_pairs
from memoranda.storage.tables import run_refs, runs
from memoranda.words.ref import ResourceRef

_PAST: Final = select(
    *(runs.c.id, runs.c.parent_id, runs.c.status, runs.c.result, runs.c.created_at),
    *(runs.c.waiting_reason, runs.c.failure_reason),
)
_EARLIER: Final = (
    _PAST.where(runs.c.created_at >= bindparam("since"), runs.c.id != bindparam("but"))
    .order_by(runs.c.created_at.desc(), runs.c.id.desc())
    .limit(bindparam("most"))
)
OF_USER: Final = _EARLIER.where(runs.c.user_id == bindparam("user"))
OF_TRIGGER: Final = _EARLIER.where(runs.c.trigger_id == bindparam("trigger"))
_ABOUT: Final = (
    select(run_refs.c.run_id, run_refs.c.created_at)
    .where(run_refs.c.created_at >= bindparam("since"), run_refs.c.run_id != bindparam("but"))
    .order_by(run_refs.c.created_at.desc(), run_refs.c.run_id.desc())
    .limit(bindparam("most"))
)
ABOUT: Final = _ABOUT.where(
    run_refs.c.kind == bindparam("of_kind"), one_of(run_refs.c.ref_id, "ids")
)
# For more kinds than anybody has: one statement, which a planner may take for a large one.
ABOUT_MANY: Final = _ABOUT.where(one_of_pairs(run_refs.c.kind, run_refs.c.ref_id, "rows"))
MOST_KINDS: Final = 16
THESE: Final = _PAST.where(one_of(runs.c.id, "ids"))
NO_RUN: Final = UUID(int=0)


class PastRun(NamedTuple):
    """What is looked back at of a run, and nothing else of it."""

    id: UUID
    parent_id: UUID | None
    status: RunStatus
    result: RunResult | None
    created_at: datetime
    waiting_reason: str | None
    failure_reason: str | None


def earlier(
    tx: Transaction,
    *,
    user_id: UUID | None,
    trigger_id: UUID | None,
    entities: Sequence[ResourceRef],
    since: datetime,
    but: UUID | None,
    limit: int,
) -> list[PastRun]:
    """The newest runs of that user or trigger, or whose result names one of the entities."""
    window = {"since": since, "but": but or NO_RUN, "most": limit}
    rows: list[Row] = []
    if user_id is not None:
        rows += tx.all(OF_USER, user=user_id, **window)
    if trigger_id is not None:
        rows += tx.all(OF_TRIGGER, trigger=trigger_id, **window)
    if entities:
        rows += _about(tx, entities, window)
    found = {row.id: _past(row) for row in rows}
    return sorted(found.values(), key=_age, reverse=True)[:limit]


def _about(
    tx: Transaction, entities: Sequence[ResourceRef], window: Mapping[str, Any]
) -> list[Row]:
    by_kind: dict[str, list[str]] = {}
    for ref in dict.fromkeys(entities):
        by_kind.setdefault(ref.kind, []).append(ref.id)
    # A run is found once for each of its rows that is asked for, and has no more than so many.
    most = window["most"] * min(sum(map(len, by_kind.values())), MOST_REFS)
    asked = {**window, "most": most}
    found: list[Row] = []
    if len(by_kind) <= MOST_KINDS:
        for kind, ids in by_kind.items():
            found += tx.all(ABOUT, of_kind=kind, ids=ids, **asked)
    else:
        pairs = [(kind, each) for kind, ids in by_kind.items() for each in ids]
        found = tx.all(ABOUT_MANY, rows=pairs, **asked)
    newest = sorted({(row.created_at, row.run_id) for row in found}, reverse=True)
    return tx.all(THESE, ids=[run_id for _, run_id in newest[: window["most"]]])


def _age(run: PastRun) -> tuple[datetime, UUID]:
    return run.created_at, run.id


def _past(row: Row) -> PastRun:
    result = None if row.result is None else RunResult.model_validate(row.result)
    values = row._asdict() | {"status": RunStatus(row.status), "result": result}
    return PastRun(**values)
