"""What comes into the inbox, decided within the transaction that puts it there."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.memories import capture
from memoranda.memories.audience import Audience, may_change
from memoranda.memories.candidate import Author, Candidate, Mark, check_future, mark_of
from memoranda.memories.changes.store import EVENT
from memoranda.memories.counts import store as counts
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory, Origin, Proposal, ProposalStatus, Proposed
from memoranda.memories.proposals import store
from memoranda.memories.proposals.tidy import Merge
from memoranda.memories.views import store as views
from memoranda.memories.ways import Ways
from memoranda.runs.events.store import record_event
from memoranda.runs.store import record_activity
from memoranda.storage import Row, Transaction
from memoranda.storage.errors import LostRace
from memoranda.words.errors import NotFound

DISCARDED_FOR: Final = timedelta(days=7)
"""How long an agent is told of what a person discarded, where it proposes the same again."""
INBOX: Final = "proposals"
"""What everybody holds who adds to the inbox, so that it never has more than it may."""


def propose(tx: Transaction, who: Principal, candidate: Candidate, ways: Ways) -> Proposed:
    """Let it wait, unless it is known already or there is no room; and tell the log of its run.

    What has expired takes no room, and nothing is known by it. What a person discarded is not put
    before people again by the same agent within `DISCARDED_FOR`.
    """
    check_future(tx.now, candidate.expires_at)
    tx.lock(INBOX)
    run_id, mark = candidate.author.run_id, mark_of(candidate.text)
    waits = counts.counts(tx).waiting
    twin = store.waiting_twin(tx, candidate, mark)
    expired = twin is not None and has_expired(tx, twin)
    lapsed = store.lapse(tx) if expired or waits >= ways.limits.waiting else 0
    memory = _living(tx, candidate, mark)
    if memory is not None:
        answer = Proposed(outcome="known", memory=memory)
        capture.note(tx, who, run_id, "known", memory_id=str(memory.id))
    elif twin is not None and not expired:
        answer = Proposed(outcome="known", proposal=store.shown(twin))
        capture.note(tx, who, run_id, "known", proposal_id=str(twin.id))
    elif (gone := _discarded(tx, who, candidate, mark)) is not None:
        answer = Proposed(outcome="discarded", proposal=store.shown(gone))
        capture.note(tx, who, run_id, "discarded", proposal_id=str(gone.id))
    elif waits - lapsed >= ways.limits.waiting:
        answer = Proposed(outcome="dropped")
        capture.note(tx, who, run_id, capture.DROPPED, reason="proposals_full")
    else:
        added = store.add(tx, candidate, mark)
        answer = Proposed(outcome="waiting", proposal=added)
        capture.note(tx, who, run_id, "proposed", proposal_id=str(added.id))
        tell(tx, candidate.audience, added.id, "proposed")
    dropped, waiting = answer.outcome == "dropped", answer.outcome == "waiting"
    if dropped or waiting or lapsed:
        counts.bump(
            tx, ways.limits, waiting=waiting - lapsed, discarded=lapsed, dropped=int(dropped)
        )
    return answer


def propose_merges(
    tx: Transaction, who: Principal, found: Iterable[tuple[Audience, Merge]], ways: Ways
) -> list[Proposal]:
    """Let these merges wait, as far as there is room; first discard those that can't be accepted any more.

    A memory is in one waiting merge at a time, and what a person discarded is not
    proposed again within 30 days as long as nothing in it has changed.
    """
    tx.lock(INBOX)
    waiting = store.merges(tx, ProposalStatus.WAITING)
    stale = [row for row in waiting if not _stands(tx, store.versions_of(row))]
    stale = [row for row in stale if may_change(who, store.audience_of(row)) and _hold(tx, row)]
    for row in stale:
        discard(tx, row, who)
    refused = [store.versions_of(row) for row in store.merges(tx, ProposalStatus.DISCARDED)]
    taken = {
        memory_id for row in waiting if row not in stale for memory_id in store.versions_of(row)
    }
    found = list(found)
    room = ways.limits.waiting - counts.counts(tx).waiting + len(stale)
    lapsed = store.lapse(tx) if len(found) > room else 0
    author = Author(Origin.CONSOLIDATION, user_id=who.user_id)
    made: list[Proposal] = []
    for audience, each in found:
        joined = {held.id: held.version for held in (each.survivor, *each.others)}
        new = joined not in refused and taken.isdisjoint(joined)
        if len(made) < room + lapsed and new and _stands(tx, joined):
            said = _said_by(each, audience, author)
            made.append(store.add(tx, said, mark_of(said.text), each))
    for row in stale:
        tell(tx, store.audience_of(row), row.id, "discarded")
    for proposal in made:
        tell(tx, Audience(proposal.user_id, proposal.agent_id), proposal.id, "proposed")
    gone = len(stale) + lapsed
    if made or gone:
        counts.bump(tx, ways.limits, waiting=len(made) - gone, discarded=gone)
    return made


def discard(tx: Transaction, row: Row, who: Principal) -> None:
    """Discard a proposal and record who did; telling and counting are for the caller to do last."""
    store.discard(tx, row.id, who.user_id)
    record_activity(
        tx,
        "memory_fact_discarded",
        subject_id=row.id,
        user_id=who.user_id,
        agent_id=who.agent_id,
    )


def tell(tx: Transaction, audience: Audience, proposal_id: UUID, action: str) -> None:
    """Tell listeners what became of a proposal; late in the transaction, as every event."""
    record_event(tx, EVENT, **audience._asdict(), proposal_id=str(proposal_id), action=action)


def has_expired(tx: Transaction, row: Row) -> bool:
    """Whether what a proposal says would have been forgotten by itself by now."""
    return row.expires_at is not None and row.expires_at <= tx.now


def _living(tx: Transaction, candidate: Candidate, mark: Mark) -> Memory | None:
    """The live memory that says this already, as `remember` would refuse it."""
    if candidate.subject_key is None:
        row = heads.holder_of(tx, candidate.audience, mark)
    else:
        row = heads.held_by_key(tx, candidate.audience.spelled, candidate.subject_key)
    if row is None or not heads.head_of(row).holds(tx.now):
        return None
    try:
        memory = views.live_memory(tx, row.id)[1]
    except NotFound:  # it was met without a lock, and forgotten since
        raise LostRace from None
    same = candidate.subject_key is None or memory.text == candidate.text
    return memory if same else None


def _discarded(tx: Transaction, who: Principal, candidate: Candidate, mark: Mark) -> Row | None:
    """What this agent proposed in the same words and a person discarded a short while ago."""
    if who.role is not Role.AGENT:
        return None
    return store.discarded_twin(tx, candidate, mark, tx.now - DISCARDED_FOR)


def _hold(tx: Transaction, row: Row) -> bool:
    """Hold a waiting proposal; False where somebody has decided meanwhile."""
    held = store.hold(tx, row.id)
    return held is not None and held.status == ProposalStatus.WAITING


def _stands(tx: Transaction, versions: Mapping[UUID, int]) -> bool:
    """Whether these memories still say what they said."""
    return store.versions(tx, list(versions)) == versions


def _said_by(merge: Merge, audience: Audience, author: Author) -> Candidate:
    return Candidate(
        audience=audience,
        subject_key=merge.survivor.subject_key,
        text=merge.text,
        title=merge.title,
        category=merge.category,
        tags=merge.tags,
        expires_at=merge.survivor.expires_at,
        author=author,
    )
