"""The SQL of items: put and asked for by key, searched in pages, and deleted once they have expired."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np
from sqlalchemy import bindparam, delete, insert, or_, select, update

from memoranda.graphs.items.matching import below, labels_of, text_of
from memoranda.graphs.items.models import GraphItem, Namespace
from memoranda.search.embedders.port import Matrix
from memoranda.storage import Row, Transaction, id_of, one_of, one_of_pairs, upsert
from memoranda.storage.tables import graph_item_vectors, graph_items
from memoranda.words.ids import new_id

i, v = graph_items.c, graph_item_vectors.c
AT_ONCE: Final = 200
"""Items that are in memory together while a search looks for those that it means."""
DIGITS: Final = 6
"""Scores are rounded to this many decimals, so that both databases rank alike."""
_ALL: Final = 2**31 - 1
_COLUMNS: Final = (i.id, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.ttl_ms)
_MINE: Final = i.holder_id == bindparam("holder")
_LIVES: Final = or_(i.expires_at.is_(None), i.expires_at > bindparam("now"))
_BELOW: Final = (
    _MINE,
    i.namespace >= bindparam("first"),
    i.namespace < bindparam("end"),
    _LIVES,
)
_UNDER_KEY: Final = (_MINE, i.namespace == bindparam("name"), i.key == bindparam("item_key"))

ITEM: Final = select(*_COLUMNS).where(*_UNDER_KEY, _LIVES)
ITEMS: Final = select(*_COLUMNS).where(one_of(i.id, "ids"))
NEWEST_OF_ALL: Final = (
    select(i.id)
    .where(_MINE, _LIVES)
    .order_by(i.updated_at.desc(), i.id.desc())
    .limit(bindparam("most"))
)
NEWEST_BELOW: Final = (
    select(i.id).where(*_BELOW).order_by(i.updated_at.desc(), i.id.desc()).limit(bindparam("most"))
)
NAMESPACES: Final = select(i.namespace).where(*_BELOW).group_by(i.namespace)
VECTORS_BELOW: Final = (
    select(v.item_id, v.numbers)
    .join_from(graph_item_vectors, graph_items, v.item_id == i.id)
    .where(*_BELOW, v.model == bindparam("model"))
    .order_by(i.updated_at.desc(), i.id.desc(), v.number)
)
IDS: Final = select(i.id, i.namespace, i.key).where(
    _MINE, one_of_pairs(i.namespace, i.key, "pairs")
)
PUT: Final = upsert(
    graph_items,
    ["organization_id", "holder_id", "namespace", "key"],
    set_=["value", "bytes", "updated_at", "ttl_ms", "expires_at"],
)
REMOVE: Final = delete(graph_items).where(*_UNDER_KEY)
REMOVE_EXPIRED: Final = REMOVE.where(i.expires_at <= bindparam("now"))
REFRESH: Final = (
    update(graph_items)
    .where(i.id == bindparam("item"), i.ttl_ms.is_not(None))
    .values(expires_at=bindparam("until"))
)
DROP_VECTORS: Final = delete(graph_item_vectors).where(one_of(v.item_id, "items"))
ADD_VECTORS: Final = insert(graph_item_vectors)
EXPIRED: Final = (
    select(i.id)
    .where(i.expires_at <= bindparam("now"))
    .order_by(i.expires_at, i.id)
    .limit(bindparam("most"))
)
EXPIRED_OF: Final = EXPIRED.where(_MINE)
DELETE: Final = delete(graph_items).where(one_of(i.id, "ids"))


class Kept(NamedTuple):
    """An item with its row's id, and how long it lives on when it is asked for."""

    id: UUID
    item: GraphItem
    ttl_ms: int | None


class Placed(NamedTuple):
    """A value to be put, written, with the vectors of its texts; None is to be taken away."""

    namespace: Namespace
    key: str
    value: str | None
    vectors: Matrix | None
    ttl_ms: int | None


class Meant(NamedTuple):
    """A query as a vector, and the model that made it."""

    model: str
    vector: Matrix


def get(tx: Transaction, holder_id: UUID, namespace: Namespace, key: str) -> Kept | None:
    """The item under a key, unless it has expired."""
    row = tx.one(ITEM, holder=holder_id, name=text_of(namespace), item_key=key, now=tx.now)
    return None if row is None else _kept(row)


def newest(
    tx: Transaction, holder_id: UUID, namespace: Namespace, most: int | None = None
) -> Iterator[Kept]:
    """The items below a namespace, the newest first, read some at a time; `most` of them, or all."""
    asked: dict[str, Any] = {"holder": holder_id, "now": tx.now, "most": most or _ALL}
    if namespace:
        first, end = below(namespace)
        rows = tx.plain(NEWEST_BELOW, first=first, end=end, **asked)
    else:
        rows = tx.plain(NEWEST_OF_ALL, **asked)
    yield from _read(tx, [id_of(row[0]) for row in rows])


