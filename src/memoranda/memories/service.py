"""The verbs of memories: remember, change, forget, restore, list, and what a context source reads."""

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, require, subject_of
from memoranda.access.store import check_subject
from memoranda.memories import capture, permitted
from memoranda.memories.announce import Changed, announce, nobody
from memoranda.memories.audience import audience_of, may_know, sees_everything
from memoranda.memories.candidate import (
    UNSET,
    Author,
    Unset,
    candidate_input,
    edit_input,
)
from memoranda.memories.errors import MemoriesFull, PinsFull, unknown_memory
from memoranda.memories.finding.asked import filter_input
from memoranda.memories.finding.service import Finding
from memoranda.memories.guarding import is_for_a_run
from memoranda.memories.limits import LONGEST_TEXT_EVER
from memoranda.memories.models import Memory, MemoryPage, MemoryStats, MemoryStatus, Revision
from memoranda.memories.past import store as past
from memoranda.memories.races import write_again
from memoranda.memories.stats import store as stats
from memoranda.memories.views import store as views
from memoranda.memories.views.store import Wanted
from memoranda.memories.ways import DEFAULT_WAYS, Ways
from memoranda.search.vectors.service import Vectors
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.words.cursor import make_cursor, read_cursor
from memoranda.words.errors import Conflict, Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, choice_input, time_input
from memoranda.words.page import cut_page
from memoranda.words.ref import ResourceRef
from memoranda.words.resolver import RefResolver
from memoranda.words.subject import ContextSubject
from memoranda.words.tokens import Estimator, estimate_tokens

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

MOST_LISTED: Final = 200


