"""Puts a call before a person, and the same call not again: neither while it waits nor once it is decided."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.memories import permitted
from memoranda.storage import Row, Transaction
from memoranda.tools.approvals import store
from memoranda.tools.approvals.refusing import failed
from memoranda.tools.arguments import canonical
from memoranda.tools.digests import is_of, salted
from memoranda.tools.models import (
    ApprovalStatus,
    Call,
    Course,
    Outcome,
    Refusal,
    Written,
)
from memoranda.tools.spaces import store as spaces
from memoranda.words.ids import new_id

DENIED_FOR: Final = timedelta(days=7)
"""How long a no holds for the same call by the same caller, while the memory says the same."""


class Put(NamedTuple):
    """What the caller is told; `again` where the same call was put before a person already."""

    written: Written
    again: bool


def wait(tx: Transaction, call: Call, *, caller: str, most: int) -> Put:
    """Let the call wait for a person; the memory that it is about is one that the caller may change.

    The same call that waits already is answered with its approval, one that a person denied
    within `DENIED_FOR` with that, and one that was approved with what was done. Raises `NotFound`, `Refused` and `Conflict` as changing that memory would,
    what the tool itself can foresee, and `ApprovalsFull` where `most` wait. Listeners are told.
    """
    memory_id, who = call.tool.about(call.arguments), call.who
    done = _done(tx, call, caller)
    if done is not None:
        return Put(done, again=True)
    # A space before a memory, and both before the inbox: whoever takes several takes them so.
    if who.space is not None:
        spaces.keep(tx, who.space.id)
    version = None if memory_id is None else permitted.hold(tx, who, memory_id)
    call.tool.foresee(tx, who, call.arguments)
    tx.lock(store.INBOX)
    asked = _asked(call, version)
    before = _before(tx, call, asked, caller, memory_id)
    if before is not None:
        return Put(before, again=True)
    store.check_room(tx, most)
    salt, digest = salted(asked)
    approval_id = new_id()
    store.add(
        tx,
        {
            "id": approval_id,
            "tool": call.tool.name,
            "status": ApprovalStatus.WAITING,
            "arguments": _arguments(call),
            "user_id": who.user_id,
            "agent_id": who.agent_id,
            "space_id": None if who.space is None else who.space.id,
            **call.course._asdict(),
            "memory_id": memory_id,
            "caller": caller,
            "key": call.key,
            "created_at": tx.now,
            "salt": salt,
            "digest": digest,
        },
    )
    store.tell(tx, who, approval_id, call.tool.name, ApprovalStatus.WAITING)
    waits = "This waits for a person, who may let it be done. Go on without waiting."
    return Put(_waiting(waits, memory_id, approval_id), again=False)


def standing(tx: Transaction, before: Written) -> Written:
    """What a call is answered by now that was answered with an approval, under whichever key."""
    if before.outcome is not Outcome.WAITING or before.approval_id is None:
        return before
    row = store.find(tx, before.approval_id)
    if row is None or row.status == ApprovalStatus.WAITING:
        return before
    if row.status == ApprovalStatus.FAILED:
        return failed(Refusal.model_validate(row.answer), row.id, row.memory_id)
    return Written.model_validate(row.answer)


def _done(tx: Transaction, call: Call, caller: str) -> Written | None:
    """What was done when the same call was approved; it names a version, which changes once and never comes back."""
    version = call.tool.expects(call.arguments)
    if version is None:
        return None
    asked = _asked(call, version)
    for row in store.approved_of(tx, caller, call.tool.name, call.tool.about(call.arguments)):
        if is_of(row.salt, row.digest, asked):
            return Written.model_validate(row.answer)
    return None


def _before(
    tx: Transaction, call: Call, asked: bytes, caller: str, memory_id: UUID | None
) -> Written | None:
    """What the same call was told that waits, or that was denied a short while ago."""
    arguments = _arguments(call)
    for row in store.waiting_of(tx, caller, call.tool.name):
        if row.arguments == arguments:
            said = "This waits for a person already: you asked before. Go on without waiting."
            return _waiting(said, memory_id, row.id)
    since = tx.now - DENIED_FOR
    for row in store.denied_of(tx, caller, call.tool.name, since):
        if is_of(row.salt, row.digest, asked):
            return _denied(row, memory_id)
    return None


def _denied(row: Row, memory_id: UUID | None) -> Written:
    decided: datetime = row.decided_at
    return Written(
        outcome=Outcome.DENIED,
        message=f"A person decided against this on {decided:%Y-%m-%d}. The same call is put before nobody "
        f"again until {decided + DENIED_FOR:%Y-%m-%d}: go on without it.",
        memory_id=memory_id,
        approval_id=row.id,
    )


def _waiting(message: str, memory_id: UUID | None, approval_id: UUID) -> Written:
    return Written(
        outcome=Outcome.WAITING, message=message, memory_id=memory_id, approval_id=approval_id
    )


def _arguments(call: Call) -> dict[str, object]:
    return call.arguments.model_dump(mode="json", exclude_unset=True)


def _asked(call: Call, version: int | None) -> bytes:
    """What is asked for, in whichever run, of the memory as it stands."""
    return canonical(call.tool, call.arguments, Course()) + f"@{version}".encode()