def nearest(tx: Transaction, holder_id: UUID, namespace: Namespace, meant: Meant) -> Iterator[Kept]:
    """Every item below a namespace with a vector of the model, the nearest first, then the newest."""
    first, end = below(namespace)
    rows = tx.plain(
        VECTORS_BELOW, holder=holder_id, first=first, end=end, now=tx.now, model=meant.model
    )
    best = _best([(id_of(row[0]), bytes(row[1])) for row in rows], meant.vector)
    yield from _read(tx, sorted(best, key=lambda each: -best[each]), best)


def namespaces(tx: Transaction, holder_id: UUID, namespace: Namespace) -> list[Namespace]:
    """Every namespace that begins so and holds an item."""
    first, end = below(namespace)
    rows = tx.all(NAMESPACES, holder=holder_id, first=first, end=end, now=tx.now)
    return [labels_of(row.namespace) for row in rows]


def put(tx: Transaction, holder_id: UUID, placed: Sequence[Placed], model: str | None) -> None:
    """Put and take away items; one that has expired is made anew."""
    written: dict[tuple[str, str], Placed] = {}
    for each in sorted(
        placed, key=lambda each: (each.namespace, each.key)
    ):  # nobody waits crosswise
        name = text_of(each.namespace)
        at = {"holder": holder_id, "name": name, "item_key": each.key}
        if each.value is None:
            tx.send(REMOVE, **at)
            continue
        tx.send(REMOVE_EXPIRED, now=tx.now, **at)
        tx.send(PUT, **_row(tx, holder_id, name, each))
        written[name, each.key] = each
    if not written:
        return
    rows = tx.all(IDS, holder=holder_id, pairs=list(written))
    tx.send(DROP_VECTORS, items=[row.id for row in rows])
    vectors = [
        {"item_id": row.id, "number": number, "model": model, "numbers": numbers.tobytes()}
        for row in rows
        if (made := written[row.namespace, row.key].vectors) is not None
        for number, numbers in enumerate(made.astype("<f4"))
    ]
    tx.send_many(ADD_VECTORS, vectors)


def refresh(tx: Transaction, found: Mapping[UUID, int]) -> None:
    """Let these items live on from now, each for its milliseconds."""
    rows = [{"item": each, "until": _after(tx.now, found[each])} for each in sorted(found)]
    tx.run_many(REFRESH, rows)


def sweep(tx: Transaction, most: int, holder_id: UUID | None = None) -> int:
    """Delete up to `most` items that have expired, of one holder or of all; how many."""
    asked = {"now": tx.now, "most": most}
    found = (
        tx.all(EXPIRED, **asked)
        if holder_id is None
        else tx.all(EXPIRED_OF, holder=holder_id, **asked)
    )
    return tx.run(DELETE, ids=[row.id for row in found]) if found else 0


def _read(
    tx: Transaction, ids: Sequence[UUID], scores: Mapping[UUID, float] = MappingProxyType({})
) -> Iterator[Kept]:
    """These items in this order; one that is taken away meanwhile is left out."""
    for at in range(0, len(ids), AT_ONCE):
        some = ids[at : at + AT_ONCE]
        found = {row.id: row for row in tx.all(ITEMS, ids=some)}
        yield from (_kept(found[each], scores.get(each)) for each in some if each in found)


def _row(tx: Transaction, holder_id: UUID, name: str, placed: Placed) -> dict[str, Any]:
    value = placed.value or ""
    return {
        "id": new_id(),
        "holder_id": holder_id,
        "namespace": name,
        "key": placed.key,
        "value": value,
        "bytes": len(value.encode()),
        "created_at": tx.now,
        "updated_at": tx.now,
        "ttl_ms": placed.ttl_ms,
        "expires_at": None if placed.ttl_ms is None else _after(tx.now, placed.ttl_ms),
    }


def _after(now: datetime, ttl_ms: int) -> datetime:
    return now + timedelta(milliseconds=ttl_ms)


def _best(rows: Sequence[tuple[UUID, bytes]], query: Matrix) -> dict[UUID, float]:
    """The score of each item's nearest text, in the order in which the items come."""
    fitting = [(item, numbers) for item, numbers in rows if len(numbers) == 4 * len(query)]
    if not fitting:
        return {}
    matrix = np.frombuffer(b"".join(numbers for _, numbers in fitting), "<f4")
    scores = matrix.reshape(len(fitting), len(query)) @ query.astype(np.float32)
    best: dict[UUID, float] = {}
    for (item, _), score in zip(fitting, scores.tolist(), strict=True):
        best[item] = max(round(score, DIGITS), best.get(item, -1.0))
    return best


def _kept(row: Row, score: float | None = None) -> Kept:
    item = GraphItem(
        namespace=labels_of(row.namespace),
        key=row.key,
        value=json.loads(row.value),
        created_at=row.created_at,
        updated_at=row.updated_at,
        score=score,
    )
    return Kept(row.id, item, row.ttl_ms)
