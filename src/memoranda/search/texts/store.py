"""The word index of short texts: one row for each term and item, and no count that writers share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, delete, func, insert, select

from memoranda.search.terms import PassageTerms, Query
from memoranda.search.texts.holders import AT_ONCE, AtHand, Holders, Item, look_up, parts
from memoranda.search.texts.plan import LIMITS, Limits
from memoranda.search.texts.rank import LEAST, TextHit
from memoranda.search.texts.rows import WORDS_VERSION, pack
from memoranda.storage import Transaction, id_of, one_of
from memoranda.storage.tables import search_postings

__all__ = ["WORDS_VERSION", "TextHit", "drop", "find", "find_among", "put", "shelf"]

COUNTED: Final = (2, 5, AT_ONCE)
MOST_LOOKS: Final = 20_000
"""So many looks for a term of an item cost less than reading all terms of some thousand items."""

_in_collection = search_postings.c.collection == bindparam("in_collection")
_term, _item = search_postings.c.term, search_postings.c.document_id

ADD: Final = insert(search_postings)
DROP: Final = delete(search_postings).where(
    _in_collection, one_of(search_postings.c.document_id, "items")
)


class Shelf(NamedTuple):
    """The statements that a search runs, over all items of a collection or over some.

    Of `counts` there is one for each of `COUNTED`, which counts so many terms.
    """

    counts: Sequence[Select[Any]]
    all: Select[Any]
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

    def count(place: int) -> ColumnElement[Any]:  # up to `most`
        alias = search_postings.alias(f"rows_{place}")
        some = rows(alias, "document_id").where(alias.c.term == bindparam(f"term_{place}"))
        some_of_them = some.limit(bindparam("most")).subquery(f"some_{place}")
        count = select(func.count()).select_from(some_of_them).scalar_subquery()
        return count.label(f"count_{place}")

    holders = rows(search_postings, "term", "document_id")
    within = rows(search_postings, "term", "document_id", "postings")
    newest = holders.where(_term == bindparam("wanted")).order_by(_item.desc())
    return Shelf(
        counts=[select(*map(count, range(places))) for places in COUNTED],
        all=holders.where(one_of(_term, "terms")),
        newest=newest.limit(bindparam("most")),
        within=within.where(one_of(_term, "terms"), one_of(_item, "items")),
    )


EVERYTHING: Final = shelf()
_ROWS: Final = select(_term, _item, search_postings.c.postings).where(_in_collection)
FEW: Final = _ROWS.where(one_of(_term, "terms")).limit(bindparam("most"))
OF_ITEMS: Final = _ROWS.where(one_of(_item, "items"))


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
    tx.send_many(ADD, [{**where, "term": term, "postings": rows[term]} for term in sorted(rows)])


def drop(tx: Transaction, collection: str, item_ids: Collection[UUID]) -> None:
    """Take items out of the index; as with `put`, the caller holds them. Absent ones are no error."""
    if item_ids:
        tx.send(DROP, in_collection=collection, items=sorted(item_ids))


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
    holders: Holders = OnShelf(tx, on, of)
    if on is EVERYTHING and total <= limits.small:
        rows = tx.plain(FEW, **of, terms=asked, most=limits.few + 1)
        if len(rows) <= limits.few:
            holders = AtHand(rows)
    return _hits(look_up(holders, query, total=total, at_least=at_least, limits=limits))


def find_among(
    tx: Transaction,
    collection: str,
    query: Query,
    items: Sequence[UUID],
    *,
    at_least: float = LEAST,
    limits: Limits = LIMITS,
) -> list[TextHit]:
    """`find` on a shelf that has these items, of which there are some thousands at most."""
    asked = list(islice(query.terms, limits.terms))
    if not asked or not items:
        return []
    of = {"in_collection": collection, "items": items}
    if len(asked) * len(items) <= MOST_LOOKS:
        rows = tx.plain(EVERYTHING.within, **of, terms=asked)
    else:
        wanted = set(asked)
        rows = [row for row in tx.plain(OF_ITEMS, **of) if row[0] in wanted]
    found = look_up(AtHand(rows), query, total=len(items), at_least=at_least, limits=limits)
    return _hits(found)


class OnShelf:
    """Asks the database which items hold which terms."""

    def __init__(self, tx: Transaction, on: Shelf, of: Mapping[str, Any]) -> None:
        self._tx = tx
        self._on = on
        self._of = of

    def counts(self, terms: Sequence[str], most: int) -> dict[str, int]:
        """See `Holders`."""
        counts: dict[str, int] = {}
        for some in parts(terms):
            enough = next(number for number, places in enumerate(COUNTED) if places >= len(some))
            places = {f"term_{place}": "" for place in range(COUNTED[enough])}
            places |= {f"term_{place}": term for place, term in enumerate(some)}
            [row] = self._tx.plain(self._on.counts[enough], **self._of, most=most, **places)
            counts |= zip(some, row, strict=False)
        return counts

    def all(self, terms: Sequence[str]) -> list[tuple[Any, ...]]:
        """See `Holders`."""
        return self._tx.plain(self._on.all, **self._of, terms=terms)

    def newest(self, term: str, most: int) -> list[tuple[Any, ...]]:
        """See `Holders`."""
        return self._tx.plain(self._on.newest, **self._of, wanted=term, most=most)

    def within(self, terms: Sequence[str], items: Sequence[Item]) -> list[tuple[Any, ...]]:
        """See `Holders`."""
        ids = [id_of(item) for item in items]
        return self._tx.plain(self._on.within, **self._of, terms=terms, items=ids)


def _hits(found: Sequence[TextHit]) -> list[TextHit]:
    return [replace(hit, item_id=id_of(hit.item_id)) for hit in found]