@checks_shapes
class Memories(Finding):
    """Durable facts of an organization, each in a chain of revisions that is only added to.

    How they are searched and recalled is in `Finding`. `changed` is called with the
    organization after the commit of each change.
    """

    def __init__(
        self,
        storage: Storage,
        ways: Ways = DEFAULT_WAYS,
        changed: Changed = nobody,
        vectors: Vectors | None = None,
        *,
        resolver: RefResolver | None = None,
        estimator: Estimator = estimate_tokens,
    ) -> None:
        check_count("text_chars", ways.limits.text_chars, most=LONGEST_TEXT_EVER)
        super().__init__(storage, vectors, resolver=resolver, estimator=estimator)
        self._ways = ways
        self._changed = changed

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
        about: ResourceRef | None = None,
        pinned: bool = False,
        run_id: UUID | None = None,
        conversation_id: UUID | None = None,
    ) -> Memory:
        """Keep `text` (1 to 500 characters once trimmed) for the user and agent named; unset means all.

        With an attribute it replaces what the same audience's memory under that
        attribute said; `about` names the row of the application that it is about, and that
        attribute is then one of the row's. A run is told of it only while the row is there for
        its organization. `run_id` and `conversation_id` say where it came from and are
        kept as given; a run's log says whether it was stored. Raises `DuplicateMemory`,
        naming the memory, when a live one says the same; `MemoriesFull` and `PinsFull`
        at the organization's limits; `Invalid`, `OverLimit` and `SecretFound` with the field;
        `NotFound` for an unknown user or agent; `Refused` where the key may not write for them.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        audience = audience_of(who, agent_id, user_id)
        candidate = candidate_input(
            organization,
            audience,
            _author(who, run_id, conversation_id),
            text=text,
            text_chars=self._ways.limits.text_chars,
            title=title,
            category=category,
            tags=tags,
            expires_at=expires_at,
            attribute=attribute,
            about=about,
            pinned=pinned,
        )
        try:
            return self._hinted(
                await self._write(organization, permitted.remember, who, candidate, self._ways)
            )
        except ConstraintViolated:
            # The usual reason is a user or agent that the organization does not have.
            await self._storage.read(
                organization, check_subject, user_id=audience.user_id, agent_id=audience.agent_id
            )
            raise
        except (MemoriesFull, PinsFull) as full:
            await self._note_drop(organization, who, run_id, full)
            raise

    async def update(
        self,
        who: Principal,
        memory_id: UUID,
        *,
        expected_version: int | None = None,
        text: str | Unset = UNSET,
        title: str | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        pinned: bool | Unset = UNSET,
        user_id: UUID | Unset | None = UNSET,
        agent_id: UUID | Unset | None = UNSET,
    ) -> Memory:
        """Change what is given and leave the rest: what it says, its pin, for whom it is; all or nothing.

        None clears what may be empty, and as a user or agent means all. What says
        something else is one more revision; a pin is none; another audience ends this
        memory and goes on as another one, which is the answer. What is so already is
        left. Raises `NotFound`, `Conflict` for a forgotten memory, `StaleVersion` with
        its version and text where `expected_version` is another, `DuplicateMemory` for
        a text that is remembered already, `MemoriesFull`, `PinsFull`, `Invalid`,
        `OverLimit`, `SecretFound`, `Conflict` for a memory of a space that is to be for somebody else, and `Refused` for what the caller may read and not change.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        edit = edit_input(
            self._ways.limits.text_chars,
            text=text,
            title=title,
            category=category,
            tags=tags,
            expires_at=expires_at,
        )
        if all(each is UNSET for each in (*edit, pinned, user_id, agent_id)):
            raise Invalid("Nothing is given to change: name at least one field.")
        changed = await self._write(
            organization,
            permitted.update,
            who,
            memory_id,
            edit,
            author=_author(who),
            ways=self._ways,
            expected_version=expected_version,
            pinned=None if pinned is UNSET else pinned,
            user_id=user_id,
            agent_id=agent_id,
        )
        return self._hinted(changed)

    async def forget(
        self, who: Principal, memory_id: UUID, *, expected_version: int | None = None
    ) -> Memory:
        """Forget a memory: nothing shows it any more but its history and what is forgotten.

        The answer says what it said, and until when it may be restored. Takes the id of a
        memory that is not forgotten yet: raises `NotFound` for any other id, `Conflict`
        for a memory forgotten before, `StaleVersion` where `expected_version` is another,
        `Refused` for one that the caller may read and not change.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        return await self._write(
            organization,
            permitted.forget,
            who,
            memory_id,
            author=_author(who),
            ways=self._ways,
            expected_version=expected_version,
        )

    async def restore(self, who: Principal, memory_id: UUID) -> Memory:
        """Let a memory that was forgotten within 30 days say again what it said.

        Raises `NotFound`, `Conflict` for one that is active, or was moved or merged away,
        `DuplicateMemory` where another says it by now, `MemoriesFull`, `NotRestorable` for
        what was forgotten longer ago, has expired or is purged, `SecretFound`, and `Refused`.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        restored = await self._write(
            organization, permitted.restore, who, memory_id, author=_author(who), ways=self._ways
        )
        return self._hinted(restored)

    async def page(
        self,
        who: Principal,
        *,
        status: MemoryStatus = MemoryStatus.ACTIVE,
        pinned_only: bool = False,
        categories: Collection[str] = (),
        tags: Collection[str] = (),
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        oldest_first: bool = False,
        as_of: datetime | None = None,
        unused_only: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> MemoryPage:
        """Memories, the newest chain first, at most `limit` (1 to 200).

        With a user or agent named: what a run for them may know, and for who reads everything how
        many more are hidden. Without: all that the caller may read. Categories and tags narrow it
        to memories with one of each. `as_of` shows what was active at that time, with today's pins;
        `unused_only` what nobody changed and no run was given for half a year.
        What is added or forgotten between two pages makes none come twice or be left out.
        Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_MEMORIES, in_space=True)
        if as_of is not None:
            require(who, Permission.READ_PAST)
        check_count("limit", limit, most=MOST_LISTED)
        wanted = Wanted(
            choice_input("status", status, MemoryStatus),
            pinned_only,
            filter_input("categories", categories),
            filter_input("tags", tags),
            oldest_first,
            time_input("as_of", as_of),
            unused_only,
        )
        if as_of is not None and wanted.status is not MemoryStatus.ACTIVE:
            raise Invalid("as_of lists what was active: leave the status out.", field="as_of")
        listing = _listing(wanted)
        start, subject = read_cursor(listing, cursor), subject_of(who, agent_id, user_id)
        everything = sees_everything(who) and user_id is None and agent_id is None
        found = await self._storage.read(
            organization,
            views.page,
            None if everything else subject,
            wanted,
            start,
            limit + 1,
            space=None if who.space is None else who.space.name,
        )
        page = cut_page(listing, found, limit)
        fit = [each for each in page.items if wanted.has_tag_of(each.tags)]
        kept = fit
        if is_for_a_run(who, user_id, agent_id):
            kept = await self._guard.memories(subject, fit)
        hidden = len(fit) - len(kept) if sees_everything(who) else 0
        items = [self._hinted(each) for each in kept]
        return MemoryPage(items=items, next_cursor=page.next_cursor, hidden=hidden)

    @staticmethod
    def cursor_after(memory_id: UUID) -> str:
        """Where `page` goes on after this memory, in its plain order: for whoever had no room for more."""
        return make_cursor(_listing(Wanted()), memory_id)

    async def get(self, who: Principal, memory_id: UUID) -> Memory:
        """A live memory. Raises `NotFound`, also for one that is forgotten, expired or not for the caller."""
        organization = organization_for(who, Permission.READ_MEMORIES, in_space=True)
        audience, found = await self._storage.read(organization, views.live_memory, memory_id)
        if not may_know(who, audience) or not await self._may_be_told(who, found):
            raise unknown_memory(memory_id)
        return self._hinted(found)

    async def history(self, who: Principal, memory_id: UUID) -> list[Revision]:
        """Every revision of a memory, the oldest first, tombstones too. Raises `NotFound`.

        Where a memory was moved or merged, the other one is named to those who may know it.
        """
        organization = organization_for(who, Permission.READ_MEMORIES)
        told = await self._storage.read(organization, permitted.history, who, memory_id)
        if is_for_a_run(who):
            refs = await self._storage.read(organization, views.subject_refs, memory_id)
            if not await self._guard.there(subject_of(who), refs):
                raise unknown_memory(memory_id)
        return told

    async def stats(self, who: Principal) -> MemoryStats:
        """How many memories and proposals there are of those that the caller may know, and the limits."""
        organization = organization_for(who, Permission.READ_MEMORIES)
        return await self._storage.read(organization, stats.of, who, self._ways)

    async def recent(
        self,
        subject: ContextSubject,
        *,
        personal: bool,
        limit: int,
        as_of: datetime | None = None,
    ) -> list[Memory]:
        """What a run for `subject` may know, the last recorded first, at most `limit`; 0 reads nothing.

        `personal` picks the memories of its user and of no agent; otherwise all the
        others that cover it. Without a user there is nothing personal. With `as_of`, what it
        would have been told at that time; raises `Gone` where some of that has been erased or
        purged since.
        """
        if limit < 0:
            raise Invalid(f"limit is {limit} and must not be negative.", field="limit")
        if limit == 0 or (personal and subject.user_id is None):
            return []
        if as_of is None:
            found = await self._storage.read(
                subject.organization_id, views.recent, subject, personal=personal, most=limit
            )
        else:
            found = await self._storage.read(
                subject.organization_id, past.recent, subject, as_of, personal=personal, most=limit
            )
        return await self._guard.memories(subject, found)

    def hint_about(self, ref: ResourceRef | None) -> str | None:
        """Why no run is ever told of what is about that row, where its kind alone says so."""
        return None if ref is None else self._guard.hint([ref])

    def _hinted(self, memory: Memory) -> Memory:
        hint = self._guard.hint(memory.subject_refs)
        return memory if hint is None else memory.model_copy(update={"hint": hint})

    async def _may_be_told(self, who: Principal, memory: Memory) -> bool:
        return not is_for_a_run(who) or bool(await self._guard.memories(subject_of(who), [memory]))

    async def _write(
        self,
        organization: UUID,
        change: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        done = await write_again(self._storage, organization, change, *args, **kwargs)
        announce(self._changed, organization)
        return done

    async def _note_drop(
        self, organization: UUID, who: Principal, run_id: UUID | None, full: Conflict
    ) -> None:
        """Tell the run's log; that this fails must not hide why nothing was stored."""
        if run_id is None:
            return
        try:
            await self._storage.write(
                organization, capture.note, who, run_id, capture.DROPPED, reason=full.code
            )
        except Exception:
            logger.exception("The log of run %s could not be told of a dropped memory.", run_id)


def _author(
    who: Principal, run_id: UUID | None = None, conversation_id: UUID | None = None
) -> Author:
    return Author(
        user_id=who.user_id, agent_id=who.agent_id, run_id=run_id, conversation_id=conversation_id
    )


def _listing(wanted: Wanted) -> str:
    """The name of a list, whose cursors are of use to no list in another order or of other rows."""
    then = "" if wanted.as_of is None else f" as of {wanted.as_of.timestamp()}"
    order = ", oldest first" if wanted.oldest_first else ""
    status = "" if wanted.status is MemoryStatus.ACTIVE else f"{wanted.status} "
    return f"{status}memories{then}{order}"
