"""What a person reads before deciding on a proposal: the memory whose place it would take."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.memories.audience import Audience
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory, Proposal, ProposalKind, ProposalStatus
from memoranda.memories.proposals import deciding, store
from memoranda.memories.views import store as views
from memoranda.storage import Transaction


def page(
    tx: Transaction,
    who: Principal,
    status: ProposalStatus,
    before: UUID | None,
    most: int,
    *,
    everything: bool,
) -> list[Proposal]:
    """Proposals of one status that `who` may know, the newest first."""
    found = store.page(
        tx,
        status,
        before,
        most,
        everything=everything,
        user_id=who.user_id,
        agent_id=who.agent_id if who.role is Role.AGENT else None,
    )
    return _shown(tx, who, found)


def get(tx: Transaction, who: Principal, proposal_id: UUID) -> Proposal:
    """A proposal that `who` may know. Raises `NotFound`."""
    return _shown(tx, who, [deciding.get(tx, who, proposal_id)])[0]


def _shown(tx: Transaction, who: Principal, found: Sequence[Proposal]) -> list[Proposal]:
    """With the memories that stand under their attributes; who may know one may know the other.

    An agent decides nothing, and is told nothing more of what it proposed.
    """
    if who.role is Role.AGENT:
        return list(found)
    return [each.model_copy(update={"replaces": _under(tx, each)}) for each in found]


def _under(tx: Transaction, proposal: Proposal) -> Memory | None:
    key, waits = proposal.subject_key, proposal.status is ProposalStatus.WAITING
    if key is None or not waits or proposal.kind is ProposalKind.MERGE:
        return None
    spelled = Audience(proposal.user_id, proposal.agent_id, proposal.space).spelled
    row = heads.by_key(tx, spelled, key, but=proposal.id)
    if row is None or not heads.head_of(row).holds(tx.now):
        return None
    return views.live_memory(tx, row.id)[1]
