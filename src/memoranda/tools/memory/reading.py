"""What the memory tool reads."""

import asyncio
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.memories.finding.asked import MOST_FOUND
from memoranda.memories.service import Memories
from memoranda.tools.memory.answers import Listed, Recalled, ToolMemory, fitting
from memoranda.tools.memory.inputs import Get, List, Recall
from memoranda.tools.models import Course
from memoranda.words.cursor import MOST_SEEN, make_seen_cursor, read_seen_cursor

PAUSES_S: Final = (0.02, 0.03, 0.05, 0.1, 0.15, 0.15)
"""Looks for vectors that are just being made: half a second in all."""


class Reading:
    """The reading half of the memory tool. An answer has at most about `chars` characters.

    `hurry` is called where somebody waits for vectors, so that a worker looks for them now.
    """

    def __init__(
        self, memories: Memories, chars: int, hurry: Callable[[], None] = lambda: None
    ) -> None:
        self._memories = memories
        self._chars = chars
        self._hurry = hurry

    async def recall(self, who: Principal, asked: Recall, _course: Course) -> Recalled:
        """The best of what has to do with the question, and was not given on the pages before.

        What the caller has just written is waited for until it can be found by meaning, for half a
        second at most.
        """
        pending = await self._caught_up(who)
        listing = f"recall of {asked.query}"
        seen = read_seen_cursor(listing, asked.cursor)
        found = await self._memories.search(
            who, asked.query, limit=MOST_FOUND, categories=asked.categories, tags=asked.tags
        )
        unseen = [each for each in found.results if each.memory.id not in seen]
        shown = fitting(list(map(ToolMemory.found, unseen[: asked.limit])), self._chars)
        more = len(shown) < len(unseen)
        there = {each.memory.id for each in found.results}
        given = _named((*seen, *(each.id for each in shown)), there)
        return Recalled(
            memories=shown,
            semantic=found.semantic,
            pending_vectors=pending,
            next_cursor=make_seen_cursor(listing, given) if more else None,
        )

    async def _caught_up(self, who: Principal) -> int:
        """How many of the caller's newest memories have no vector yet, after a short wait for them."""
        pending = await self._memories.pending_vectors(who)
        if not pending:
            return 0
        self._hurry()
        for pause_s in PAUSES_S:
            await asyncio.sleep(pause_s)
            pending = await self._memories.pending_vectors(who)
            if not pending:
                break
        return pending

    async def list(self, who: Principal, asked: List, _course: Course) -> Listed:
        """A page of what the caller may know."""
        page = await self._memories.page(
            who,
            categories=asked.categories,
            tags=asked.tags,
            limit=asked.limit,
            cursor=asked.cursor,
        )
        shown = fitting(list(map(ToolMemory.of, page.items)), self._chars)
        cut = len(shown) < len(page.items)
        return Listed(
            memories=shown,
            next_cursor=self._memories.cursor_after(shown[-1].id) if cut else page.next_cursor,
        )

    async def get(self, who: Principal, asked: Get, _course: Course) -> ToolMemory:
        """One memory."""
        return ToolMemory.of(await self._memories.get(who, asked.memory_id))


def _named(given: tuple[UUID, ...], there: AbstractSet[UUID]) -> tuple[UUID, ...]:
    """Of what was given as much as a cursor can name: first of all what would else be given again.

    Whoever forgets what each page brings is given more than that. What is not found any more is left
    out, the longest given first.
    """
    too_many = max(0, len(given) - MOST_SEEN)
    gone = set([each for each in given if each not in there][:too_many])
    return tuple(each for each in given if each not in gone)
