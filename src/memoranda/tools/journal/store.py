"""The SQL of the journal."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select

from memoranda.access.models import Principal, Role
from memoranda.storage import Transaction
from memoranda.storage.tables import tool_calls
from memoranda.tools.journal.line import Line
from memoranda.tools.models import ToolCall
from memoranda.words.ids import new_id

AT_ONCE: Final = 1_000
_LAST: Final = UUID(int=2**128 - 1)

c = tool_calls.c
INSERT: Final = insert(tool_calls)
PAGE: Final = (
    select(*(c[name] for name in ToolCall.model_fields))
    .where(c.id < bindparam("before"))
    .order_by(c.id.desc())
    .limit(bindparam("most"))
)
_OF_USER, _OF_AGENT = c.user_id == bindparam("user"), c.agent_id == bindparam("agent")
_WHOSE: Final = {
    "anybody's": (),
    "a user's": (_OF_USER,),
    "an agent's for a user": (_OF_AGENT, _OF_USER),
    "an agent's for nobody": (_OF_AGENT, c.user_id.is_(None)),
}
PAGES: Final = {
    (whose, of_run): PAGE.where(*criteria, *([c.run_id == bindparam("run")] if of_run else []))
    for whose, criteria in _WHOSE.items()
    for of_run in (False, True)
}
OLDEST: Final = select(c.id, c.created_at).order_by(c.id).limit(bindparam("most"))
PRUNE: Final = delete(tool_calls).where(c.id <= bindparam("upto"))


def add(tx: Transaction, line: Line) -> None:
    """Write a line."""
    tx.send(INSERT, id=new_id(), created_at=tx.now, **line._asdict())


def add_all(tx: Transaction, lines: Sequence[Line]) -> None:
    """Write lines."""
    tx.send_many(
        INSERT, [{"id": new_id(), "created_at": tx.now, **line._asdict()} for line in lines]
    )


def page(
    tx: Transaction, who: Principal, run_id: UUID | None, before: UUID | None, most: int
) -> list[ToolCall]:
    """The newest lines that `who` may see, of one run where one is named."""
    rows = tx.all(
        PAGES[_whose(who), run_id is not None],
        user=who.user_id,
        agent=who.agent_id,
        run=run_id,
        before=before or _LAST,
        most=most,
    )
    return [ToolCall.model_validate(row._asdict()) for row in rows]


def prune(tx: Transaction, before: datetime) -> int:
    """Delete the oldest lines, as far as they are from before that time; how many went."""
    old = [row.id for row in tx.all(OLDEST, most=AT_ONCE) if row.created_at < before]
    return tx.run(PRUNE, upto=old[-1]) if old else 0


def _whose(who: Principal) -> str:
    if who.role is Role.MEMBER:
        return "a user's"
    if who.role is Role.AGENT:
        return "an agent's for nobody" if who.user_id is None else "an agent's for a user"
    return "anybody's"
