"""The SQL of checkpoints: kept with their channels and writes, read newest first, copied and deleted."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, or_, select, update

from memoranda.graphs.checkpoints.models import (
    At,
    KeptCheckpoint,
    KeptWrite,
    NewCheckpoint,
    Part,
    Write,
)
from memoranda.storage import (
    Row,
    Transaction,
    insert_or_ignore,
    one_of,
    one_of_pairs,
    upsert,
)
from memoranda.storage.tables import graph_channels, graph_checkpoints, graph_writes

c, k, w = graph_checkpoints.c, graph_channels.c, graph_writes.c
_SHOWN: Final = (
    c.thread_id,
    c.namespace,
    c.checkpoint_id,
    c.parent_id,
    c.channels,
    c.kind,
    c.body,
    c.metadata_kind,
    c.metadata,
)
_MINE: Final = c.holder_id == bindparam("holder")
_THREAD: Final = (_MINE, c.thread_id == bindparam("thread"))
_PLACE: Final = (*_THREAD, c.namespace == bindparam("space"))
_CHANNELS: Final = (
    k.holder_id == bindparam("holder"),
    k.thread_id == bindparam("thread"),
    k.namespace == bindparam("space"),
)
_WRITES: Final = (
    w.holder_id == bindparam("holder"),
    w.thread_id == bindparam("thread"),
    w.namespace == bindparam("space"),
)

KEEP: Final = upsert(
    graph_checkpoints,
    ["organization_id", "holder_id", "thread_id", "namespace", "checkpoint_id"],
    set_=[
        "parent_id",
        "run_id",
        "channels",
        "partial",
        "kind",
        "body",
        "metadata_kind",
        "metadata",
    ],
)
KEEP_CHANNEL: Final = insert_or_ignore(graph_channels)
WRITE_ONCE: Final = insert_or_ignore(graph_writes)
WRITE_OVER: Final = upsert(
    graph_writes,
    [
        "organization_id",
        "holder_id",
        "thread_id",
        "namespace",
        "checkpoint_id",
        "task_id",
        "number",
    ],
    set_=["channel", "task_path", "kind", "body"],
)
CHECKPOINT: Final = select(*_SHOWN).where(*_PLACE, c.checkpoint_id == bindparam("checkpoint"))
LATEST: Final = select(*_SHOWN).where(*_PLACE).order_by(c.checkpoint_id.desc()).limit(1)
_NEWEST: Final = (
    select(*_SHOWN)
    .where(
        or_(
            c.checkpoint_id < bindparam("before"),
            and_(
                c.checkpoint_id == bindparam("before"),
                or_(
                    c.thread_id > bindparam("after_thread"),
                    and_(
                        c.thread_id == bindparam("after_thread"),
                        c.namespace > bindparam("after_space"),
                    ),
                ),
            ),
        )
    )
    .order_by(c.checkpoint_id.desc(), c.thread_id, c.namespace)
    .limit(bindparam("most"))
)
PAGE: Final = _NEWEST.where(_MINE)
PAGE_OF_THREAD: Final = _NEWEST.where(*_THREAD)
PAGE_OF_NAMESPACE: Final = _NEWEST.where(_MINE, c.namespace == bindparam("space"))
PAGE_OF_PLACE: Final = _NEWEST.where(*_PLACE)
VALUES: Final = select(k.channel, k.kind, k.body).where(
    *_CHANNELS, one_of_pairs(k.channel, k.version, "pairs")
)
WRITES: Final = (
    select(w.task_id, w.channel, w.kind, w.body)
    .where(*_WRITES, w.checkpoint_id == bindparam("checkpoint"))
    .order_by(w.task_path, w.task_id, w.number)
)
OUTLINE: Final = (
    select(c.namespace, c.checkpoint_id, c.channels, c.partial)
    .where(*_THREAD)
    .order_by(c.namespace, c.checkpoint_id)
)
OF_RUNS: Final = select(c.thread_id, c.checkpoint_id).where(_MINE, one_of(c.run_id, "runs"))
DROP: Final = delete(graph_checkpoints).where(*_PLACE, one_of(c.checkpoint_id, "ids"))
DROP_WRITES: Final = delete(graph_writes).where(*_WRITES, one_of(w.checkpoint_id, "ids"))
ORPHANED: Final = (
    update(graph_checkpoints)
    .where(*_PLACE, one_of(c.parent_id, "ids"))
    .values(parent_id=bindparam("nobody"))
)
VERSIONS: Final = select(k.channel, k.version).where(*_CHANNELS)
DROP_VALUES: Final = delete(graph_channels).where(
    *_CHANNELS, one_of_pairs(k.channel, k.version, "pairs")
)
_WHOLE: Final = (graph_checkpoints, graph_channels, graph_writes)
DELETE_THREAD: Final = tuple(
    delete(each).where(
        each.c.holder_id == bindparam("holder"), each.c.thread_id == bindparam("thread")
    )
    for each in _WHOLE
)
DELETE_PLACE: Final = tuple(
    delete(each).where(
        each.c.holder_id == bindparam("holder"),
        each.c.thread_id == bindparam("thread"),
        each.c.namespace == bindparam("space"),
    )
    for each in _WHOLE
)
READ_THREAD: Final = tuple(
    select(*each.c).where(
        each.c.holder_id == bindparam("holder"), each.c.thread_id == bindparam("thread")
    )
    for each in _WHOLE
)
COPY: Final = tuple(map(insert_or_ignore, _WHOLE))


class Outlined(NamedTuple):
    """What is known of a checkpoint without its state."""

    namespace: str
    checkpoint_id: str
    channels: Mapping[str, str]
    partial: bool


class After(NamedTuple):
    """Where a list goes on: at checkpoints below an id, or at that one in a later thread or namespace."""

    checkpoint_id: str
    thread_id: str = ""
    namespace: str = ""


def keep(tx: Transaction, holder_id: UUID, new: NewCheckpoint) -> None:
    """Keep a checkpoint; one with its id is written over, and a version that is there stays as it is."""
    place = {"holder_id": holder_id, "thread_id": new.thread_id, "namespace": new.namespace}
    tx.send_many(
        KEEP_CHANNEL,
        [
            {
                **place,
                "channel": each.name,
                "version": each.version,
                "kind": each.value.kind,
                "body": each.value.body,
            }
            for each in sorted(new.values, key=lambda each: each.name)
        ],
    )
    tx.run(
        KEEP,
        **place,
        checkpoint_id=new.checkpoint_id,
        parent_id=new.parent_id,
        run_id=new.run_id,
        channels=json.dumps(dict(new.channels), ensure_ascii=False),
        partial=new.partial,
        kind=new.state.kind,
        body=new.state.body,
        metadata_kind=new.metadata.kind,
        metadata=new.metadata.body,
        created_at=tx.now,
    )


def write(
    tx: Transaction,
    holder_id: UUID,
    at: At,
    task: tuple[str, str],
    writes: Sequence[Write],
) -> None:
    """Keep what a task (its id and path) wrote; what is there stays, but for places below 0."""
    rows: list[dict[str, Any]] = [
        {
            "holder_id": holder_id,
            "thread_id": at.thread_id,
            "namespace": at.namespace,
            "checkpoint_id": at.checkpoint_id,
            "task_id": task[0],
            "task_path": task[1],
            "number": each.number,
            "channel": each.channel,
            "kind": each.value.kind,
            "body": each.value.body,
        }
        for each in sorted(writes, key=lambda each: each.number)
    ]
    tx.run_many(WRITE_OVER, [row for row in rows if row["number"] < 0])
    tx.run_many(WRITE_ONCE, [row for row in rows if row["number"] >= 0])


def find(tx: Transaction, holder_id: UUID, at: At) -> KeptCheckpoint | None:
    """The checkpoint, or the latest of its namespace where it has no id."""
    asked = {"holder": holder_id, "thread": at.thread_id, "space": at.namespace}
    if at.checkpoint_id is None:
        row = tx.one(LATEST, **asked)
    else:
        row = tx.one(CHECKPOINT, checkpoint=at.checkpoint_id, **asked)
    return None if row is None else _kept(tx, holder_id, row)


def page(
    tx: Transaction,
    holder_id: UUID,
    thread_id: str | None,
    namespace: str | None,
    *,
    after: After,
    most: int,
) -> list[KeptCheckpoint]:
    """Checkpoints in the order of their ids, the last first, of the thread and namespace that are named."""
    if thread_id is None:
        statement = PAGE if namespace is None else PAGE_OF_NAMESPACE
    else:
        statement = PAGE_OF_THREAD if namespace is None else PAGE_OF_PLACE
    rows = tx.all(
        statement,
        holder=holder_id,
        thread=thread_id,
        space=namespace,
        before=after.checkpoint_id,
        after_thread=after.thread_id,
        after_space=after.namespace,
        most=most,
    )
    return [_kept(tx, holder_id, row) for row in rows]


def outline(tx: Transaction, holder_id: UUID, thread_id: str) -> list[Outlined]:
    """A thread's checkpoints by namespace, the oldest first."""
    rows = tx.all(OUTLINE, holder=holder_id, thread=thread_id)
    return [
        Outlined(row.namespace, row.checkpoint_id, json.loads(row.channels), row.partial)
        for row in rows
    ]


