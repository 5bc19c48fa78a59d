"""The word index of short texts: one row for each term and item, and no count that writers share."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, delete, func, insert, select

from memoranda.search.terms import PassageTerms, Query
from memoranda.search.texts.plan import LIMITS, Limits, plan
from memoranda.search.texts.rank import LEAST, TextHit, grouped, promising, rank, unsure
from memoranda.search.texts.rows import WORDS_VERSION, length_of, pack
from memoranda.search.texts.scale import scale
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import search_postings

__all__ = ["WORDS_VERSION", "TextHit", "drop", "find", "put", "shelf"]

_AT_ONCE: Final = 16
_in_collection = search_postings.c.collection == bindparam("in_collection")

ADD: Final = insert(search_postings)
DROP: Final = delete(search_postings).where(
    _in_collection, one_of(search_postings.c.document_id, "items")
)


class Shelf(NamedTuple):
    """The statements that a search runs, over all items of a collection or over some."""

    counts: Select[Any]
    holders: Select[Any]
    newest: Select[Any]
    within: Select[Any]


def shelf(only: Callable[[FromClause], ColumnElement[bool]] | None = None) -> Shelf:
    """Make the statements of a search, once for all; `only` says which rows of a table of them it may see.

    What it may not see takes no place and counts for nothing, as if it were not there.
    """

    def rows(table: FromClause, *columns: str) -> Select[Any]:
        found = select(*(table.c[name] for name in columns))
        found = found.where(table.c.collection == bindparam("in_collection"))
        return found if only is None else found.where(only(table))

    holders = rows(search_postings, "term", "document_id")
    within = rows(search_postings, "term", "document_id", "postings")
    term, item = search_postings.c.term, search_postings.c.document_id
    newest = holders.where(term == bindparam("wanted")).order_by(item.desc())
    counts = []
    for place in range(_AT_ONCE):  # up to `most` of each term
        alias = search_postings.alias(f"rows_{place}")
        some = rows(alias, "document_id").where(alias.c.term == bindparam(f"term_{place}"))
        some_of_them = some.limit(bindparam("most")).subquery(f"some_{place}")
        count = select(func.count()).select_from(some_of_them).scalar_subquery()
        counts.append(count.label(f"count_{place}"))
    return Shelf(
        counts=select(*counts),
        holders=holders.where(one_of(term, "terms")),
        newest=newest.limit(bindparam("most")),
        within=within.where(one_of(term, "terms"), one_of(item, "items")),
    )


EVERYTHING: Final = shelf()

_Held = defaultdict[UUID, set[str]]
"""Which terms of the query each item is known to hold."""


def put(
    tx: Transaction, collection: str, item_id: UUID, terms: PassageTerms, *, fresh: bool
) -> None:
    """Make a text findable by its words; `fresh` says that nothing of the item is there yet.

    The caller's transaction has written to the item's own row before, so that two puts of one item
    follow each other. Puts of different items share no row, so none of them waits for another.
    """
    if not fresh:
        drop(tx, collection, [item_id])
    where = {"collection": collection, "document_id": item_id}
    rows = pack(terms)
    tx.run_many(ADD, [{**where, "term": term, "postings": rows[term]} for term in sorted(rows)])


def drop(tx: Transaction, collection: str, item_ids: Collection[UUID]) -> None:
    """Take items out of the index; as with `put`, the caller holds them. Absent ones are no error."""
    if item_ids:
        tx.run(DROP, in_collection=collection, items=sorted(item_ids))


def find(
    tx: Transaction,
    collection: str,
    query: Query,
    *,
    total: int,
    at_least: float = LEAST,
    on: Shelf = EVERYTHING,
    limits: Limits = LIMITS,
    **of: Any,
) -> list[TextHit]:
    """Return the items whose texts share words with the query and score so much, best first.

    Equal scores go by id. `total` is how many items the shelf has, whose rows alone say how rare a
    word is, and `of` is what its statements ask for. A word that too many items hold is read for
    the newest of them, and for those that other words found; so where a query has no other words,
    older items are missed.
    """
    asked = list(islice(query.terms, limits.terms))
    if not asked:
        return []
    of["in_collection"] = collection
    counts = _count(tx, on, asked, limits, of)
    weights = scale(asked, counts, total)
    reading = plan(counts, limits)
    held: _Held = defaultdict(set)
    _add(held, tx.all(on.holders, **of, terms=list(reading.whole)))
    if reading.newest:
        for term, most in reading.newest.items():
            _add(held, tx.all(on.newest, **of, wanted=term, most=most))
        # Nobody is judged by where the reading of a common word ended.
        common = list(reading.newest)
        likely = promising(grouped(held), weights, at_least=at_least, perhaps=common)
        items = [item_id for _, item_id in likely[: limits.items] if len(asked) > 1]
        _add(held, tx.all(on.within, **of, terms=common, items=items))
    groups = grouped(held)
    lengths = _lengths(tx, on, unsure(groups, weights, at_least=at_least)[: limits.items], of)
    return rank(query, groups, lengths, weights, at_least=at_least)


def _add(held: _Held, rows: Sequence[Row]) -> None:
    for row in rows:
        held[row.document_id].add(row.term)


def _count(
    tx: Transaction, on: Shelf, terms: Sequence[str], limits: Limits, of: Mapping[str, Any]
) -> dict[str, int]:
    counts: dict[str, int] = {}
    most = limits.up_to(len(terms))
    for some in _parts(terms):
        places = {f"term_{place}": "" for place in range(_AT_ONCE)}
        places |= {f"term_{place}": term for place, term in enumerate(some)}
        row = tx.one(on.counts, **of, most=most, **places)
        counts |= zip(some, row or (), strict=False)
    return counts


def _lengths(
    tx: Transaction, on: Shelf, items: Sequence[tuple[str, UUID]], of: Mapping[str, Any]
) -> dict[UUID, int]:
    """How long the text of each item is, by any row of it: the term is one that it holds."""
    by_term: defaultdict[str, list[UUID]] = defaultdict(list)
    for term, item_id in items:
        by_term[term].append(item_id)
    lengths: dict[UUID, int] = {}
    for terms in _parts(list(by_term)):
        some = [item_id for term in terms for item_id in by_term[term]]
        for row in tx.all(on.within, **of, terms=terms, items=some):
            length = length_of(row.postings)
            if length is not None:
                lengths[row.document_id] = length
    return lengths


def _parts(terms: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(terms), _AT_ONCE):
        yield terms[start : start + _AT_ONCE]
