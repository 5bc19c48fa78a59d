"""Finds short texts by their words, from whatever tells which texts hold which words. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol, TypeAlias

from memoranda.search.terms import Query
from memoranda.search.texts.plan import Limits, plan
from memoranda.search.texts.rank import TextHit, grouped, promising, rank, unsure
from memoranda.search.texts.rows import length_of
from memoranda.search.texts.scale import scale

# An item's id in whatever form its rows have it: all of one search have the same, and sort as ids do.
Item: TypeAlias = Any

Pairs: TypeAlias = Iterable[tuple[str, Item]]
"""Terms, each with an item that holds it."""

Rows: TypeAlias = Iterable[tuple[str, Item, bytes]]
"""The same with the row that the item has of the term."""


class Holders(Protocol):
    """Tells which items hold which terms."""

    def counts(self, terms: Sequence[str], most: int) -> Mapping[str, int]:
        """Count the items that hold each term, up to so many."""

    def all(self, terms: Sequence[str]) -> Pairs:
        """Every item that holds one of the terms."""

    def newest(self, term: str, most: int) -> Pairs:
        """Up to so many of the items that hold the term, those with the last ids."""

    def within(self, terms: Sequence[str], items: Sequence[Item]) -> Rows:
        """The rows that these items have of these terms."""


class AtHand:
    """Tells it from rows that are all there is to search."""

    def __init__(self, rows: Rows) -> None:
        self._rows: defaultdict[str, dict[Item, bytes]] = defaultdict(dict)
        for term, item, row in rows:
            self._rows[term][item] = row

    def counts(self, terms: Sequence[str], most: int) -> Mapping[str, int]:
        """See `Holders`."""
        return {term: min(most, len(self._rows.get(term, ()))) for term in terms}

    def all(self, terms: Sequence[str]) -> Pairs:
        """See `Holders`."""
        return ((term, item) for term in terms for item in self._rows.get(term, ()))

    def newest(self, term: str, most: int) -> Pairs:
        """See `Holders`."""
        return ((term, item) for item in sorted(self._rows.get(term, ()), reverse=True)[:most])

    def within(self, terms: Sequence[str], items: Sequence[Item]) -> Rows:
        """See `Holders`."""
        wanted = set(items)
        for term in terms:
            held = self._rows.get(term, {})
            yield from ((term, item, held[item]) for item in held.keys() & wanted)


def look_up(
    holders: Holders, query: Query, *, total: int, at_least: float, limits: Limits
) -> list[TextHit]:
    """Return the items that share words with the query and score so much, best first; see `store.find`."""
    asked = list(islice(query.terms, limits.terms))
    counts = holders.counts(asked, limits.up_to(len(asked)))
    weights = scale(asked, counts, total)
    reading = plan(counts, limits)
    held: defaultdict[Item, set[str]] = defaultdict(set)
    if reading.whole:
        _add(held, holders.all(reading.whole))
    if reading.newest:
        for term, most in reading.newest.items():
            _add(held, holders.newest(term, most))
        # Nobody is judged by where the reading of a common word ended.
        common = list(reading.newest)
        likely = promising(grouped(held), weights, at_least=at_least, perhaps=common)
        items = [item for _, item in likely[: limits.items] if len(asked) > 1]
        if items:
            _add(held, ((term, item) for term, item, _ in holders.within(common, items)))
    groups = grouped(held)
    lengths = _lengths(holders, unsure(groups, weights, at_least=at_least)[: limits.items])
    return rank(query, groups, lengths, weights, at_least=at_least)


def _add(held: defaultdict[Item, set[str]], pairs: Pairs) -> None:
    for term, item in pairs:
        held[item].add(term)


def _lengths(holders: Holders, items: Collection[tuple[str, Item]]) -> dict[Item, int]:
    """How long the text of each item is, by any row of it: the term is one that it holds."""
    by_term: defaultdict[str, list[Item]] = defaultdict(list)
    for term, item in items:
        by_term[term].append(item)
    lengths: dict[Item, int] = {}
    for terms in parts(list(by_term)):
        some = [item for term in terms for item in by_term[term]]
        for _, item, row in holders.within(terms, some):
            length = length_of(row)
            if length is not None:
                lengths[item] = length
    return lengths


AT_ONCE = 16
"""How many terms a statement names by itself."""


def parts(terms: Sequence[str]) -> Iterable[Sequence[str]]:
    """The terms in lists of so many."""
    return (terms[start : start + AT_ONCE] for start in range(0, len(terms), AT_ONCE))
