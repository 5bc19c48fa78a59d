"""Which memories of one audience say the same, and what one memory in their place would say: pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.memories.candidate import MOST_TAGS
from memoranda.memories.proposals.reading import Reading, opposed, read, same

MOST_COMPARED: Final = 5_000
"""The newest memories of an audience that are looked at together."""

MOST_MERGED: Final = 100
"""Memories that one merge may join; the next tidy-up finds the rest."""

VOUCHED_SCORE: Final = 0.995
"""From this relevance on, an embedder vouches that a word like "uses" adds nothing."""

Vectors = Mapping[UUID, NDArray[np.float32]]


class Nearness(NamedTuple):
    """Unit vectors of one model, and what makes a relevance of their inner products."""

    vectors: Vectors
    score: Callable[[float], float]

    def between(self, one: UUID, other: UUID) -> float:
        """How near two memories are, 0 to 1; 0 where one of them has no vector."""
        ours, theirs = self.vectors.get(one), self.vectors.get(other)
        if ours is None or theirs is None:
            return 0.0
        return self.score(float(np.dot(ours.astype(np.float64), theirs.astype(np.float64))))


class Held(NamedTuple):
    """A live memory as tidy-up sees it. `text_id` names the revision whose text this is."""

    id: UUID
    version: int
    text_id: UUID
    text: str
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    expires_at: datetime | None
    pinned: bool
    subject_key: str | None
    uses: int


class Merge(NamedTuple):
    """One memory in the place of several: `survivor` stays and says this, `others` go."""

    survivor: Held
    others: tuple[Held, ...]
    text: str
    title: str | None
    category: str | None
    tags: tuple[str, ...]


def merges(memories: Sequence[Held], nearness: Nearness | None = None) -> list[Merge]:
    """The merges that would tidy up these memories of one audience, the one of the oldest memory first.

    The same memories give the same merges, in whatever order they come. Memories are joined
    only where they say the same for as long as each other, and at most one of them has a key.
    """
    newest = sorted(memories)[-MOST_COMPARED:]  # by their ids, which no two share
    alike: defaultdict[object, list[_Read]] = defaultdict(list)
    for memory in newest:
        reading = read(memory.text)
        alike[reading.core, memory.expires_at].append(_Read(memory, reading))
    found = [group for some in alike.values() for group in _groups(some[-MOST_MERGED:], nearness)]
    return [_merge(group) for group in sorted(found, key=lambda group: group[0].memory.id)]


class _Read(NamedTuple):
    memory: Held
    reading: Reading


def _groups(some: Sequence[_Read], nearness: Nearness | None) -> Iterator[list[_Read]]:
    """Join what says the same, the surest pairs first, unless that would join what is opposed."""
    group_of = {place: [place] for place in range(len(some))}
    for one, other in _pairs(some, nearness):
        ours, theirs = group_of[one], group_of[other]
        if ours is not theirs and _may_join([some[p] for p in ours], [some[p] for p in theirs]):
            joined = sorted([*ours, *theirs])
            group_of.update(dict.fromkeys(joined, joined))
    for place, group in group_of.items():
        if place == group[0] and len(group) > 1:
            yield [some[p] for p in group]


def _pairs(some: Sequence[_Read], nearness: Nearness | None) -> list[tuple[int, int]]:
    """The places of two that say the same; those that need an embedder's word come last, the nearest first."""
    found = []
    for one, other in combinations(range(len(some)), 2):
        (a, ours), (b, theirs) = some[one], some[other]
        if not same(ours, theirs):
            continue
        if ours.terms == theirs.terms:
            found.append((-2.0, one, other))
        elif nearness is not None and _adds(ours, theirs):
            score = nearness.between(a.id, b.id)
            if score >= VOUCHED_SCORE:
                found.append((-score, one, other))
    return [(one, other) for _, one, other in sorted(found)]


def _adds(ours: Reading, theirs: Reading) -> bool:
    """Whether one only has words more than the other; "uses" in the place of "works" is no addition."""
    mine, other = Counter(ours.terms), Counter(theirs.terms)
    return mine <= other or other <= mine


def _may_join(ours: Sequence[_Read], theirs: Sequence[_Read]) -> bool:
    if sum(each.memory.subject_key is not None for each in (*ours, *theirs)) > 1:
        return False
    return not any(opposed(a.reading, b.reading) for a in ours for b in theirs)


def _merge(group: Sequence[_Read]) -> Merge:
    """The memory stays that a key, a pin or its use speaks for, else the oldest; it says all that they said."""
    stays = min(group, key=lambda each: _claim(each.memory))
    fullest = max(group, key=lambda each: (len(each.reading.terms), each is stays, each.memory.id))
    others = tuple(each.memory for each in group if each is not stays)
    in_turn = (stays.memory, *reversed(others))  # the newest other first
    tags = dict.fromkeys(tag for memory in in_turn for tag in memory.tags)
    return Merge(
        survivor=stays.memory,
        others=others,
        text=fullest.memory.text,
        title=_first(memory.title for memory in in_turn),
        category=_first(memory.category for memory in in_turn),
        tags=tuple(tags)[:MOST_TAGS],
    )


def _claim(memory: Held) -> tuple[bool, bool, int, UUID]:
    return (memory.subject_key is None, not memory.pinned, -memory.uses, memory.id)


def _first(values: Iterator[str | None]) -> str | None:
    return next((value for value in values if value is not None), None)
