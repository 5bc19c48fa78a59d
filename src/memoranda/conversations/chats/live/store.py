"""The SQL of runs that are followed: their numbered events, and the state that is folded from them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.conversations.chats.live.folding import folded
from memoranda.conversations.chats.live.models import RunEvent, RunState
from memoranda.conversations.chats.live.patience import Standing
from memoranda.conversations.chats.live.telling import NewRow
from memoranda.conversations.chats.models import ChatRunStatus
from memoranda.storage import Row, Transaction, one_of, upsert
from memoranda.storage.tables import chat_run_events, chat_run_states, chat_runs

FOLDED_EVERY: Final = 200
"""Events after which the state is folded anew at the earliest, so that nobody folds many more than these."""
FOLDED_SHARE: Final = 20
"""Of a long run, the state is folded anew after a twentieth more events: it grows, and no event is to cost more for that."""

_HEAD_COLUMNS = [
    chat_runs.c[name] for name in ("chat_id", "status", "last_event", "event_bytes", "folded_upto")
]
HEAD = select(*_HEAD_COLUMNS).where(chat_runs.c.id == bindparam("run"))
# Whoever only tells of a run holds the run alone, and not its chat.
HOLD = HEAD.with_for_update()
INSERT = insert(chat_run_events)
GO_ON = (
    update(chat_runs)
    .where(chat_runs.c.id == bindparam("run"))
    .values(last_event=bindparam("new_last"), event_bytes=bindparam("new_bytes"))
)
FOLD = (
    update(chat_runs)
    .where(chat_runs.c.id == bindparam("run"))
    .values(folded_upto=bindparam("new_upto"))
)
STATE = select(chat_run_states.c.state).where(chat_run_states.c.run_id == bindparam("run"))
KEEP_STATE = upsert(chat_run_states, ["organization_id", "run_id"], set_=["state"])
AFTER = (
    select(*(chat_run_events.c[name] for name in RunEvent.model_fields))
    .where(
        chat_run_events.c.run_id == bindparam("run"),
        chat_run_events.c.sequence > bindparam("after"),
    )
    .order_by(chat_run_events.c.sequence)
    .limit(bindparam("most"))
)
TOLD_LONG_AGO = (
    select(chat_run_events.c.run_id)
    .select_from(chat_run_events.join(chat_runs, chat_runs.c.id == chat_run_events.c.run_id))
    .where(
        chat_run_events.c.created_at < bindparam("before"),
        chat_runs.c.ended_at < bindparam("before"),
    )
    .order_by(chat_run_events.c.created_at)
    .limit(bindparam("most"))
)
FORGET = delete(chat_run_events).where(one_of(chat_run_events.c.run_id, "runs"))
LIVE = (
    select(chat_runs.c.id, chat_runs.c.status, chat_runs.c.seen_at)
    .where(chat_runs.c.ended_at.is_(None))
    .order_by(chat_runs.c.seen_at)
)


class Head(NamedTuple):
    """How far a run's events go, and up to which one its state was folded last."""

    chat_id: UUID
    status: ChatRunStatus
    last: int
    bytes: int
    upto: int

    @property
    def is_far_behind(self) -> bool:
        """Whether so much was told since that whoever wants the state would have much to fold."""
        return self.last - self.upto >= max(FOLDED_EVERY, self.upto // FOLDED_SHARE)


def head(tx: Transaction, run_id: UUID, *, hold: bool = False) -> Head | None:
    """How far the events of a run go; with `hold`, nobody else changes the run in this transaction."""
    row = tx.one(HOLD if hold else HEAD, run=run_id)
    return None if row is None else _head(row)


def append(tx: Transaction, run_id: UUID, there: Head, new: Sequence[NewRow]) -> Head:
    """Number events on from where the run's go, and keep them; the caller holds the run.

    The state is folded anew where there are many events since.
    """
    rows = [
        {
            "run_id": run_id,
            "sequence": number,
            "type": each.type,
            "data": each.written,
            "created_at": tx.now,
        }
        for number, each in enumerate(new, there.last + 1)
    ]
    tx.send_many(INSERT, rows)
    longer = there._replace(
        last=there.last + len(new),
        bytes=there.bytes + sum(len(each.written.encode()) for each in new),
    )
    tx.send(GO_ON, run=run_id, new_last=longer.last, new_bytes=longer.bytes)
    return fold(tx, run_id, longer) if longer.is_far_behind else longer


def fold(tx: Transaction, run_id: UUID, there: Head) -> Head:
    """Fold the state up to the newest event, and keep it."""
    if there.upto == there.last:
        return there
    state = state_of(tx, run_id, there)
    tx.send(KEEP_STATE, run_id=run_id, state=state.model_dump_json())
    tx.send(FOLD, run=run_id, new_upto=state.sequence)
    return there._replace(upto=state.sequence)


def state_of(tx: Transaction, run_id: UUID, there: Head) -> RunState:
    """The state up to the newest event."""
    kept = tx.one(STATE, run=run_id) if there.upto else None
    state = RunState() if kept is None else RunState.model_validate_json(kept.state)
    if state.sequence == there.last:
        return state
    return folded(state, after(tx, run_id, state.sequence, there.last - state.sequence))


def after(tx: Transaction, run_id: UUID, sequence: int, most: int) -> list[RunEvent]:
    """At most so many events after a number, in their order."""
    return [_event(row) for row in tx.all(AFTER, run=run_id, after=sequence, most=most)]


def prune(tx: Transaction, before: datetime, most: int) -> int:
    """Delete the events of some runs that ended before that time, whose states stay; how many runs."""
    runs = {row.run_id for row in tx.all(TOLD_LONG_AGO, before=before, most=most)}
    if runs:
        tx.send(FORGET, runs=sorted(runs))
    return len(runs)


def live(tx: Transaction) -> list[Standing]:
    """The runs that have not ended, the one first that was not heard of for the longest."""
    return [Standing(row.id, ChatRunStatus(row.status), row.seen_at) for row in tx.all(LIVE)]


def _head(row: Row) -> Head:
    status = ChatRunStatus(row.status)
    return Head(row.chat_id, status, row.last_event, row.event_bytes, row.folded_upto)


def _event(row: Row) -> RunEvent:
    return RunEvent.model_validate({**row._asdict(), "data": json.loads(row.data)})
