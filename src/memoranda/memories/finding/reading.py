"""Reads, in one transaction each, what a search shows and what a recall may give."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.memories.candidate import words_of
from memoranda.memories.finding import store
from memoranda.memories.finding.fuse import Ranked, best_first, fuse
from memoranda.memories.finding.reach.store import Reader, reach
from memoranda.memories.finding.recall import Offered
from memoranda.memories.models import FoundMemory, Match, Memory
from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.terms import Query, read_passage, read_query
from memoranda.search.texts.rank import words_held
from memoranda.search.vectors.service import Nearest
from memoranda.storage import Transaction
from memoranda.words.text import fold

AT_ONCE: Final = 200
"""How many memories are read at a time where some of them may not be wanted."""


MOST_TERMS: Final = 1_024
"""How many words of a task are looked for: more than people search with."""


class Wanted(NamedTuple):
    """What is looked for: a query, and perhaps one of some categories, and one of some tags."""

    query: str
    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()

    @property
    def narrowed(self) -> bool:
        return bool(self.categories or self.tags)

    def holds(self, memory: Memory) -> bool:
        return (not self.categories or memory.category in self.categories) and (
            not self.tags or not self.tags.isdisjoint(memory.tags)
        )


class _Near:
    """What is near by meaning, of which a search asks no more than it can show.

    Thousands may be near, and to look all of them up would take longer than to find them.
    """

    def __init__(self, tx: Transaction, reader: Reader, nearest: Nearest | None) -> None:
        self._tx = tx
        self._reader = reader
        self._hits = nearest.hits if nearest else []
        self._looked_at = 0

    @property
    def ids(self) -> list[UUID]:
        """All that are near, whoever may know them."""
        return [hit.item_id for hit in self._hits]

    def best(self, enough: int) -> dict[UUID, float]:
        """The scores of the reader's nearest: so many if there are, with all that score like the last."""
        found: dict[UUID, float] = {}
        step = min(max(AT_ONCE, 2 * enough), len(self._hits))
        while self._looked_at < len(self._hits):
            some = self._hits[self._looked_at : self._looked_at + step]
            if len(found) >= enough and some[0].score < min(found.values()):
                break
            found |= store.near(self._tx, self._reader, some)
            self._looked_at += len(some)
            step *= 2
        return found

    def of(self, ids: Collection[UUID]) -> dict[UUID, float]:
        """The scores of these, as far as `best` did not look at them."""
        rest = self._hits[self._looked_at :] if ids else []
        return store.near(self._tx, self._reader, [hit for hit in rest if hit.item_id in ids])


class Offers(NamedTuple):
    """What a run may be given: the pinned memories, and the others that are near, in their order."""

    pinned: list[Offered]
    found: list[Offered]


def search(
    tx: Transaction, reader: Reader, wanted: Wanted, nearest: Nearest | None, limit: int
) -> list[FoundMemory]:
    """At most `limit` memories, best first: near in meaning or words, or holding the query literally."""
    query = read_query(wanted.query)
    near = _Near(tx, reader, nearest)
    meaning = near.best(store.EVERY if wanted.narrowed else limit)
    reached = reach(tx, reader)
    words = store.worded(tx, reader, reached, query, at_least=SEARCH_SCORE)
    letters = store.literal(
        tx,
        reader,
        reached,
        fold(wanted.query),
        most=store.EVERY if wanted.narrowed else limit,
        among=[*near.ids, *words],
        nearest=nearest,
    )
    meaning |= near.of({*words, *letters})
    ranked = fuse(meaning, words, letters, at_least=SEARCH_SCORE)
    kept = _front(tx, reader, ranked, wanted, limit)
    return [
        FoundMemory(memory=memory, match=_told(each.match, memory, query))
        for each in best_first(ranked)
        if (memory := kept.get(each.memory_id))
    ]


def recall(
    tx: Transaction, reader: Reader, text: str, nearest: Nearest | None, limit: int
) -> Offers:
    """The pinned memories, the newest first, and at most `limit` others, best first."""
    query = read_query(text, most=MOST_TERMS)
    pinned = {memory.id: memory for memory in store.pinned(tx, reader)}
    near = _Near(tx, reader, nearest)
    meaning = near.best(limit + len(pinned))
    words = store.worded(tx, reader, reach(tx, reader), query, at_least=RECALL_SCORE)
    meaning |= near.of({*words, *pinned})
    ranked = best_first(fuse(meaning, words, (), at_least=RECALL_SCORE))
    match_of = {each.memory_id: each for each in ranked}
    others = [each.memory_id for each in ranked if each.memory_id not in pinned][:limit]
    found = store.by_id(tx, reader, others)
    letters = fold(text)

    def offer(memory: Memory) -> Offered:
        ranked_as = match_of.get(memory.id)
        if ranked_as is None:
            return Offered(memory)
        exact = bool(letters) and letters in fold(memory.text or "")
        told = _told(ranked_as.match, memory, query)
        return Offered(memory, told.model_copy(update={"literal": exact}))

    return Offers(
        [offer(memory) for memory in pinned.values()],
        [offer(found[each]) for each in others if each in found],
    )


def _front(
    tx: Transaction, reader: Reader, ranked: Sequence[Ranked], wanted: Wanted, limit: int
) -> dict[UUID, Memory]:
    """The first `limit` that are wanted."""
    kept: list[Memory] = []
    step = AT_ONCE if wanted.narrowed else limit
    for start in range(0, len(ranked), step):
        ids = [each.memory_id for each in ranked[start : start + step]]
        memories = store.by_id(tx, reader, ids)
        kept += [
            memories[each] for each in ids if each in memories and wanted.holds(memories[each])
        ]
        if len(kept) >= limit:
            break
    return {memory.id: memory for memory in kept[:limit]}


def _told(match: Match, memory: Memory, query: Query) -> Match:
    """The match with all words of the query that the memory holds, also where others scored more."""
    if match.words:
        return match
    said = words_of(memory.title, memory.text or "", memory.category, memory.tags)
    return match.model_copy(update={"words": words_held(query, read_passage(said).counts)})
