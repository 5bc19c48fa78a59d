"""What a person reads before deciding: the memory that a waiting call is about, as it stands now."""

from collections.abc import Sequence

from memoranda.access.models import Principal, Role
from memoranda.memories.audience import Audience, may_know
from memoranda.memories.models import Memory
from memoranda.memories.views import store as views
from memoranda.storage import Transaction
from memoranda.tools.models import Approval, ApprovalStatus


def shown(tx: Transaction, who: Principal, found: Sequence[Approval]) -> list[Approval]:
    """The approvals, those that wait with their memories, as far as a person may know these.

    An agent decides nothing, and is told nothing more of what it asked for.
    """
    waiting = [each.memory_id for each in found if each.status is ApprovalStatus.WAITING]
    ids = [memory_id for memory_id in waiting if memory_id is not None]
    if not ids or who.role is Role.AGENT or who.space is not None:
        return list(found)
    there = {each.id: each for each in views.live_ones(tx, ids) if _may(who, each)}
    return [
        each.model_copy(update={"memory": there[each.memory_id]})
        if each.status is ApprovalStatus.WAITING and each.memory_id in there
        else each
        for each in found
    ]


def _may(who: Principal, memory: Memory) -> bool:
    return may_know(who, Audience(memory.user_id, memory.agent_id, memory.space))
