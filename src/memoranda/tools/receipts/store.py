"""The SQL of receipts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import bindparam, delete, func, select, update

from memoranda.access.models import Principal
from memoranda.storage import Row, StorageBusy, Transaction, contains, insert_or_ignore, one_of
from memoranda.storage.tables import tool_receipts
from memoranda.tools.digests import is_of, salted
from memoranda.tools.errors import KeyReused
from memoranda.tools.models import Written
from memoranda.words.errors import Erased

AT_ONCE: Final = 1_000
"""How many receipts one prune deletes at most, give or take those of one moment."""

c = tool_receipts.c
_ITS: Final = (c.caller == bindparam("of_caller"), c.key == bindparam("under"))

CLAIM: Final = insert_or_ignore(tool_receipts)
RECEIPT: Final = select(c.salt, c.digest, c.answer).where(*_ITS)
_ANSWER: Final[dict[str, Any]] = {
    "answer": bindparam("answered"),
    "memory_id": func.coalesce(bindparam("about", type_=c.memory_id.type), c.memory_id),
}
SETTLE: Final = (
    update(tool_receipts)
    .where(*_ITS)
    .values(salt=bindparam("with_salt"), digest=bindparam("asked"), **_ANSWER)
)
# One that is cleared stays so.
ANSWER_LATE: Final = update(tool_receipts).where(*_ITS, c.digest.is_not(None)).values(**_ANSWER)
_NOTHING: Final = {"salt": None, "digest": None, "answer": None}
CLEAR: Final = update(tool_receipts).where(one_of(c.memory_id, "ids")).values(_NOTHING)
FORGET_USER: Final = delete(tool_receipts).where(contains(c.caller, "user"))
OLDEST: Final = (
    select(c.created_at)
    .where(c.created_at < bindparam("before"))
    .order_by(c.created_at)
    .limit(bindparam("most"))
)
PRUNE: Final = delete(tool_receipts).where(c.created_at <= bindparam("upto"))


def caller_of(who: Principal) -> str:
    """Who calls, as one text that no other caller has, whichever key it uses: its keys are its alone."""
    parts = [f"role={who.role}"]
    if who.user_id is not None:
        parts.append(_user(who.user_id))
    if who.agent_id is not None:
        parts.append(f"agent={who.agent_id.hex}")
    if who.space is not None:
        parts.append(f"space={who.space.id.hex}")
    return ";".join(parts)


def claim(tx: Transaction, caller: str, key: str, tool: str, asked: bytes) -> Written | None:
    """Take the key for this call, of which `asked` says what it asks for; None where it is new.

    Another call under the same key that is about to be answered is waited for. One that was
    answered is, if it is the same, answered by what it was. Raises `KeyReused` for another call
    under the key, and `Erased` where it is known no more what was asked.
    """
    for _ in range(2):
        if tx.run(CLAIM, caller=caller, key=key, tool=tool, created_at=tx.now):
            return None
        row = tx.one(RECEIPT, of_caller=caller, under=key)
        if row is not None:
            return _answered(row, asked)
        # It was pruned between the two statements.
    raise StorageBusy("This call's receipt was being pruned. Nothing was written: try again.")


def settle(
    tx: Transaction, caller: str, key: str, asked: bytes, written: Written, *, about: UUID | None
) -> None:
    """Keep what a call that claimed its key is answered, in the transaction that claimed it.

    `about` is the memory that it named. What a proposal may become has the proposal's id.
    """
    salt, digest = salted(asked)
    tx.send(
        SETTLE,
        of_caller=caller,
        under=key,
        with_salt=salt,
        asked=digest,
        answered=written.model_dump(mode="json"),
        about=written.memory_id or written.proposal_id or about,
    )


def answer_late(tx: Transaction, caller: str, key: str, written: Written) -> None:
    """Answer the same call from now on by this: what it asked for has been decided."""
    tx.run(
        ANSWER_LATE,
        of_caller=caller,
        under=key,
        answered=written.model_dump(mode="json"),
        about=written.memory_id,
    )


def clear(tx: Transaction, memory_ids: Sequence[UUID]) -> int:
    """Forget what was asked and answered about these memories, and proposals by their ids; how many calls."""
    return tx.run(CLEAR, ids=list(memory_ids))


def clear_user(tx: Transaction, user_id: UUID) -> int:
    """Delete the receipts of all that was called for a user; how many."""
    return tx.run(FORGET_USER, user=_user(user_id))


def prune(tx: Transaction, before: datetime) -> int:
    """Delete the oldest receipts from before that time, a part of them at once; how many went."""
    old = tx.all(OLDEST, before=before, most=AT_ONCE)
    return tx.run(PRUNE, upto=old[-1].created_at) if old else 0


def _user(user_id: UUID) -> str:
    return f"user={user_id.hex}"


def _answered(row: Row, asked: bytes) -> Written:
    if row.digest is None:
        raise Erased(
            "This very key was used before, and what its call was about has been erased since. "
            "Nothing was done again. Use a new key for a new call."
        )
    if not is_of(row.salt, row.digest, asked):
        raise KeyReused(
            "This idempotency key was used for another call. Use a new key for a new call, and the "
            "same one only to try the same call again."
        )
    return Written.model_validate(row.answer)
