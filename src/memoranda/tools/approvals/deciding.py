"""What a person may decide about a call that waits, within the transaction that does it."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import sees
from memoranda.access.store import check_subject
from memoranda.memories.heads import store as heads
from memoranda.runs.store import record_activity
from memoranda.storage import Row, Transaction
from memoranda.tools import arguments
from memoranda.tools.approvals import showing, store
from memoranda.tools.approvals.refusing import failed, refusal_of
from memoranda.tools.errors import ToolDenied, unknown_tool
from memoranda.tools.models import (
    Answer,
    Approval,
    ApprovalStatus,
    Course,
    Decision,
    Outcome,
    Tool,
    Written,
)
from memoranda.tools.policies.store import decision
from memoranda.tools.receipts.store import answer_late
from memoranda.tools.registry import ToolRegistry
from memoranda.tools.spaces import store as spaces
from memoranda.words.errors import Conflict, MemorandaError, Refused

ALLOWED: Final = "tool_call_approved"
DENIED: Final = "tool_call_denied"


class NotDone(Exception):
    """The call was refused although a person allowed it, so that nothing of it may be kept."""

    def __init__(self, refused: MemorandaError) -> None:
        super().__init__(refused.code)
        self.refused = refused


def get(tx: Transaction, who: Principal, approval_id: UUID) -> Approval:
    """An approval that `who` may know. Raises `NotFound`."""
    found = store.shown(_seen(who, approval_id, store.find(tx, approval_id)))
    return showing.shown(tx, who, [found])[0]


def page(
    tx: Transaction, who: Principal, status: ApprovalStatus, before: UUID | None, most: int
) -> list[Approval]:
    """Approvals of one status that `who` may know, the newest first."""
    return showing.shown(tx, who, store.page(tx, who, status, before, most))


def approve(tx: Transaction, who: Principal, approval_id: UUID, registry: ToolRegistry) -> Approval:
    """Do what waits, as the agent who asked. Raises `NotDone` where that is refused."""
    row = _waiting(tx, who, approval_id)
    try:
        done = _done(tx, row, registry)
    except MemorandaError as refused:
        if refused.retryable:
            raise
        raise NotDone(refused) from refused
    written = done.model_copy(update={"approval_id": row.id})
    return _decided(tx, who, row, ApprovalStatus.APPROVED, written=written, answer=written)


def fail(tx: Transaction, who: Principal, approval_id: UUID, refused: MemorandaError) -> Approval:
    """Note that what a person allowed was refused. Raises as `deny` does."""
    row = _waiting(tx, who, approval_id)
    kept = refusal_of(refused)
    written = failed(kept, row.id, row.memory_id)
    return _decided(tx, who, row, ApprovalStatus.FAILED, written=written, answer=kept)


def deny(tx: Transaction, who: Principal, approval_id: UUID) -> Approval:
    """Let what waits not be done. Raises `NotFound`, and `Conflict` where it is decided already."""
    row = _waiting(tx, who, approval_id)
    written = Written(
        outcome=Outcome.DENIED,
        message="A person has decided against this. Don't ask for it again.",
        memory_id=row.memory_id,
        approval_id=row.id,
    )
    return _decided(tx, who, row, ApprovalStatus.DENIED, written=written, answer=written)


def _waiting(tx: Transaction, who: Principal, approval_id: UUID) -> Row:
    """The approval, held, and before it the memory that it is about: so whoever erases that takes them."""
    about = _seen(who, approval_id, store.find(tx, approval_id)).memory_id
    if about is not None:
        heads.wait(tx, about)
    row = _seen(who, approval_id, store.hold(tx, approval_id))
    if row.status != ApprovalStatus.WAITING:
        raise Conflict(
            f"Approval {row.id} is decided already: it is {row.status}.",
            approval_id=str(row.id),
            status=str(row.status),
        )
    return row


def _seen(who: Principal, approval_id: UUID, row: Row | None) -> Row:
    """An agent sees what it asked for itself but in a space, a member what was asked for its user."""
    if (
        row is None
        or not sees(who, user_id=row.user_id, agent_id=row.agent_id)
        or (who.role is Role.AGENT and row.space_id is not None)
    ):
        raise store.unknown_approval(approval_id)
    return row


def _asker(tx: Transaction, row: Row) -> Principal:
    """Who asked, as it stands now. Neither user, agent nor space can be gone: the approval would be too."""
    return Principal(
        organization_id=tx.scope if isinstance(tx.scope, UUID) else None,
        role=Role.AGENT,
        user_id=row.user_id,
        agent_id=row.agent_id,
        space=None if row.space_id is None else spaces.binding(tx, row.space_id),
    )


def _done(tx: Transaction, row: Row, registry: ToolRegistry) -> Written:
    """What came of the call, which is held to all that is said of its agent by now."""
    asker = _asker(tx, row)
    check_subject(tx, user_id=asker.user_id, agent_id=asker.agent_id)
    tool = registry.tool_for(asker, row.tool)
    if tool.write is None:
        raise unknown_tool(())
    _check_allowed(tx, asker, tool)
    asked = arguments.checked(tool, row.arguments)
    return tool.write(tx, asker, asked, Course(row.run_id, row.conversation_id))


def _check_allowed(tx: Transaction, asker: Principal, tool: Tool) -> None:
    if asker.space is not None and asker.space.agent_id != asker.agent_id:
        raise Refused("This space belongs to another agent by now.")
    if decision(tx, asker, tool) is Decision.DENY:
        raise ToolDenied(f"This agent may not call {tool.name} any more.", tool=tool.name)


def _decided(
    tx: Transaction,
    who: Principal,
    row: Row,
    status: ApprovalStatus,
    *,
    written: Written,
    answer: Answer,
) -> Approval:
    """Keep what was decided; the same call again is answered by `written` from now on."""
    store.decide(tx, row.id, status, answer.model_dump(mode="json"), who.user_id)
    if row.key is not None:
        answer_late(tx, row.caller, row.key, written)
    record_activity(
        tx,
        DENIED if status is ApprovalStatus.DENIED else ALLOWED,
        subject_id=row.id,
        user_id=who.user_id,
        tool=row.tool,
        asked_by=str(row.agent_id),
        status=status,
    )
    decided = get(tx, who, row.id)
    store.tell(tx, _asker(tx, row), row.id, row.tool, status)
    return decided
