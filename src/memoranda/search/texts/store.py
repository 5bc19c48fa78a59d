"""The word index of short texts: one row for each term and item, and no count that writers share."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Final
from uuid import UUID

from sqlalchemy import Select, bindparam, delete, func, insert, select

from memoranda.search.terms import PassageTerms, Query
from memoranda.search.texts.plan import LIMITS, Limits, plan
from memoranda.search.texts.rank import LEAST, TextHit, grouped, promising, rank, unsure
from memoranda.search.texts.rows import WORDS_VERSION, length_of, pack
from memoranda.search.texts.scale import scale
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import search_postings

__all__ = ["WORDS_VERSION", "TextHit", "drop", "find", "put"]

_AT_ONCE: Final = 16
_in_collection = search_postings.c.collection == bindparam("in_collection")

ADD: Final = insert(search_postings)
DROP: Final = delete(search_postings).where(
    _in_collection, one_of(search_postings.c.document_id, "items")
)
HOLDERS: Final = select(search_postings.c.term, search_postings.c.document_id).where(
    _in_collection, one_of(search_postings.c.term, "terms")
)
NEWEST_HOLDERS: Final = (
    select(search_postings.c.term, search_postings.c.document_id)
    .where(_in_collection, search_postings.c.term == bindparam("wanted"))
    .order_by(search_postings.c.document_id.desc())
    .limit(bindparam("most"))
)
ROWS_WITHIN: Final = select(
    search_postings.c.term, search_postings.c.document_id, search_postings.c.postings
).where(
    _in_collection,
    one_of(search_postings.c.term, "terms"),
    one_of(search_postings.c.document_id, "items"),
)


def _counts(places: int) -> Select[tuple[int, ...]]:
    """How many rows each of so many terms has, counted up to `most`."""
    counts = []
    for place in range(places):
        rows = search_postings.alias(f"rows_{place}")
        some = (
            select(rows.c.document_id)
            .where(
                rows.c.collection == bindparam("in_collection"),
                rows.c.term == bindparam(f"term_{place}"),
            )
            .limit(bindparam("most"))
            .subquery(f"some_{place}")
        )
        count = select(func.count()).select_from(some).scalar_subquery()
        counts.append(count.label(f"count_{place}"))
    return select(*counts)


COUNTS: Final = _counts(_AT_ONCE)

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
    among: Callable[[], Sequence[UUID] | None] | None = None,
    limits: Limits = LIMITS,
) -> list[TextHit]:
    """Return the items whose texts share words with the query and score so much, best first.

    Equal scores go by id. `total` is how many items there are. The scope's own rows alone say how
    rare a word is. One that too many items hold is read for the newest of them, and for those that
    other words found; so where a query has no other words, older items are missed. `among` is asked
    in that case alone: it may name the items that matter, and then none of those is missed.
    """
    asked = list(islice(query.terms, limits.terms))
    if not asked:
        return []
    counts = _count(tx, collection, asked, limits)
    weights = scale(asked, counts, total)
    reading = plan(counts, limits)
    held: _Held = defaultdict(set)
    _add(held, tx.all(HOLDERS, in_collection=collection, terms=list(reading.whole)))
    if reading.newest:
        common = list(reading.newest)
        items = among() if among else None
        if items is None:
            for term, most in reading.newest.items():
                where = {"in_collection": collection, "wanted": term}
                _add(held, tx.all(NEWEST_HOLDERS, **where, most=most))
            # Nobody is judged by where the reading of a common word ended.
            likely = promising(grouped(held), weights, at_least=at_least, perhaps=common)
            items = [item_id for _, item_id in likely[: limits.items] if len(asked) > 1]
        _add(held, tx.all(ROWS_WITHIN, in_collection=collection, terms=common, items=list(items)))
    groups = grouped(held)
    lengths = _lengths(tx, collection, unsure(groups, weights, at_least=at_least)[: limits.items])
    return rank(query, groups, lengths, weights, at_least=at_least)


def _add(held: _Held, rows: Sequence[Row]) -> None:
    for row in rows:
        held[row.document_id].add(row.term)


def _count(
    tx: Transaction, collection: str, terms: Sequence[str], limits: Limits
) -> dict[str, int]:
    counts: dict[str, int] = {}
    most = limits.up_to(len(terms))
    for some in _parts(terms):
        places = {f"term_{place}": "" for place in range(_AT_ONCE)}
        places |= {f"term_{place}": term for place, term in enumerate(some)}
        row = tx.one(COUNTS, in_collection=collection, most=most, **places)
        counts |= zip(some, row or (), strict=False)
    return counts


def _lengths(
    tx: Transaction, collection: str, items: Sequence[tuple[str, UUID]]
) -> dict[UUID, int]:
    """How long the text of each item is, by any row of it: the term is one that it holds."""
    by_term: defaultdict[str, list[UUID]] = defaultdict(list)
    for term, item_id in items:
        by_term[term].append(item_id)
    lengths: dict[UUID, int] = {}
    for terms in _parts(list(by_term)):
        some = [item_id for term in terms for item_id in by_term[term]]
        for row in tx.all(ROWS_WITHIN, in_collection=collection, terms=terms, items=some):
            length = length_of(row.postings)
            if length is not None:
                lengths[row.document_id] = length
    return lengths


def _parts(terms: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(terms), _AT_ONCE):
        yield terms[start : start + _AT_ONCE]
