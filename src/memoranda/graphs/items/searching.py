"""Answers what is asked of items within one transaction: reads first, then puts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.graphs.holders import store as holders
from memoranda.graphs.items import store
from memoranda.graphs.items.matching import ANY, is_meant, matches
from memoranda.graphs.items.models import (
    Answer,
    GetItem,
    ListNamespaces,
    Namespace,
    SearchItems,
)
from memoranda.graphs.items.store import Kept, Meant, Placed
from memoranda.storage import Transaction
from memoranda.words.subject import ContextSubject

SWEPT: Final = 100
"""Items that have expired, and that a put deletes on its way."""

Read = GetItem | SearchItems | ListNamespaces


class Asked(NamedTuple):
    """Reads and puts by their places in a batch, and what could be embedded of them before."""

    reads: Mapping[int, Read]
    puts: Sequence[Placed]
    queries: Mapping[str, Meant]
    model: str | None


class Answered(NamedTuple):
    """The answers by place, and what is to live on because it was asked for, with its milliseconds."""

    answers: dict[int, Answer]
    refreshed: dict[UUID, int]


def read(tx: Transaction, subject: ContextSubject, asked: Asked) -> Answered:
    """Answer the reads; who never kept anything has nothing."""
    holder = holders.find(tx, subject)
    done = Answered({}, {})
    for place, each in asked.reads.items():
        done.answers[place] = _answer(tx, holder, each, asked, done.refreshed)
    return done


def change(tx: Transaction, subject: ContextSubject, asked: Asked) -> Answered:
    """Answer the reads as things stood before the puts, let live on what was read, then put; all of it or nothing."""
    done = read(tx, subject, asked)
    if asked.puts:
        holder = holders.make(tx, subject)
        store.put(tx, holder, asked.puts, asked.model)
        store.sweep(tx, SWEPT, holder)
    store.refresh(tx, done.refreshed)
    return done


def sweep(tx: Transaction, subject: ContextSubject, most: int) -> int:
    """Delete what has expired of the subject's items; how many."""
    holder = holders.find(tx, subject)
    return 0 if holder is None else store.sweep(tx, most, holder)


def _answer(
    tx: Transaction,
    holder: UUID | None,
    asked: Read,
    batch: Asked,
    refreshed: dict[UUID, int],
) -> Answer:
    if holder is None:
        return None if isinstance(asked, GetItem) else []
    if isinstance(asked, ListNamespaces):
        return _listed(tx, holder, asked)
    if isinstance(asked, GetItem):
        there = store.get(tx, holder, asked.namespace, asked.key)
        found = [] if there is None else [there]
    else:
        meant = batch.queries.get(asked.query or "")
        found = list(
            islice(_found(tx, holder, asked, meant), asked.offset, asked.offset + asked.limit)
        )
    if asked.refresh:
        refreshed.update({each.id: each.ttl_ms for each in found if each.ttl_ms is not None})
    if isinstance(asked, SearchItems):
        return [each.item for each in found]
    return found[0].item if found else None


def _found(
    tx: Transaction, holder: UUID, asked: SearchItems, meant: Meant | None
) -> Iterator[Kept]:
    """All that is meant, best first: what could be compared with a query, then the rest, the newest first."""
    wanted = asked.filter or {}
    compared: set[UUID] = set()
    if meant is not None:
        for each in store.nearest(tx, holder, asked.namespace, meant):
            compared.add(each.id)
            if matches(each.item.value, wanted):
                yield each
    # Whoever filters, or leaves out what was compared, may have to look at all of them.
    most = None if wanted or compared else asked.offset + asked.limit
    if most == 0:
        return
    for each in store.newest(tx, holder, asked.namespace, most):
        if each.id not in compared and matches(each.item.value, wanted):
            yield each


def _listed(tx: Transaction, holder: UUID, asked: ListNamespaces) -> list[Namespace]:
    found = store.namespaces(tx, holder, _beginning(asked))
    meant = [each for each in found if all(is_meant(one, each) for one in asked.conditions)]
    cut = {each[: asked.max_depth] for each in meant}  # all of it without a depth
    return sorted(cut)[asked.offset : asked.offset + asked.limit]


def _beginning(asked: ListNamespaces) -> Namespace:
    """The labels with which every namespace that is asked for begins, as far as one condition says."""
    for each in asked.conditions:
        if each.match == "prefix":
            labels = each.path
            return labels[: labels.index(ANY)] if ANY in labels else labels
    return ()
