"""The verbs of memories: remember, forget, list, history, and what a context source reads."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.access.store import check_subject
from memoranda.memories import store
from memoranda.memories.audience import Audience, may_change, may_know, sees_everything
from memoranda.memories.candidate import (
    Author,
    Candidate,
    expiry_input,
    memory_text,
    subject_key,
    tags_input,
)
from memoranda.memories.models import Memory, Revision
from memoranda.storage import ConstraintViolated, Storage, StorageBusy, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid, Refused
from memoranda.words.inputs import check_count, optional_text_input
from memoranda.words.page import Page, cut_page
from memoranda.words.subject import ContextSubject

P = ParamSpec("P")
T = TypeVar("T")

LONGEST_TEXT: Final = 500
"""Characters that a memory's text may have, unless a setting says otherwise."""
LONGEST_TEXT_EVER: Final = 8_000
"""Characters that such a setting may allow."""
MOST_LISTED: Final = 200
LONGEST_CATEGORY: Final = 64
# What the database says to the loser of a race. It tries again on the new head, so many times.
RACES: Final = {
    "one_memory_per_key",
    "one_live_memory_per_text",
    "one_child_per_revision",
    "one_revision_per_version",
}
TRIES: Final = 8
_LISTING: Final = "memories"


class Memories:
    """Durable facts of an organization, each in a chain of revisions that is only added to."""

    def __init__(self, storage: Storage, *, max_text_chars: int = LONGEST_TEXT) -> None:
        check_count("max_text_chars", max_text_chars, most=LONGEST_TEXT_EVER)
        self._storage = storage
        self._max_text_chars = max_text_chars

    async def remember(
        self,
        who: Principal,
        text: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        title: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        expires_at: datetime | None = None,
        attribute: str | None = None,
        run_id: UUID | None = None,
        conversation_id: UUID | None = None,
    ) -> Memory:
        """Keep `text` (1 to 500 characters once trimmed) for the user and agent named; unset means all.

        With an attribute it replaces what the same audience's memory under that
        attribute said. `run_id` and `conversation_id` say where it came from and are
        kept as given. Raises `DuplicateMemory`, naming the memory, when a live one
        says the same; `Invalid` and `OverLimit` with the field; `NotFound` for an
        unknown user or agent; `Refused` where the key may not write for them.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        subject = subject_of(who, agent_id, user_id)
        audience = Audience.of(subject)
        candidate = Candidate(
            audience=audience,
            subject_key=subject_key(audience, organization, attribute),
            text=memory_text(text, self._max_text_chars),
            title=optional_text_input("title", title),
            category=optional_text_input("category", category, limit=LONGEST_CATEGORY),
            tags=tags_input(tags),
            expires_at=expiry_input(expires_at),
            author=Author(
                user_id=who.user_id,
                agent_id=who.agent_id,
                run_id=run_id,
                conversation_id=conversation_id,
            ),
        )
        try:
            return await self._write(organization, store.remember, candidate)
        except ConstraintViolated:
            # The usual reason is a user or agent that the organization does not have.
            await self._storage.read(
                organization, check_subject, user_id=audience.user_id, agent_id=audience.agent_id
            )
            raise

    async def forget(self, who: Principal, memory_id: UUID) -> Memory:
        """Forget a memory: nothing shows it any more but its history. The answer has no text.

        Takes the id of a memory that is not forgotten yet: raises `NotFound` for any
        other id, `Conflict` for a memory forgotten before, `Refused` for one that the
        caller may read and not change.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        audience = await self._known(who, memory_id)
        if not may_change(who, audience):
            raise Refused("This key forgets memories of its own user alone. Use an owner's key.")
        author = Author(user_id=who.user_id, agent_id=who.agent_id)
        return await self._write(organization, store.forget, memory_id, author)

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """Live memories, the newest chain first, at most `limit` (1 to 200).

        With a user or agent named: what a run for them may know. Without: all that the
        caller may read. What is added or forgotten between two pages makes no memory
        come twice or be left out. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_MEMORIES)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        subject = subject_of(who, agent_id, user_id)
        if sees_everything(who) and user_id is None and agent_id is None:
            found = await self._storage.read(organization, store.everything, before, limit + 1)
        else:
            found = await self._storage.read(
                organization, store.covered, subject, before, limit + 1
            )
        return cut_page(_LISTING, found, limit)

    async def get(self, who: Principal, memory_id: UUID) -> Memory:
        """A live memory. Raises `NotFound`, also for one that is forgotten, expired or not for the caller."""
        organization = organization_for(who, Permission.READ_MEMORIES)
        found = await self._storage.read(organization, store.live_memory, memory_id)
        if found is None or not may_know(
            who, Audience(user_id=found.user_id, agent_id=found.agent_id)
        ):
            raise store.unknown_memory(memory_id)
        return found

    async def history(self, who: Principal, memory_id: UUID) -> list[Revision]:
        """Every revision of a memory, the oldest first, tombstones too. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_MEMORIES)
        await self._known(who, memory_id)
        return await self._storage.read(organization, store.revisions, memory_id)

    async def recent(self, subject: ContextSubject, *, personal: bool, limit: int) -> list[Memory]:
        """What a run for `subject` may know, the last recorded first, at most `limit`; 0 reads nothing.

        `personal` picks the memories of its user and of no agent; otherwise all the
        others that cover it. Without a user there is nothing personal.
        """
        if limit < 0:
            raise Invalid(f"limit is {limit} and must not be negative.", field="limit")
        if limit == 0 or (personal and subject.user_id is None):
            return []
        return await self._storage.read(
            subject.organization_id, store.recent, subject, personal=personal, most=limit
        )

    async def _known(self, who: Principal, memory_id: UUID) -> Audience:
        """The audience of a memory that `who` may know. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_MEMORIES)
        audience = await self._storage.read(organization, store.audience, memory_id)
        if not may_know(who, audience):
            raise store.unknown_memory(memory_id)
        return audience

    async def _write(
        self,
        organization: UUID,
        change: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Write; where another writer was first, look at what it wrote and decide again."""
        for _ in range(TRIES):
            try:
                return await self._storage.write(organization, change, *args, **kwargs)
            except ConstraintViolated as lost:
                if lost.name not in RACES:
                    raise
        raise StorageBusy("Others kept changing this memory first. Nothing was written: try again.")
