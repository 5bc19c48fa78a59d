"""What a save has to write: how one list becomes another, with as few rows touched as can be. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

Pairs = list[tuple[int, int]]
"""Places in the old and in the new list that hold the same, both growing."""


class Placing(NamedTuple):
    """The new list's message at `place` gets a row at `position`; it said the same at `former`, if it did."""

    place: int
    position: int
    former: int | None


class Difference(NamedTuple):
    """Rows that stay, as (index in the new list, position), positions that are left, and rows to place."""

    kept: Pairs
    left: list[int]
    placed: list[Placing]


def difference(
    positions: Sequence[int], old: Sequence[str], new: Sequence[str], last_position: int
) -> Difference:
    """How the rows at `positions`, of the digests `old`, become a list of the digests `new`.

    A row that says the same stays where it is, as long as there is room before it for what comes
    in between. From where there is none, and at the end, positions go on after `last_position`.
    """
    pairs = same(old, new)
    kept: Pairs = []
    placed: list[Placing] = []
    low, index, moved = 0, 0, False
    for at, target in [*pairs, (len(old), len(new))]:
        between = target - index
        ends = at == len(old)
        high = last_position + 1 if ends else positions[at]
        if moved or ends or high - low - 1 < between:
            # The end goes on after everything that ever was there, so that nobody who reads on misses it.
            moved = moved or not ends
            low = max(low, last_position)
        placed += [Placing(index + n, low + 1 + n, None) for n in range(between)]
        low += between
        if ends:
            break
        if moved:
            low += 1
            placed.append(Placing(target, low, positions[at]))
        else:
            low = positions[at]
            kept.append((target, low))
        index = target + 1
    stay = {position for _, position in kept}
    return Difference(kept, [each for each in positions if each not in stay], placed)


def same(old: Sequence[str], new: Sequence[str]) -> Pairs:
    """Places that hold the same in both lists: the common beginning and end, and what lies between.

    Between those, what stands at the same place; or what is there once in both, in its longest
    common order, with equal neighbors: whichever is more. The time is that of a sort.
    """
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return [
        *((at, at) for at in range(start)),
        *_between(old, new, (start, len(old) - end), (start, len(new) - end)),
        *((len(old) - n, len(new) - n) for n in range(end, 0, -1)),
    ]


def _between(
    old: Sequence[str], new: Sequence[str], part: tuple[int, int], other: tuple[int, int]
) -> Pairs:
    pairs = zip(range(*part), range(*other), strict=False)  # as far as both go
    in_place = [(at, to) for at, to in pairs if old[at] == new[to]]
    in_order = _in_order(old, new, part, other)
    return in_order if len(in_order) > len(in_place) else in_place


def _in_order(
    old: Sequence[str], new: Sequence[str], part: tuple[int, int], other: tuple[int, int]
) -> Pairs:
    (start, stop), (first, last) = part, other
    anchors = _growing(_once_in_both(old, new, part, other))
    found: Pairs = []
    for number, (at, to) in enumerate(anchors):
        floor = found[-1] if found else (start - 1, first - 1)
        ceiling = anchors[number + 1] if number + 1 < len(anchors) else (stop, last)
        if at <= floor[0] or to <= floor[1]:
            continue
        back = 0
        while at - back - 1 > floor[0] and to - back - 1 > floor[1]:
            if old[at - back - 1] != new[to - back - 1]:
                break
            back += 1
        on = 1
        while at + on < ceiling[0] and to + on < ceiling[1] and old[at + on] == new[to + on]:
            on += 1
        found += [(at + n, to + n) for n in range(-back, on)]
    return found


def _once_in_both(
    old: Sequence[str], new: Sequence[str], part: tuple[int, int], other: tuple[int, int]
) -> Pairs:
    """Places of what is there exactly once in either part, in the order of the old one."""
    times, times_new = Counter(old[slice(*part)]), Counter(new[slice(*other)])
    places = {new[to]: to for to in range(*other) if times_new[new[to]] == 1}
    return [
        (at, places[old[at]]) for at in range(*part) if times[old[at]] == 1 and old[at] in places
    ]


def _growing(pairs: Pairs) -> Pairs:
    """The longest of their sequences in which both places grow."""
    ends: list[int] = []  # of the sequences so far, by their length: the smallest last place,
    at_end: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, to) in enumerate(pairs):
        length = bisect_left(ends, to)
        before.append(at_end[length - 1] if length else -1)
        ends[length : length + 1] = [to]
        at_end[length : length + 1] = [number]
    chosen: Pairs = []
    number = at_end[-1] if at_end else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]
