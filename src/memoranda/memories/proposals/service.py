"""The verbs of proposals: propose, list, accept, discard, restore, and tidy up."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for
from memoranda.access.store import check_subject
from memoranda.memories.announce import Changed, announce, nobody
from memoranda.memories.audience import Audience, audience_of, sees_everything
from memoranda.memories.candidate import (
    Author,
    candidate_input,
    memory_text,
)
from memoranda.memories.models import Memory, Origin, Proposal, ProposalStatus, Proposed
from memoranda.memories.proposals import deciding, inbox, replaced, store
from memoranda.memories.proposals.tidy import Held, Merge, Nearness, merges
from memoranda.memories.races import write_again
from memoranda.memories.service import MOST_LISTED
from memoranda.memories.ways import DEFAULT_WAYS, Ways
from memoranda.search.vectors.service import Vectors
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, choice_input
from memoranda.words.page import Page, cut_page
from memoranda.words.ref import ResourceRef

P = ParamSpec("P")
T = TypeVar("T")

MOST_TIDIED: Final = 20_000
"""The newest memories of an organization that one tidy-up looks at."""


@checks_shapes
class Proposals:
    """What would be remembered, and waits until a person accepts or discards it.

    Nothing that reads memories can meet a proposal. `changed` is called with the
    organization after the commit of each change.
    """

    def __init__(
        self,
        storage: Storage,
        ways: Ways = DEFAULT_WAYS,
        changed: Changed = nobody,
        vectors: Vectors | None = None,
    ) -> None:
        self._storage = storage
        self._ways = ways
        self._changed = changed
        self._vectors = vectors

    async def propose(
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
        run_id: UUID | None = None,
        conversation_id: UUID | None = None,
    ) -> Proposed:
        """Propose to keep `text`, with the same meaning of everything as `Memories.remember`.

        The outcome is `waiting`; or `known`, with the live memory or the waiting proposal
        that says it already; or `dropped`, where 200 wait: then it is counted, and nothing is
        kept; or `discarded`, where a person discarded the same of the same agent, whose key asks,
        within seven days. A proposal whose `expires_at` has passed waits no more and takes no room. The log
        of the run says which. What an agent's key proposes, or what is proposed for
        an agent, counts as written by that agent. Raises `Invalid`, `OverLimit` and
        `SecretFound` with the field, `NotFound` for an unknown user or agent, and `Refused`.
        """
        organization = organization_for(who, Permission.PROPOSE_MEMORIES)
        audience = audience_of(who, agent_id, user_id)
        candidate = candidate_input(
            organization,
            audience,
            _author(who, audience, run_id, conversation_id),
            text=text,
            text_chars=self._ways.limits.text_chars,
            title=title,
            category=category,
            tags=tags,
            expires_at=expires_at,
            attribute=attribute,
            about=about,
        )
        try:
            return await self._write(organization, inbox.propose, who, candidate, self._ways)
        except ConstraintViolated:
            # The usual reason is a user or agent that the organization does not have.
            await self._storage.read(
                organization, check_subject, user_id=audience.user_id, agent_id=audience.agent_id
            )
            raise

    async def page(
        self,
        who: Principal,
        *,
        status: ProposalStatus = ProposalStatus.WAITING,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Proposal]:
        """Proposals of one status that the caller may know, the newest first, at most `limit` (1 to 200).

        An agent's key lists what that agent proposed. What was discarded is listed as
        long as it may be restored, and what waits until it expires. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_MEMORIES)
        check_count("limit", limit, most=MOST_LISTED)
        wanted = choice_input("status", status, ProposalStatus)
        listing = f"{wanted} proposals"
        found = await self._storage.read(
            organization,
            replaced.page,
            who,
            wanted,
            read_cursor(listing, cursor),
            limit + 1,
            everything=sees_everything(who),
        )
        return cut_page(listing, found, limit)

    async def get(self, who: Principal, proposal_id: UUID) -> Proposal:
        """A proposal, whatever became of it. Raises `NotFound`, also for one that is not for the caller."""
        organization = organization_for(who, Permission.READ_MEMORIES)
        return await self._storage.read(organization, replaced.get, who, proposal_id)

    async def accept(self, who: Principal, proposal_id: UUID, *, text: str | None = None) -> Memory:
        """Let a waiting proposal become a memory, with `text` in the place of its own where one is given.

        The memory has the proposal's id, unless it follows in a chain that there is already;
        under its attribute it replaces what is said by now. A merge becomes one
        revision of the memory that stays, in which the others end. Where this raises, the
        proposal still waits: `DuplicateMemory`, `MemoriesFull`, `StaleVersion` or `Conflict`
        where a merged memory has changed or ended, `Conflict` also for what is decided
        already, naming the memory; `NotFound`; `SecretFound`; `Refused` for what the caller may only read, and to agents.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        checked = None if text is None else memory_text(text, self._ways.limits.text_chars)
        return await self._write(
            organization, deciding.accept, who, proposal_id, checked, self._ways
        )

    async def discard(self, who: Principal, proposal_id: UUID) -> Proposal:
        """Discard a waiting proposal; for 30 days it may be restored. Raises as `accept` does."""
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        return await self._write(organization, deciding.discard, who, proposal_id, self._ways)

    async def restore(self, who: Principal, proposal_id: UUID) -> Memory:
        """Let a proposal that was discarded within 30 days become a memory after all.

        Raises `NotRestorable` later, `Conflict` for one that was not discarded and where a
        memory stands under its attribute by now; the rest as `accept` does.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        return await self._write(organization, deciding.restore, who, proposal_id, self._ways)

    async def tidy_up(self, who: Principal) -> list[Proposal]:
        """Propose to merge memories that say the same, and answer what is newly proposed.

        Only memories of one audience that last equally long are joined, and never two that
        differ in a number, a name, a negation or any other word that means something. It
        looks at the newest 20,000 memories, and proposes as much as there is room for. An
        owner's key tidies up everything, a member's what is its user's own. Raises `Refused`.
        """
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        only = who.user_id if who.role is Role.MEMBER else None
        held = await self._storage.read(organization, store.compared, only, MOST_TIDIED)
        nearness = await self._nearness(organization, held)
        found = await asyncio.to_thread(_all_merges, held, nearness)
        return await self._write(organization, inbox.propose_merges, who, found, self._ways)

    async def _nearness(
        self, organization: UUID, held: Mapping[Audience, Sequence[Held]]
    ) -> Nearness | None:
        """The vectors of what these memories say now; None without an embedder."""
        snapshot = await self._vectors.snapshot(organization) if self._vectors else None
        embedder = (
            self._vectors.embedders.of(snapshot.model) if self._vectors and snapshot else None
        )
        if snapshot is None or embedder is None:
            return None
        texts = {each.text_id for some in held.values() for each in some}
        found = zip(snapshot.items, snapshot.texts, snapshot.rows, strict=False)
        vectors = {item_id: row for item_id, text_id, row in found if text_id in texts}
        return Nearness(vectors, embedder.calibration.score)

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


def _all_merges(
    held: Mapping[Audience, Sequence[Held]], nearness: Nearness | None
) -> list[tuple[Audience, Merge]]:
    return [(audience, each) for audience, some in held.items() for each in merges(some, nearness)]


def _author(
    who: Principal, audience: Audience, run_id: UUID | None, conversation_id: UUID | None
) -> Author:
    agent_id = who.agent_id or audience.agent_id
    return Author(
        origin=Origin.USER if agent_id is None else Origin.AGENT,
        user_id=who.user_id,
        agent_id=agent_id,
        run_id=run_id,
        conversation_id=conversation_id,
    )
