"""Keeps from a run each memory about a row that is not there for its subject."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from memoranda.access.models import Principal, Role
from memoranda.memories.about import UNREADABLE
from memoranda.memories.models import Memory
from memoranda.words.ref import ResourceRef
from memoranda.words.resolver import RefResolver
from memoranda.words.subject import ContextSubject

T = TypeVar("T")
logger = logging.getLogger(__name__)

PATIENCE_S: Final = 0.7
"""How long an application's database may take to say whether rows are there: a brief waits no longer for a source."""


def is_for_a_run(who: Principal, *named: object) -> bool:
    """Whether an answer is what a run may know: an agent or a space asks, or a subject is named."""
    bound = who.role is Role.AGENT or who.space is not None
    return bound or any(each is not None for each in named)


class Guard:
    """Drops what is about a row that can't be found, after a list was cut and without filling it up.

    A row of another organization, a deleted one, one that never was, and one of a kind that nobody
    knows are all not there. So is every row without a resolver, and while it fails.
    """

    def __init__(self, resolver: RefResolver | None = None) -> None:
        self._resolver = resolver

    async def kept(
        self, subject: ContextSubject, found: Iterable[T], memory_of: Callable[[T], Memory]
    ) -> list[T]:
        """Those of `found` whose memory is about nothing or about a row that is there."""
        some = list(found)
        refs = [ref for each in some for ref in memory_of(each).subject_refs]
        if not refs:
            return some
        there = await self._there(subject, list(dict.fromkeys(refs)))
        return [each for each in some if there.issuperset(memory_of(each).subject_refs)]

    async def memories(self, subject: ContextSubject, found: Sequence[Memory]) -> list[Memory]:
        """The same of memories themselves."""
        return await self.kept(subject, found, lambda memory: memory)

    def hint(self, refs: Sequence[ResourceRef]) -> str | None:
        """Why no run is ever told of what is about these, where that is plain without a look."""
        kinds = [ref.kind for ref in refs if ref != UNREADABLE and not self._knows(ref.kind)]
        if not kinds:
            return None
        return (
            f"Nobody declared the kind {kinds[0]} of application rows, so no run is told of this: declare it "
            "in the file that MEMORANDA_STATE names, or leave out what it is about."
        )

    async def there(self, subject: ContextSubject, refs: Sequence[ResourceRef]) -> bool:
        """Whether all rows that these name are there."""
        return not refs or (await self._there(subject, refs)).issuperset(refs)

    def _knows(self, kind: str) -> bool:
        return self._resolver is not None and self._resolver.knows(kind)

    async def _there(
        self, subject: ContextSubject, refs: Sequence[ResourceRef]
    ) -> set[ResourceRef]:
        if UNREADABLE in refs:
            logger.warning("A memory is kept from runs: what it is about can't be read.")
        asked = [ref for ref in refs if ref != UNREADABLE]
        if self._resolver is None or not asked:
            return set()
        try:
            found = await asyncio.wait_for(self._resolver.exists(subject, asked), PATIENCE_S)
        except Exception as error:  # noqa: BLE001 - of all kinds: what can't be told to be there is not shown
            logger.warning(
                "Memories about rows are kept from a run, because their rows can't be looked up: %s.",
                type(error).__name__,
            )
            return set()
        return found.intersection(asked)