def of_runs(tx: Transaction, holder_id: UUID, run_ids: Sequence[str]) -> dict[str, set[str]]:
    """The checkpoints that these runs made, by thread."""
    found: dict[str, set[str]] = {}
    for row in tx.all(OF_RUNS, holder=holder_id, runs=list(run_ids)):
        found.setdefault(row.thread_id, set()).add(row.checkpoint_id)
    return found


def drop(
    tx: Transaction,
    holder_id: UUID,
    thread_id: str,
    namespace: str,
    *,
    gone: Sequence[str],
    left: Sequence[Mapping[str, str]],
) -> None:
    """Delete checkpoints with their writes, and the values that those which are `left` don't name."""
    at = {"holder": holder_id, "thread": thread_id, "space": namespace}
    tx.run(DROP, ids=list(gone), **at)
    tx.run(DROP_WRITES, ids=list(gone), **at)
    tx.run(ORPHANED, ids=list(gone), nobody=None, **at)
    named = {pair for channels in left for pair in channels.items()}
    kept = [(row.channel, row.version) for row in tx.all(VERSIONS, **at)]
    tx.run(DROP_VALUES, pairs=[pair for pair in kept if pair not in named], **at)


def delete_thread(tx: Transaction, holder_id: UUID, thread_id: str) -> int:
    """Delete all of a thread; how many rows."""
    return sum(tx.run(each, holder=holder_id, thread=thread_id) for each in DELETE_THREAD)


