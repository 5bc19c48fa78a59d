"""What a person may decide about proposals, within the transaction that does it."""

from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.memories import store as memories
from memoranda.memories.audience import may_change, may_know
from memoranda.memories.candidate import Author, between_ends_of, check_secrets
from memoranda.memories.counts import store as counts
from memoranda.memories.errors import NotRestorable
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory, Origin, Proposal, ProposalKind, ProposalStatus
from memoranda.memories.proposals import inbox, store
from memoranda.memories.proposals.merging import merge
from memoranda.memories.views import store as views
from memoranda.memories.ways import Ways
from memoranda.storage import Row, Transaction
from memoranda.words.errors import Conflict, Refused


def get(tx: Transaction, who: Principal, proposal_id: UUID) -> Proposal:
    """A proposal that `who` may know. Raises `NotFound`."""
    return store.shown(_seen(who, proposal_id, store.find(tx, proposal_id)))


def accept(
    tx: Transaction, who: Principal, proposal_id: UUID, text: str | None, ways: Ways
) -> Memory:
    """Let a waiting proposal, with `text` in its text's place, become the memory."""
    row = _decidable(tx, who, proposal_id)
    if row.status == ProposalStatus.ACCEPTED:
        raise _accepted_already(row)
    if row.status == ProposalStatus.DISCARDED:
        raise _refusal(row, "was discarded already: restore it, and it becomes a memory")
    if inbox.has_expired(tx, row):
        raise _refusal(row, "would have expired by now: discard it, or remember it anew")
    memory = _become(tx, who, row, text, ways, action="accepted")
    counts.bump(tx, ways.limits, waiting=-1)
    return memory


def discard(tx: Transaction, who: Principal, proposal_id: UUID, ways: Ways) -> Proposal:
    """Keep a waiting proposal from becoming a memory."""
    row = _decidable(tx, who, proposal_id)
    if row.status == ProposalStatus.ACCEPTED:
        raise _accepted_already(row)
    if row.status == ProposalStatus.DISCARDED:
        raise _refusal(row, "was discarded already")
    inbox.discard(tx, row, who)
    discarded = get(tx, who, proposal_id)
    inbox.tell(tx, store.audience_of(row), proposal_id, "discarded")
    counts.bump(tx, ways.limits, waiting=-1, discarded=1)
    return discarded


def restore(tx: Transaction, who: Principal, proposal_id: UUID, ways: Ways) -> Memory:
    """Let a discarded proposal become the memory after all."""
    purged = views.purged(tx, proposal_id)
    if purged is not None and may_know(who, purged):
        raise _too_late(proposal_id)
    row = _decidable(tx, who, proposal_id)
    if row.status == ProposalStatus.ACCEPTED:
        raise _accepted_already(row)
    until = store.kept_until(row)
    if until is None:
        raise _refusal(row, "still waits: accept it")
    if until <= tx.now:
        raise _too_late(proposal_id)
    _check_key_is_free(tx, row)
    memory = _become(tx, who, row, None, ways, action="restored")
    counts.bump(tx, ways.limits, discarded=-1)
    return memory


def _become(
    tx: Transaction, who: Principal, row: Row, text: str | None, ways: Ways, *, action: str
) -> Memory:
    """What the proposal says, appended to the chain that there is by now; a new chain gets its id."""
    by = Author(user_id=who.user_id, agent_id=who.agent_id)
    said = store.candidate_of(row)
    # It may have waited since before credentials were known, or known of this kind.
    check_secrets(text or said.text, said.title, said.category, said.tags)
    corrected = None if text is None else between_ends_of(said.text, text, ways.limits.text_chars)
    if corrected is not None and corrected != said.text:
        # What a person corrected is the person's to answer for; where it came from stays.
        said = said._replace(
            text=corrected,
            author=said.author._replace(origin=Origin.USER, user_id=who.user_id, agent_id=None),
        )
    if row.kind == ProposalKind.MERGE:
        said = said._replace(author=by._replace(origin=Origin.CONSOLIDATION))
        members = store.members_of(row)
        memory = merge(tx, members, said, ways, action=action, decided_by=by)
    else:
        memory = memories.remember(tx, said, ways, memory_id=row.id, action=action, decided_by=by)
    store.accept(tx, row.id, who.user_id, memory.id)
    return memory


def _decidable(tx: Transaction, who: Principal, proposal_id: UUID) -> Row:
    """The proposal, held. Raises `NotFound`, and `Refused` for one that the caller may only read."""
    row = _seen(who, proposal_id, store.hold(tx, proposal_id))
    if not may_change(who, store.audience_of(row)):
        raise Refused("A member decides for its own user alone. An owner may decide this.")
    return row


def _seen(who: Principal, proposal_id: UUID, row: Row | None) -> Row:
    """An agent sees what it proposed itself, and everybody what the memory would be known to."""
    if (
        row is None
        or not may_know(who, store.audience_of(row))
        or (who.role is Role.AGENT and row.author_agent_id != who.agent_id)
    ):
        raise store.unknown_proposal(proposal_id)
    return row


def _check_key_is_free(tx: Transaction, row: Row) -> None:
    """A proposal that comes back replaces nothing that is said by now."""
    if row.subject_key is None or row.kind == ProposalKind.MERGE:
        return
    held = heads.held_by_key(tx, store.audience_of(row).spelled, row.subject_key)
    if held is not None and heads.head_of(held).holds(tx.now):
        raise Conflict(
            f"Memory {held.id} stands under this attribute by now. "
            f"Change that one, or forget it and restore proposal {row.id} then.",
            memory_id=str(held.id),
            version=held.version,
        )


def _accepted_already(row: Row) -> Conflict:
    return Conflict(
        f"Proposal {row.id} was accepted already: it is memory {row.memory_id}.",
        proposal_id=str(row.id),
        memory_id=str(row.memory_id),
    )


def _refusal(row: Row, how: str) -> Conflict:
    return Conflict(f"Proposal {row.id} {how}.", proposal_id=str(row.id))


def _too_late(proposal_id: UUID) -> NotRestorable:
    return NotRestorable(
        f"Proposal {proposal_id} was discarded too long ago, or has expired since. Remember it anew.",
        proposal_id=str(proposal_id),
    )
