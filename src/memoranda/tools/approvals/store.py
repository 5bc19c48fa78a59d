"""The SQL of approvals."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, select, update

from memoranda.access.models import Principal, Role
from memoranda.runs.events.store import record_event
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import tool_approvals
from memoranda.tools.errors import ApprovalsFull
from memoranda.tools.models import Approval, ApprovalStatus
from memoranda.words.errors import NotFound

a = tool_approvals.c
INBOX: Final = "tool approvals"
"""What everybody holds who lets a call wait, so that never more wait than may."""
EVENT: Final = "approval.updated"
NEWEST: Final = UUID(int=2**128 - 1)
FIELDS: Final = tuple(name for name in Approval.model_fields if name != "memory")
SHOWN: Final = tuple(a[name] for name in FIELDS)


def _page(*criteria: ColumnElement[bool]) -> Select[Any]:
    wanted = (a.status == bindparam("in_status"), a.id < bindparam("before"))
    page = select(*SHOWN).where(*wanted, *criteria)
    return page.order_by(a.id.desc()).limit(bindparam("most"))


# What an agent asked for in a space is that space's, and no business of its other keys.
_OF_AGENT: Final = (a.agent_id == bindparam("agent"), a.space_id.is_(None))
EVERYTHING: Final = _page()
OF_USER: Final = _page(a.user_id == bindparam("user"))
OF_AGENT: Final = _page(*_OF_AGENT, a.user_id.is_(None))
OF_AGENT_FOR_USER: Final = _page(*_OF_AGENT, a.user_id == bindparam("user"))

APPROVAL: Final = select(*SHOWN, a.caller, a.key).where(a.id == bindparam("approval"))
# Whoever decides holds the row: the next one waits, and then sees that it is decided.
HELD: Final = APPROVAL.with_for_update()
WAITING: Final = select(func.count().label("waiting")).where(a.status == ApprovalStatus.WAITING)
_SAME: Final = (a.caller == bindparam("of_caller"), a.tool == bindparam("of_tool"))
WAITING_OF: Final = (
    select(a.id, a.arguments).where(a.status == ApprovalStatus.WAITING, *_SAME).order_by(a.id)
)
DENIED_OF: Final = (
    select(a.id, a.salt, a.digest, a.decided_at)
    .where(a.status == ApprovalStatus.DENIED, *_SAME)
    .where(a.decided_at > bindparam("since"), a.digest.is_not(None))
    .order_by(a.id.desc())
)
APPROVED_OF: Final = (
    select(a.salt, a.digest, a.answer)
    .where(a.status == ApprovalStatus.APPROVED, a.memory_id == bindparam("of_memory"), *_SAME)
    .where(a.digest.is_not(None))
    .order_by(a.id.desc())
)
INSERT: Final = insert(tool_approvals)
# What was asked for is needed no more, and is not kept.
DECIDE: Final = (
    update(tool_approvals)
    .where(a.id == bindparam("approval"))
    .values(
        status=bindparam("becomes"),
        arguments=None,
        answer=bindparam("answered"),
        decided_by=bindparam("by"),
        decided_at=bindparam("now"),
    )
)
ABOUT: Final = delete(tool_approvals).where(one_of(a.memory_id, "ids"))
FOR_USER: Final = delete(tool_approvals).where(a.user_id == bindparam("user"))
AT_ONCE: Final = 1000
"""How many approvals one prune deletes at most."""
DECIDED_BEFORE: Final = (
    select(a.id)
    .where(a.status != ApprovalStatus.WAITING, a.decided_at < bindparam("before"))
    .order_by(a.id)
    .limit(bindparam("most"))
)
PRUNE: Final = delete(tool_approvals).where(one_of(a.id, "ids"))


def add(tx: Transaction, row: Mapping[str, Any]) -> None:
    """Let a call wait, once there is room for it."""
    tx.run(INSERT, **row)


def waiting_of(tx: Transaction, caller: str, tool: str) -> list[Row]:
    """What waits of this caller's calls of the tool."""
    return tx.all(WAITING_OF, of_caller=caller, of_tool=tool)


