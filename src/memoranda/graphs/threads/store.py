"""The SQL of threads: which there are, what each holds without its bodies, and a body piece by piece."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Integer, LargeBinary, and_, bindparam, func, or_, select

from memoranda.access.reach import NOBODY, Reach
from memoranda.graphs.checkpoints.models import At
from memoranda.graphs.threads.models import CheckpointSummary, GraphThread
from memoranda.storage import Row, Transaction, one_of_pairs
from memoranda.storage.tables import (
    graph_channels,
    graph_checkpoints,
    graph_holders,
    graph_writes,
)

c, k, w, h = graph_checkpoints.c, graph_channels.c, graph_writes.c, graph_holders.c
AT_ONCE: Final = 100
"""Holders whose threads are looked for together."""
_WHOLE: Final = (graph_checkpoints, graph_channels, graph_writes)
_HELD: Final = (
    h.for_user >= bindparam("first_user"),
    h.for_user <= bindparam("last_user"),
    h.for_agent >= bindparam("first_agent"),
    h.for_agent <= bindparam("last_agent"),
)
HOLDERS: Final = (
    select(h.id).where(*_HELD, h.id >= bindparam("first")).order_by(h.id).limit(bindparam("most"))
)
# A thread is there for any row of it: what tasks wrote may come before the first checkpoint. One is looked for
# at a time, since each has many rows and the next one is at hand.
NEXT: Final = tuple(
    select(each.c.thread_id)
    .where(each.c.holder_id == bindparam("holder"), each.c.thread_id > bindparam("after"))
    .order_by(each.c.thread_id)
    .limit(1)
    for each in _WHOLE
)
COUNT: Final = (
    select(func.count())
    .select_from(graph_checkpoints)
    .join(graph_holders, h.id == c.holder_id)
    .where(*_HELD)
)
HOLDER: Final = select(h.user_id, h.agent_id).where(h.id == bindparam("holder"))
_THREAD: Final = (c.holder_id == bindparam("holder"), c.thread_id == bindparam("thread"))
_CHANNELS: Final = (k.holder_id == bindparam("holder"), k.thread_id == bindparam("thread"))
_WRITES: Final = (w.holder_id == bindparam("holder"), w.thread_id == bindparam("thread"))
_STATE: Final = func.length(c.body)
_METADATA: Final = func.length(c.metadata)
SPAN: Final = select(
    func.count().label("checkpoints"),
    func.coalesce(func.sum(_STATE + _METADATA), 0).label("bytes"),
    func.min(c.created_at).label("first_at"),
    func.max(c.created_at).label("last_at"),
).where(*_THREAD)
CHANNEL_BYTES: Final = select(func.coalesce(func.sum(func.length(k.body)), 0)).where(*_CHANNELS)
WRITTEN_BYTES: Final = select(func.coalesce(func.sum(func.length(w.body)), 0)).where(*_WRITES)
_SUMMARY: Final = select(
    c.namespace,
    c.checkpoint_id,
    c.parent_id,
    c.run_id,
    c.channels,
    c.kind,
    c.metadata_kind,
    _STATE.label("state_bytes"),
    _METADATA.label("metadata_bytes"),
    c.created_at,
).where(*_THREAD)
CHECKPOINTS: Final = (
    _SUMMARY.where(
        or_(
            c.checkpoint_id < bindparam("before"),
            and_(c.checkpoint_id == bindparam("before"), c.namespace > bindparam("after_space")),
        )
    )
    .order_by(c.checkpoint_id.desc(), c.namespace)
    .limit(bindparam("most"))
)
_IN_NAMESPACE: Final = _SUMMARY.where(c.namespace == bindparam("space"))
CHECKPOINT: Final = _IN_NAMESPACE.where(c.checkpoint_id == bindparam("checkpoint"))
LATEST: Final = _IN_NAMESPACE.order_by(c.checkpoint_id.desc()).limit(1)
_HAD: Final = select(
    k.namespace, k.channel, k.version, k.kind, func.length(k.body).label("bytes")
).where(*_CHANNELS)
_WROTE: Final = select(
    w.namespace,
    w.checkpoint_id,
    w.task_id,
    w.number,
    w.channel,
    w.kind,
    func.length(w.body).label("bytes"),
).where(*_WRITES)
HAD: Final = _HAD.where(
    k.namespace == bindparam("space"), one_of_pairs(k.channel, k.version, "pairs")
).order_by(k.channel)
WROTE: Final = _WROTE.where(
    w.namespace == bindparam("space"), w.checkpoint_id == bindparam("checkpoint")
).order_by(w.task_path, w.task_id, w.number)
ALL: Final = _SUMMARY.order_by(c.namespace, c.checkpoint_id)
ALL_HAD: Final = _HAD.order_by(k.namespace, k.channel, k.version)
ALL_WROTE: Final = _WROTE.order_by(w.namespace, w.checkpoint_id, w.task_id, w.number)


def _piece(column: Any) -> Any:
    begin, size = bindparam("begin", type_=Integer), bindparam("size", type_=Integer)
    return func.substr(column, begin, size, type_=LargeBinary)


_THE_CHECKPOINT: Final = (
    *_THREAD,
    c.namespace == bindparam("space"),
    c.checkpoint_id == bindparam("checkpoint"),
)
STATE: Final = select(_piece(c.body)).where(*_THE_CHECKPOINT)
METADATA: Final = select(_piece(c.metadata)).where(*_THE_CHECKPOINT)
VALUE: Final = select(_piece(k.body)).where(
    *_CHANNELS,
    k.namespace == bindparam("space"),
    k.channel == bindparam("named"),
    k.version == bindparam("at_version"),
)
WRITE: Final = select(_piece(w.body)).where(
    *_WRITES,
    w.namespace == bindparam("space"),
    w.checkpoint_id == bindparam("checkpoint"),
    w.task_id == bindparam("task"),
    w.number == bindparam("place"),
)


class Place(NamedTuple):
    """A thread: whose, and its id."""

    holder_id: UUID
    thread_id: str


class Part(NamedTuple):
    """A serialized part of a thread: its name, what it is, its bytes, and how its body is asked for."""

    namespace: str
    name: str
    kind: str
    bytes: int
    statement: Any
    keys: dict[str, Any]


class Outline(NamedTuple):
    """A checkpoint, with the versions of its channels."""

    summary: CheckpointSummary
    channels: dict[str, str]
    row: Row


BEGINNING: Final = Place(NOBODY, "")


def names(tx: Transaction, reach: Reach, after: Place, most: int) -> list[Place]:
    """The threads within reach that come after that one, by holder and then by name."""
    found: list[Place] = []
    first = after.holder_id
    while holders := tx.all(HOLDERS, **reach._asdict(), first=first, most=AT_ONCE):
        for holder in holders:
            last = after.thread_id if holder.id == after.holder_id else ""
            while len(found) < most and (name := _next(tx, holder.id, last)) is not None:
                found.append(Place(holder.id, name))
                last = name
            if len(found) == most:
                return found
        first = UUID(int=holders[-1].id.int + 1)
    return found


def _next(tx: Transaction, holder_id: UUID, after: str) -> str | None:
    rows = [tx.one(each, holder=holder_id, after=after) for each in NEXT]
    return min((row.thread_id for row in rows if row is not None), default=None)


def count(tx: Transaction, reach: Reach) -> int:
    """How many checkpoints there are within reach."""
    row = tx.one(COUNT, **reach._asdict())
    return 0 if row is None else int(row[0])


def told(tx: Transaction, place: Place) -> GraphThread:
    """What is told of a thread."""
    at = {"holder": place.holder_id, "thread": place.thread_id}
    holder, span = tx.one(HOLDER, holder=place.holder_id), tx.one(SPAN, **at)
    more = [tx.one(each, **at) for each in (CHANNEL_BYTES, WRITTEN_BYTES)]
    if holder is None or span is None:
        raise AssertionError("a thread has a holder, and counts count")
    return GraphThread(
        thread_id=place.thread_id,
        user_id=holder.user_id,
        agent_id=holder.agent_id,
        checkpoints=span.checkpoints,
        bytes=int(span.bytes) + sum(int(row[0]) for row in more if row is not None),
        first_at=span.first_at,
        last_at=span.last_at,
    )


def checkpoints(
    tx: Transaction, place: Place, before: tuple[str, str], most: int
) -> list[CheckpointSummary]:
    """Checkpoints of a thread by their ids, the last first, from behind an id and namespace."""
    rows = tx.all(
        CHECKPOINTS,
        holder=place.holder_id,
        thread=place.thread_id,
        before=before[0],
        after_space=before[1],
        most=most,
    )
    return [_outline(row).summary for row in rows]


def outline(tx: Transaction, holder_id: UUID, at: At) -> Outline | None:
    """The checkpoint, or the latest of its namespace where it has no id."""
    asked = {"holder": holder_id, "thread": at.thread_id, "space": at.namespace}
    if at.checkpoint_id is None:
        row = tx.one(LATEST, **asked)
    else:
        row = tx.one(CHECKPOINT, checkpoint=at.checkpoint_id, **asked)
    return None if row is None else _outline(row)


def parts_of(tx: Transaction, place: Place, there: Outline) -> list[Part]:
    """What a checkpoint is made of, in one order."""
    at = {"holder": place.holder_id, "thread": place.thread_id, "space": there.row.namespace}
    pairs = list(there.channels.items())
    had = tx.all(HAD, pairs=pairs, **at) if pairs else []
    wrote = tx.all(WROTE, checkpoint=there.row.checkpoint_id, **at)
    return [*_own(place, there.row), *_values(place, had), *_writes(place, wrote)]


def all_parts(tx: Transaction, place: Place) -> Iterator[Part]:
    """All that a thread holds, each part once."""
    at = {"holder": place.holder_id, "thread": place.thread_id}
    for row in tx.all(ALL, **at):
        for each in _own(place, row):
            yield each._replace(name=f"{each.name}.{row.checkpoint_id}")
    for row in tx.all(ALL_HAD, **at):
        for each in _values(place, [row]):
            yield each._replace(name=f"{each.name}.{row.version}")
    for row in tx.all(ALL_WROTE, **at):
        for each in _writes(place, [row]):
            yield each._replace(name=f"{each.name}.{row.checkpoint_id}")


def body(tx: Transaction, part: Part, begin: int = 0, size: int | None = None) -> bytes | None:
    """A piece of a part's body, or all of it; None where the part is gone meanwhile."""
    row = tx.one(
        part.statement,
        begin=begin + 1,  # databases count from 1
        size=part.bytes if size is None else size,
        **part.keys,
    )
    return None if row is None else bytes(row[0] or b"")


