"""The SQL of approvals."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, select, update

from memoranda.access.models import Principal, Role
from memoranda.memories import permitted
from memoranda.runs.events.store import record_event
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import tool_approvals
from memoranda.tools.errors import ApprovalsFull
from memoranda.tools.models import Approval, ApprovalStatus, Call, Outcome, Written
from memoranda.tools.spaces import store as spaces
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id

a = tool_approvals.c
INBOX: Final = "tool approvals"
"""What everybody holds who lets a call wait, so that never more wait than may."""
EVENT: Final = "approval.updated"
NEWEST: Final = UUID(int=2**128 - 1)
FIELDS: Final = tuple(Approval.model_fields)
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


def wait(tx: Transaction, call: Call, *, caller: str, most: int) -> Written:
    """Let the call wait for a person; the memory that it is about is one that the caller may change.

    Raises `NotFound`, `Refused` and `Conflict` as changing that memory would, what the tool itself
    can foresee, and `ApprovalsFull` where `most` wait. Listeners are told.
    """
    memory_id, who = call.tool.about(call.arguments), call.who
    # A space before a memory, and both before the inbox: whoever takes several takes them so.
    if who.space is not None:
        spaces.keep(tx, who.space.id)
    if memory_id is not None:
        permitted.hold(tx, who, memory_id)
    call.tool.foresee(tx, who, call.arguments)
    _check_room(tx, most)
    row = {
        "id": new_id(),
        "tool": call.tool.name,
        "status": ApprovalStatus.WAITING,
        "arguments": call.arguments.model_dump(mode="json", exclude_unset=True),
        "user_id": who.user_id,
        "agent_id": who.agent_id,
        "space_id": None if who.space is None else who.space.id,
        **call.course._asdict(),
        "memory_id": memory_id,
        "caller": caller,
        "key": call.key,
        "created_at": tx.now,
    }
    tx.run(INSERT, **row)
    tell(tx, who, row["id"], call.tool.name, ApprovalStatus.WAITING)
    return Written(
        outcome=Outcome.WAITING,
        message="This waits for a person, who may let it be done. Go on without waiting.",
        memory_id=memory_id,
        approval_id=row["id"],
    )


def _check_room(tx: Transaction, most: int) -> None:
    tx.lock(INBOX)
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
