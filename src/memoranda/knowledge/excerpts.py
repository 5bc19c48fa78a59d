"""Search results as a reader wants them: neighbors joined, and as many as a budget holds."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memoranda.knowledge.models import SearchResult

# A place that is lines or rows and no heading, as chunks of plain text and of tables have it.
_LINES = re.compile(r"(line|row)s? (\d+)(?:-(\d+))?$")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One or more adjacent chunks of one source, in order; `best` is the one that ranked first."""

    chunks: tuple[SearchResult, ...]
    best: SearchResult

    @property
    def title(self) -> str:
        """The source's title and the place: a heading or lines, or when a turn was said."""
        place = self.best.at or _span(self.chunks[0].place, self.chunks[-1].place)
        return f"{self.best.title}, {place}" if place else self.best.title

    @property
    def body(self) -> str:
        """The text as stored; a speaker is named before what they say."""
        return "\n".join(
            f"{chunk.speaker}: {chunk.text}" if chunk.speaker else chunk.text
            for chunk in self.chunks
        )


def excerpts(
    ranked: Iterable[SearchResult],
    *,
    limit: int | None = None,
    budget: int | None = None,
    cost: Callable[[Excerpt], int] = lambda _: 0,
) -> list[Excerpt]:
    """Join ranked chunks into at most `limit` excerpts that cost at most `budget` together.

    Chunks are taken best first. One that would break a bound is passed over and a later one may
    still fit; one beside a taken chunk joins it and needs no place of its own. Excerpts come
    back in the order of their best chunks.
    """
    taken: dict[int, Excerpt] = {}  # by the rank of its best chunk
    costs: dict[int, int] = {}
    edges: dict[tuple[UUID, int], int] = {}  # the rank of whose excerpt begins or ends there
    spent = 0
    for rank, chunk in enumerate(ranked):
        beside = _beside(taken, edges, chunk)
        if limit is not None and len(taken) - len(beside) + 1 > limit:
            continue
        joined = _join([taken[better] for better in beside], chunk)
        price = 0 if budget is None else cost(joined)
        total = spent + price - sum(costs[better] for better in beside)
        if budget is not None and total > budget:
            continue
        spent = total
        for better in beside:
            del taken[better], costs[better]
        # A join keeps the place of the better of its parts.
        place = beside[0] if beside else rank
        taken[place], costs[place] = joined, price
        edges[_place(joined.chunks[0])] = edges[_place(joined.chunks[-1])] = place
    return [taken[rank] for rank in sorted(taken)]


def _beside(
    taken: dict[int, Excerpt], edges: dict[tuple[UUID, int], int], chunk: SearchResult
) -> list[int]:
    """The ranks of the excerpts that the chunk touches, the best first."""
    source, ordinal = _place(chunk)
    near = {edges.get((source, ordinal - 1)), edges.get((source, ordinal + 1))}
    return sorted(
        rank for rank in near if rank is not None and rank in taken and _touches(taken[rank], chunk)
    )


def _touches(excerpt: Excerpt, chunk: SearchResult) -> bool:
    """Whether the chunk stands right beside the excerpt, under the same heading or in the same sitting."""
    best = excerpt.best
    if best.source_id != chunk.source_id or best.at != chunk.at:
        return False
    if best.place != chunk.place and not (_LINES.match(best.place) and _LINES.match(chunk.place)):
        return False
    return (
        chunk.ordinal + 1 == excerpt.chunks[0].ordinal
        or chunk.ordinal - 1 == excerpt.chunks[-1].ordinal
    )


def _span(first: str, last: str) -> str:
    """One place for two: the heading that they share, or all the lines from one to the other."""
    begin, end = _LINES.match(first), _LINES.match(last)
    if first == last or begin is None or end is None:
        return first
    return f"{begin[1]}s {begin[2]}-{end[3] or end[2]}"


def _join(beside: Sequence[Excerpt], chunk: SearchResult) -> Excerpt:
    parts = [*(part for excerpt in beside for part in excerpt.chunks), chunk]
    parts.sort(key=_place)
    return Excerpt(tuple(parts), beside[0].best if beside else chunk)


def _place(chunk: SearchResult) -> tuple[UUID, int]:
    return chunk.source_id, chunk.ordinal