def _own(place: Place, row: Row) -> list[Part]:
    keys = _keys(place, row.namespace, checkpoint=row.checkpoint_id)
    return [
        Part(row.namespace, "state", row.kind, row.state_bytes, STATE, keys),
        Part(row.namespace, "metadata", row.metadata_kind, row.metadata_bytes, METADATA, keys),
    ]


def _values(place: Place, rows: list[Row]) -> list[Part]:
    return [
        Part(
            row.namespace,
            f"values.{row.channel}",
            row.kind,
            row.bytes,
            VALUE,
            _keys(place, row.namespace, named=row.channel, at_version=row.version),
        )
        for row in rows
    ]


def _writes(place: Place, rows: list[Row]) -> list[Part]:
    return [
        Part(
            row.namespace,
            f"writes.{row.task_id}.{row.number}.{row.channel}",
            row.kind,
            row.bytes,
            WRITE,
            _keys(
                place,
                row.namespace,
                checkpoint=row.checkpoint_id,
                task=row.task_id,
                place=row.number,
            ),
        )
        for row in rows
    ]


def _keys(thread: Place, namespace: str, **more: Any) -> dict[str, Any]:
    return {
        "holder": thread.holder_id,
        "thread": thread.thread_id,
        "space": namespace,
        **more,
    }


def _outline(row: Row) -> Outline:
    channels = json.loads(row.channels)
    summary = CheckpointSummary(
        namespace=row.namespace,
        checkpoint_id=row.checkpoint_id,
        parent_id=row.parent_id,
        run_id=row.run_id,
        channels=len(channels),
        bytes=row.state_bytes + row.metadata_bytes,
        created_at=row.created_at,
    )
    return Outline(summary, channels, row)
