"""The SQL of namespaces: which there are, the items below one, and their end."""

import json
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, func, or_, select

from memoranda.access.reach import NOBODY, Reach
from memoranda.graphs.items.matching import below, labels_of
from memoranda.graphs.items.models import Namespace
from memoranda.graphs.namespaces.models import GraphNamespace, ItemSummary, ShownItem
from memoranda.storage import Row, Transaction
from memoranda.storage.tables import graph_holders, graph_items

i, h = graph_items.c, graph_holders.c
AT_ONCE: Final = 100
"""Holders whose namespaces are looked for together."""
NEWEST: Final = UUID(int=2**128 - 1)
_HELD: Final = (
    h.for_user >= bindparam("first_user"),
    h.for_user <= bindparam("last_user"),
    h.for_agent >= bindparam("first_agent"),
    h.for_agent <= bindparam("last_agent"),
)
_LIVES: Final = or_(i.expires_at.is_(None), i.expires_at > bindparam("now"))
HOLDERS: Final = (
    select(h.id, h.user_id, h.agent_id)
    .where(*_HELD, h.id >= bindparam("first"))
    .order_by(h.id)
    .limit(bindparam("most"))
)
# One is looked for at a time, since each may have many items and the next one is at hand.
NEXT: Final = (
    select(i.namespace)
    .where(i.holder_id == bindparam("holder"), i.namespace > bindparam("after"), _LIVES)
    .order_by(i.namespace)
    .limit(1)
)
SIZE: Final = select(
    func.count().label("items"),
    func.coalesce(func.sum(i.bytes), 0).label("bytes"),
    func.max(i.updated_at).label("updated_at"),
).where(i.holder_id == bindparam("holder"), i.namespace == bindparam("name"), _LIVES)
COUNT: Final = (
    select(func.count())
    .select_from(graph_items)
    .join(graph_holders, h.id == i.holder_id)
    .where(*_HELD)
)
_SUMMARY: Final = (
    i.id,
    i.namespace,
    i.key,
    h.user_id,
    h.agent_id,
    i.bytes,
    i.created_at,
    i.updated_at,
    i.expires_at,
)
ITEMS: Final = (
    select(*_SUMMARY)
    .join_from(graph_items, graph_holders, h.id == i.holder_id)
    .where(
        *_HELD,
        _LIVES,
        i.id < bindparam("before"),
        i.namespace >= bindparam("first"),
        i.namespace < bindparam("end"),
    )
    .order_by(i.id.desc())
    .limit(bindparam("most"))
)
ITEM: Final = (
    select(*_SUMMARY, i.value)
    .join_from(graph_items, graph_holders, h.id == i.holder_id)
    .where(i.id == bindparam("item"))
)
# Also those that have expired: their words may still stand in the files.
KEPT: Final = (
    select(*_SUMMARY, i.value)
    .join_from(graph_items, graph_holders, h.id == i.holder_id)
    .where(*_HELD, i.id > bindparam("after"))
    .order_by(i.id)
    .limit(bindparam("most"))
)
REMOVE: Final = delete(graph_items).where(i.id == bindparam("item"))
REMOVE_BELOW: Final = delete(graph_items).where(
    i.holder_id == bindparam("holder"),
    i.namespace >= bindparam("first"),
    i.namespace < bindparam("end"),
)


class Place(NamedTuple):
    """A namespace: whose, and as it is kept."""

    holder_id: UUID
    name: str


BEGINNING: Final = Place(NOBODY, "")


def page(
    tx: Transaction, reach: Reach, after: Place, most: int
) -> tuple[list[Place], list[GraphNamespace]]:
    """Namespaces within reach that come after that one, by holder and then by name."""
    places: list[Place] = []
    told: list[GraphNamespace] = []
    first = after.holder_id
    while holders := tx.all(HOLDERS, **reach._asdict(), first=first, most=AT_ONCE):
        for holder in holders:
            last = after.name if holder.id == after.holder_id else ""
            while len(places) < most and (
                row := tx.one(NEXT, holder=holder.id, after=last, now=tx.now)
            ):
                last = row.namespace
                places.append(Place(holder.id, last))
                told.append(_told(tx, holder, last))
            if len(places) == most:
                return places, told
        first = UUID(int=holders[-1].id.int + 1)
    return places, told


def _told(tx: Transaction, holder: Row, name: str) -> GraphNamespace:
    size = tx.one(SIZE, holder=holder.id, name=name, now=tx.now)
    if size is None:
        raise AssertionError("counts count")
    return GraphNamespace(
        namespace=list(labels_of(name)),
        user_id=holder.user_id,
        agent_id=holder.agent_id,
        items=size.items,
        bytes=int(size.bytes),
        updated_at=size.updated_at,
    )


def count(tx: Transaction, reach: Reach) -> int:
    """How many items are kept within reach, also those that have expired."""
    row = tx.one(COUNT, **reach._asdict())
    return 0 if row is None else int(row[0])


def items(
    tx: Transaction, reach: Reach, namespace: Namespace, before: UUID | None, most: int
) -> list[ItemSummary]:
    """The items within reach and below a namespace, the newest first."""
    first, end = below(namespace)
    rows = tx.all(
        ITEMS,
        **reach._asdict(),
        now=tx.now,
        before=before or NEWEST,
        first=first,
        end=end,
        most=most,
    )
    return [ItemSummary(**_fields(row)) for row in rows]


def item(tx: Transaction, item_id: UUID) -> ShownItem | None:
    """The item with its value; None where it is not there, or has expired."""
    row = tx.one(ITEM, item=item_id)
    if row is None or _is_over(row, tx.now):
        return None
    return _shown(row)


def kept(tx: Transaction, reach: Reach, after: UUID, most: int) -> list[ShownItem]:
    """Items within reach with their values, the oldest first, from behind an id; also those that have expired."""
    return [_shown(row) for row in tx.all(KEPT, **reach._asdict(), after=after, most=most)]


def remove(tx: Transaction, item_id: UUID) -> int:
    """Delete an item; how many there were."""
    return tx.run(REMOVE, item=item_id)


def remove_below(tx: Transaction, holder_id: UUID, namespace: Namespace) -> int:
    """Delete all items below a namespace; how many."""
    first, end = below(namespace)
    return tx.run(REMOVE_BELOW, holder=holder_id, first=first, end=end)


def _is_over(row: Row, now: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= now


def _fields(row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = row._asdict()
    return {**fields, "namespace": list(labels_of(row.namespace))}


def _shown(row: Row) -> ShownItem:
    return ShownItem(**{**_fields(row), "value": json.loads(row.value)})
