"""The SQL of how far a removal reaches: chains that are one fact, proposals about them, and what they say."""

from collections.abc import Collection, Iterable
from enum import Enum
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, or_, select

from memoranda.memories.candidate import digest
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import memories, memory_proposals, memory_revisions
from memoranda.words.text import fold

m, r, p = memories.c, memory_revisions.c, memory_proposals.c

_AT_HEAD = memories.join(memory_revisions, and_(r.memory_id == m.id, r.id == m.head_id))
CHAINS: Final = (
    select(
        *(m.id, m.user_id, m.agent_id, m.space, m.audience, m.subject_key),
        *(m.version, m.live, m.pinned, m.recorded_at, r.continued_by_id),
    )
    .select_from(_AT_HEAD)
    .where(one_of(m.id, "ids"))
    .order_by(m.id)
)
# What was moved or merged away ends in a tombstone that says where it went on.
WENT_INTO: Final = (
    select(m.id).select_from(_AT_HEAD).where(~m.live, one_of(r.continued_by_id, "ids"))
)
SAID: Final = select(r.memory_id, r.text).where(one_of(r.memory_id, "ids"), r.text.is_not(None))
PROPOSALS: Final = (
    select(
        *(p.id, p.user_id, p.agent_id, p.space, p.audience, p.subject_key),
        *(p.status, p.text, p.folded_digest, p.memory_id, p.merges, p.decided_at),
    )
    .where(
        or_(
            one_of(p.id, "proposals"),
            p.user_id == bindparam("user"),
            one_of(p.memory_id, "ids"),
            p.kind == "merge",
            and_(p.status != "accepted", one_of(p.audience, "audiences")),
        )
    )
    .order_by(p.id)
)
# In the order of ids, and proposals before memories, as whoever decides on a proposal takes them.
HOLD_PROPOSALS: Final = select(p.id).where(one_of(p.id, "ids")).order_by(p.id).with_for_update()
HOLD_MEMORIES: Final = select(m.id).where(one_of(m.id, "ids")).order_by(m.id).with_for_update()


class Extent(Enum):
    """Which memories and proposals go with a memory that goes."""

    ALONE = "it alone, with the proposals that became it or would merge it"
    ITS_PAST = "also what it was moved or merged from, and proposals that say the same"
    ONE_FACT = "also what it was moved or merged into"


class Start(NamedTuple):
    """What a removal begins with: memories, proposals, and all proposals for a user."""

    memory_ids: Collection[UUID] = ()
    proposal_ids: Collection[UUID] = ()
    user_id: UUID | None = None


class Reach(NamedTuple):
    """The chains and proposals that a removal reaches, in the order of their ids, and all that they say."""

    memories: list[Row]
    proposals: list[Row]
    texts: frozenset[str]

    @property
    def ids(self) -> tuple[list[UUID], list[UUID]]:
        """Those of the memories, and those of the proposals."""
        return [row.id for row in self.memories], [row.id for row in self.proposals]


def reach(tx: Transaction, start: Start, extent: Extent) -> Reach:
    """Look how far the removal reaches just now."""
    chains = _chains(tx, start.memory_ids, extent)
    said = tx.all(SAID, ids=list(chains))
    same = set() if extent is Extent.ALONE else _marks(chains, said)
    proposals = [
        row
        for row in tx.all(
            PROPOSALS,
            ids=list(chains),
            proposals=start.proposal_ids,
            user=start.user_id,
            audiences=sorted({audience for audience, _ in same}),
        )
        if row.id in start.proposal_ids
        or (start.user_id is not None and row.user_id == start.user_id)
        or names(row, chains)
        or not same.isdisjoint(_marks_of(row))
    ]
    texts = {row.text for row in (*said, *proposals) if row.text is not None}
    return Reach(sorted(chains.values(), key=lambda row: row.id), proposals, frozenset(texts))


def hold(tx: Transaction, start: Start, extent: Extent) -> Reach:
    """Reach as far as it goes once all of it is held, so that until the commit nothing more comes to it."""
    found = reach(tx, start, extent)
    while True:
        memory_ids, proposal_ids = found.ids
        tx.all(HOLD_PROPOSALS, ids=proposal_ids)
        tx.all(HOLD_MEMORIES, ids=memory_ids)
        held = reach(tx, start, extent)
        if held.ids == found.ids:
            return held
        found = held


def names(proposal: Row, memory_ids: Collection[UUID]) -> bool:
    """Whether a proposal became one of these memories, or would merge one of them."""
    merged = (UUID(each["id"]) for each in proposal.merges)
    return proposal.memory_id in memory_ids or any(each in memory_ids for each in merged)


def _chains(tx: Transaction, memory_ids: Iterable[UUID], extent: Extent) -> dict[UUID, Row]:
    chains: dict[UUID, Row] = {}
    asked: set[UUID] = set()
    while new := set(memory_ids) - asked:
        asked |= new
        found = tx.all(CHAINS, ids=sorted(new))
        chains |= {row.id: row for row in found}
        links: set[UUID] = set()
        if extent is not Extent.ALONE:
            links |= {row.id for row in tx.all(WENT_INTO, ids=sorted(new))}
        if extent is Extent.ONE_FACT:
            links |= {row.continued_by_id for row in found if row.continued_by_id is not None}
        memory_ids = links
    return chains


def _marks(chains: dict[UUID, Row], said: Iterable[Row]) -> set[tuple[str, str | bytes]]:
    """The texts and keys of chains, each with the audience in which it stands."""
    texts = {(chains[row.memory_id].audience, digest(fold(row.text))) for row in said}
    keys = {(row.audience, row.subject_key) for row in chains.values() if row.subject_key}
    return texts | keys


def _marks_of(proposal: Row) -> set[tuple[str, str | bytes]]:
    """Likewise of a proposal."""
    marks = (proposal.folded_digest, proposal.subject_key)
    return {(proposal.audience, mark) for mark in marks if mark is not None}
