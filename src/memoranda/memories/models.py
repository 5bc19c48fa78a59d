"""The values of memories: a memory as it stands, its revisions, proposals, and what was found."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.words.page import Page
from memoranda.words.ref import ResourceRef

_set: Final = object.__setattr__


class MemoryStatus(StrEnum):
    """Where a memory stands for the people who see it."""

    ACTIVE = "active"
    FORGOTTEN = "forgotten"


class Origin(StrEnum):
    """How a revision came about."""

    USER = "user"
    AGENT = "agent"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def kept(cls, fields: dict[str, Any]) -> Self:
        """The value of all these fields, in their order, as they were checked before they were kept.

        A page of fifty spends more time on being checked again than on being read.
        """
        made = cls.__new__(cls)
        _set(made, "__dict__", fields)
        _set(made, "__pydantic_fields_set__", set(fields))
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


class Memory(_Value):
    """A memory as its newest revision has it. `id` names the whole chain.

    `created_at` is the time of the first revision and `recorded_at` of the newest;
    `version` counts revisions from 1. `uses` counts the runs that were given it, and
    `used_at` is the last time. `subject_refs` names the row that it is about, if any. One that a
    workflow's node keeps for itself names its `space`, and no run knows it. `hint` says where no run is
    ever told of it, and why. A forgotten memory says until when it may be restored,
    and its text is what it said before. `branch_left` says that the run that wrote it is on a branch
    of its chat that was left: what was said there may not hold any more.
    """

    id: UUID
    user_id: UUID | None
    agent_id: UUID | None
    space: str | None = None
    subject_key: str | None
    status: MemoryStatus
    version: int
    text: str | None
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    pinned: bool
    origin: Origin
    author_user_id: UUID | None
    author_agent_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    expires_at: datetime | None
    created_at: datetime
    recorded_at: datetime
    uses: int = 0
    used_at: datetime | None = None
    subject_refs: tuple[ResourceRef, ...] = ()
    restorable_until: datetime | None = None
    hint: str | None = None
    branch_left: bool = False


class Revision(_Value):
    """One state of a memory, never changed after. A tombstone has `forgotten_at` and no text.

    A memory that was moved or merged away ends in a tombstone whose `continued_by_id` names
    the memory that says it now; the first revision of a moved memory has `continues_id`.
    """

    id: UUID
    memory_id: UUID
    version: int
    supersedes_id: UUID | None
    text: str | None
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    expires_at: datetime | None
    origin: Origin
    author_user_id: UUID | None
    author_agent_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    forgotten_at: datetime | None
    continues_id: UUID | None
    continued_by_id: UUID | None
    created_at: datetime


class ProposalKind(StrEnum):
    """What accepting a proposal does: add a memory, or merge several into one."""

    MEMORY = "memory"
    MERGE = "merge"


class ProposalStatus(StrEnum):
    """Where a proposal stands."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    DISCARDED = "discarded"


class MergedMemory(_Value):
    """A memory that a merge would take away, at the version that the merge was made from."""

    id: UUID
    version: int


class Proposal(_Value):
    """What an agent or tidy-up would have remembered, until a person decides.

    `memory_id` is the memory that an accepted proposal became, and of a merge the one
    that stays. An accepted proposal has no text: its memory says it. What was proposed in a
    space names it, and is remembered there. `replaces` is, for the person who decides, the memory
    under the same attribute, as it stands now.
    """

    id: UUID
    kind: ProposalKind
    status: ProposalStatus
    user_id: UUID | None
    agent_id: UUID | None
    space: str | None = None
    subject_key: str | None
    text: str | None
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    expires_at: datetime | None
    merges: tuple[MergedMemory, ...]
    memory_id: UUID | None
    origin: Origin
    author_user_id: UUID | None
    author_agent_id: UUID | None
    run_id: UUID | None
    conversation_id: UUID | None
    decided_by: UUID | None
    decided_at: datetime | None
    created_at: datetime
    subject_refs: tuple[ResourceRef, ...] = ()
    restorable_until: datetime | None = None
    replaces: Memory | None = None


class Proposed(_Value):
    """What became of a proposal: it waits, or it is known already, or there was no room for it.

    `known` names the live memory or the waiting proposal that says the same, and `discarded` what
    the same agent proposed and a person discarded within seven days.
    """

    outcome: Literal["waiting", "known", "dropped", "discarded"]
    proposal: Proposal | None = None
    memory: Memory | None = None


class MemoryStats(_Value):
    """How many memories there are, of how many that there may be, and whether meaning is searched."""

    active: int
    proposed: int
    forgotten: int
    pinned: int
    dropped: int
    capacity: int
    proposal_capacity: int
    pin_capacity: int
    semantic: bool
    model: str | None
    unembedded: int


class Match(_Value):
    """Why a memory was found.

    `score` is its relevance, 0 to 1. `meaning` is the part of the embedder, None where it
    did not answer or found it far away; `words` are the query's words that it holds;
    `literal` says that it holds the whole query, letter for letter but for case.
    """

    score: float
    meaning: float | None
    words: tuple[str, ...]
    literal: bool


class FoundMemory(_Value):
    """A memory, and why it was found."""

    memory: Memory
    match: Match


class MemoryPage(Page[Memory]):
    """A page of memories.

    `hidden` counts, for who reads everything and names a user or agent, how many of the page are
    kept from their runs: they are about rows that are not there.
    """

    hidden: int = 0


class MemorySearch(_Value):
    """What a search found, best first. `semantic` is False where no embedder answered.

    `hidden` counts what was found too and is kept from runs, as that of `MemoryPage`.
    """

    results: tuple[FoundMemory, ...]
    semantic: bool
    model: str | None
    hidden: int = 0


class RecalledMemory(_Value):
    """A memory in a recall's block. A pinned one needs no match. `branch_left` is as of a memory."""

    id: UUID
    version: int
    text: str
    pinned: bool
    match: Match | None
    branch_left: bool = False


class Recall(_Value):
    """What a run is given of its memories: `block` goes into its prompt as it stands.

    `tokens` is the block's own estimate. `dropped` counts the memories that were near enough
    and had no room. Without a block, `outcome` says why: recall is off, too slow, or failed.
    """

    block: str | None
    memories: tuple[RecalledMemory, ...]
    tokens: int
    dropped: int
    outcome: Literal["found", "empty", "off", "timeout", "failed"]
    semantic: bool
    model: str | None
