"""The SQL of the list of runs that hosts go by."""

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select

from memoranda.conversations.chats.models import ChatRun, ChatRunStatus
from memoranda.storage import Transaction
from memoranda.storage.tables import chat_runs

r = chat_runs.c
OLDEST: Final = UUID(int=0)
"""A page that begins after this id begins at the oldest run."""
STANDING = (
    select(*(r[name] for name in ChatRun.model_fields))
    .where(r.status == bindparam("standing"), r.id > bindparam("after"))
    .order_by(r.id)
    .limit(bindparam("most"))
)
# Each has an index of its own: those that are live are few, and the others are in it in this order.
LIVE, ENDED = STANDING.where(r.ended_at.is_(None)), STANDING.where(r.ended_at.is_not(None))
OF_USER, OF_AGENT = r.user_id == bindparam("user"), r.agent_id == bindparam("agent")
PAGES: Final = {
    (live, of_user, of_agent): statement
    for live, whole in ((True, LIVE), (False, ENDED))
    for of_user, of_agent, statement in (
        (False, False, whole),
        (True, False, whole.where(OF_USER)),
        (False, True, whole.where(OF_AGENT)),
        (True, True, whole.where(OF_USER, OF_AGENT)),
    )
}


def page(
    tx: Transaction,
    status: ChatRunStatus,
    *,
    user_id: UUID | None,
    agent_id: UUID | None,
    after: UUID | None,
    most: int,
) -> list[ChatRun]:
    """Runs that stand so, of the chats of the user and agent that are named, the oldest first."""
    rows = tx.all(
        PAGES[status.live, user_id is not None, agent_id is not None],
        standing=status,
        user=user_id,
        agent=agent_id,
        after=after or OLDEST,
        most=most,
    )
    return [
        ChatRun.model_validate({**row._asdict(), "status": ChatRunStatus(row.status)})
        for row in rows
    ]
