"""The SQL of holders: whose items and checkpoints are kept together, found and made by subject."""

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select

from memoranda.access.store import check_subject
from memoranda.storage import Transaction, insert_or_ignore
from memoranda.storage.scope import NIL
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import graph_holders
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject

h = graph_holders.c
HOLDER: Final = select(h.id).where(
    h.for_user == bindparam("user"), h.for_agent == bindparam("agent")
)
MAKE: Final = insert_or_ignore(graph_holders)
REMOVE_USER: Final = delete(graph_holders).where(h.user_id == bindparam("user"))


def find(tx: Transaction, subject: ContextSubject) -> UUID | None:
    """The holder of exactly this user and agent; None where nothing was ever kept."""
    row = tx.one(HOLDER, user=subject.user_id or NIL, agent=subject.agent_id or NIL)
    return None if row is None else row.id


def make(tx: Transaction, subject: ContextSubject) -> UUID:
    """The holder, made where there is none. Raises `NotFound` for a user or agent that is not there."""
    found = find(tx, subject)
    if found is not None:
        return found
    check_subject(tx, user_id=subject.user_id, agent_id=subject.agent_id)
    tx.run(
        MAKE,
        id=new_id(),
        user_id=subject.user_id,
        agent_id=subject.agent_id,
        for_user=subject.user_id or NIL,
        for_agent=subject.agent_id or NIL,
        created_at=tx.now,
    )
    made = find(tx, subject)
    if made is None:
        raise AssertionError("a holder that was made is there")
    return made


def remove_user(tx: Transaction, user_id: UUID) -> None:
    """Delete all that is kept of a user, and have its traces taken out of the files."""
    if tx.run(REMOVE_USER, user=user_id):
        signal(tx, SCRUB)