def delete_namespace(tx: Transaction, holder_id: UUID, thread_id: str, namespace: str) -> None:
    """Delete all of one namespace of a thread."""
    for each in DELETE_PLACE:
        tx.run(each, holder=holder_id, thread=thread_id, space=namespace)


def copy_thread(tx: Transaction, holder_id: UUID, source: str, target: str) -> None:
    """Put all of a thread into another; what that one has already stays as it is."""
    for read, copy in zip(READ_THREAD, COPY, strict=True):
        rows: list[dict[str, Any]] = [
            {**row._asdict(), "thread_id": target}
            for row in tx.all(read, holder=holder_id, thread=source)
        ]
        tx.run_many(copy, rows)


def _kept(tx: Transaction, holder_id: UUID, row: Row) -> KeptCheckpoint:
    at = {"holder": holder_id, "thread": row.thread_id, "space": row.namespace}
    channels = json.loads(row.channels)
    values = tx.all(VALUES, pairs=list(channels.items()), **at) if channels else []
    writes = tx.all(WRITES, checkpoint=row.checkpoint_id, **at)
    return KeptCheckpoint(
        thread_id=row.thread_id,
        namespace=row.namespace,
        checkpoint_id=row.checkpoint_id,
        parent_id=row.parent_id,
        state=Part(row.kind, bytes(row.body)),
        metadata=Part(row.metadata_kind, bytes(row.metadata)),
        values={each.channel: Part(each.kind, bytes(each.body)) for each in values},
        writes=[
            KeptWrite(each.task_id, each.channel, Part(each.kind, bytes(each.body)))
            for each in writes
        ],
    )
