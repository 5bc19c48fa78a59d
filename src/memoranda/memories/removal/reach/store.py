"""The SQL of how far a removal reaches: chains that are one fact, proposals about them, and what they say."""

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeAlias
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
        *(m.version, m.live, m.pinned, m.recorded_at, m.created_at, r.continued_by_id),
    )
    .select_from(_AT_HEAD)
    .where(one_of(m.id, "ids"))
    .order_by(m.id)
)
# A tombstone says where its memory went on, a first revision what it continues: at any version
# of a chain, since one that has ended may be used again.
LINKS: Final = select(r.memory_id, r.continues_id, r.continued_by_id, r.created_at).where(
    or_(r.continued_by_id.is_not(None), r.continues_id.is_not(None)),
    or_(
        one_of(r.memory_id, "ids"), one_of(r.continued_by_id, "ids"), one_of(r.continues_id, "ids")
    ),
)
LIVES: Final = (
    select(r.memory_id, m.user_id, m.expires_at, r.text, r.continued_by_id, r.created_at)
    .select_from(memories.join(memory_revisions, r.memory_id == m.id))
    .where(one_of(m.id, "ids"))
    .order_by(m.id, r.version)
)
SAID: Final = select(r.memory_id, r.text).where(one_of(r.memory_id, "ids"), r.text.is_not(None))
FORGOTTEN: Final = (
    select(m.id, m.audience, r.text)
    .select_from(memories.join(memory_revisions, r.memory_id == m.id))
    .where(~m.live, r.text.is_not(None), one_of(m.audience, "audiences"))
)
PROPOSALS: Final = (
    select(
        *(p.id, p.user_id, p.agent_id, p.space, p.audience, p.subject_key),
        *(p.status, p.text, p.folded_digest, p.memory_id, p.merges, p.decided_at, p.expires_at),
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


Mark: TypeAlias = tuple[str, str | bytes]
"""A text's digest or a key, with the audience in which it stands."""


class Extent(Enum):
    """Which memories and proposals go with a memory that goes."""

    ALONE = "it alone, with the proposals that became it or would merge it"
    NOT_GIVEN = (
        "also what it was before, what it went on as but lives for others, and what says the same"
    )
    ONE_FACT = "also all that it was before or went on as, and what says the same"


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
    chains, same = _chains(tx, start, extent), set[Mark]()
    said = tx.all(SAID, ids=list(chains))
    if extent is not Extent.ALONE:
        same = _marks(chains, said)
        twins = _forgotten(tx, same) - chains.keys()
        chains |= {row.id: row for row in tx.all(CHAINS, ids=sorted(twins))}
        said = tx.all(SAID, ids=list(chains))
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


def _chains(tx: Transaction, start: Start, extent: Extent) -> dict[UUID, Row]:
    """Those at the start, and what links lead to; also by way of what is purged by now.

    Of what another memory came from, only the past is followed: where it went on
    otherwise, that was another fact.
    """
    back, ahead = set(start.memory_ids), set(start.memory_ids)
    followed: tuple[set[UUID], set[UUID]] = (set(), set())
    while extent is not Extent.ALONE and followed != (back, ahead):
        new = (back - followed[0]) | (ahead - followed[1])
        followed = (set(back), set(ahead))
        onward: list[tuple[UUID, Row]] = []
        for link in tx.all(LINKS, ids=sorted(new)):
            before, after = link.memory_id, link.continued_by_id
            if link.continues_id is not None:
                before, after = link.continues_id, link.memory_id
            if after in back:
                back.add(before)
            if before in ahead:
                onward.append((after, link))
        if extent is Extent.ONE_FACT:
            ahead |= {after for after, _ in onward}
            back |= {after for after, _ in onward}
        else:
            ahead |= _ended(tx, onward, start.user_id)
    return {row.id: row for row in tx.all(CHAINS, ids=sorted(back | ahead))}


def _ended(tx: Transaction, onward: Iterable[tuple[UUID, Row]], user_id: UUID | None) -> set[UUID]:
    """Of what memories went on as, that which does not live for others to this day."""
    lives: dict[UUID, list[Row]] = {}
    arrivals = list(onward)
    for row in tx.all(LIVES, ids=sorted({after for after, _ in arrivals})):
        lives.setdefault(row.memory_id, []).append(row)
    return {
        after
        for after, link in arrivals
        if after not in lives
        or lives[after][0].user_id == user_id
        or (lives[after][0].expires_at or tx.now) < tx.now
        or not _lives_on([row for row in lives[after] if row.created_at >= link.created_at])
    }


def _lives_on(life: Sequence[Row]) -> bool:
    """Whether these revisions are one life: it has not ended, or only to be restored."""
    said = None
    for row, following in zip(life, [*life[1:], None], strict=True):
        if row.text is not None:
            said = row.text
        elif row.continued_by_id is not None or following is None or following.text != said:
            return False
    return True


def _forgotten(tx: Transaction, same: Collection[Mark]) -> set[UUID]:
    """Forgotten memories that once said one of these texts in its audience."""
    audiences = sorted({audience for audience, _ in same})
    return {
        row.id
        for row in tx.all(FORGOTTEN, audiences=audiences)
        if (row.audience, digest(fold(row.text))) in same
    }


def _marks(chains: dict[UUID, Row], said: Iterable[Row]) -> set[Mark]:
    """The texts and keys of chains, each with the audience in which it stands."""
    texts = {(chains[row.memory_id].audience, digest(fold(row.text))) for row in said}
    keys = {(row.audience, row.subject_key) for row in chains.values() if row.subject_key}
    return texts | keys


def _marks_of(proposal: Row) -> set[Mark]:
    """Likewise of a proposal."""
    marks = (proposal.folded_digest, proposal.subject_key)
    return {(proposal.audience, mark) for mark in marks if mark is not None}