def denied_of(tx: Transaction, caller: str, tool: str, since: datetime) -> list[Row]:
    """Which of this caller's calls of the tool were denied since then, the last one first."""
    return tx.all(DENIED_OF, of_caller=caller, of_tool=tool, since=since)


def approved_of(tx: Transaction, caller: str, tool: str, memory_id: UUID | None) -> list[Row]:
    """Which of this caller's calls of the tool about a memory were approved, the last one first."""
    return tx.all(APPROVED_OF, of_caller=caller, of_tool=tool, of_memory=memory_id)


def check_room(tx: Transaction, most: int) -> None:
    """Raise `ApprovalsFull` where `most` wait; for whoever holds the inbox."""
    row = tx.one(WAITING)
    if row is not None and row.waiting >= most:
        raise ApprovalsFull(
            f"{most} calls wait for a person, and no more may. Go on without this one.", limit=most
        )


def find(tx: Transaction, approval_id: UUID) -> Row | None:
    """The approval's row, if there is one."""
    return tx.one(APPROVAL, approval=approval_id)


def hold(tx: Transaction, approval_id: UUID) -> Row | None:
    """The same, which until the commit nobody else decides or takes away."""
    return tx.one(HELD, approval=approval_id)


def page(
    tx: Transaction, who: Principal, status: ApprovalStatus, before: UUID | None, most: int
) -> list[Approval]:
    """Approvals of one status that the caller sees, the newest first."""
    rows = tx.all(
        _seen_by(who),
        in_status=status,
        before=before or NEWEST,
        most=most,
        user=who.user_id,
        agent=who.agent_id,
    )
    return [shown(row) for row in rows]


def _seen_by(who: Principal) -> Select[Any]:
    if who.role is Role.MEMBER:
        return OF_USER
    if who.role is Role.AGENT:
        return OF_AGENT if who.user_id is None else OF_AGENT_FOR_USER
    return EVERYTHING


def decide(
    tx: Transaction,
    approval_id: UUID,
    status: ApprovalStatus,
    answer: Mapping[str, Any],
    by: UUID | None,
) -> None:
    """Note what was decided and what came of it; what was asked for is dropped."""
    tx.run(DECIDE, approval=approval_id, becomes=status, answered=answer, by=by, now=tx.now)


def tell(
    tx: Transaction, asker: Principal, approval_id: UUID, tool: str, status: ApprovalStatus
) -> None:
    """Tell listeners where the call stands; late in the transaction, as every event."""
    record_event(
        tx,
        EVENT,
        user_id=asker.user_id,
        agent_id=asker.agent_id,
        space=None if asker.space is None else asker.space.name,
        approval_id=str(approval_id),
        tool=tool,
        status=status,
    )


def drop_about(tx: Transaction, memory_ids: Sequence[UUID]) -> int:
    """Delete what was asked about these memories, decided or not; how many."""
    return tx.run(ABOUT, ids=list(memory_ids))


def drop_for(tx: Transaction, user_id: UUID) -> int:
    """Delete what was asked for that user, decided or not; how many."""
    return tx.run(FOR_USER, user=user_id)


def prune(tx: Transaction, before: datetime) -> int:
    """Delete some of what was decided before that time; how many went. What waits is kept."""
    old = [row.id for row in tx.all(DECIDED_BEFORE, before=before, most=AT_ONCE)]
    return tx.run(PRUNE, ids=old) if old else 0


def shown(row: Row) -> Approval:
    """The approval as people see it."""
    return Approval.model_validate(dict(zip(FIELDS, row, strict=False)))


def unknown_approval(approval_id: UUID) -> NotFound:
    """The refusal of an approval that is not there, or not for this caller."""
    return NotFound(
        f"There is no approval {approval_id}. A list of approvals shows the ids that there are.",
        approval_id=str(approval_id),
    )
