"""Hints that a scope has work waiting, so that a worker need not look into every organization.

They stand here and not in a room above, because they name scopes and know nothing
of the work: whoever keeps the waiting rows raises one, and the worker reads it.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select

from memoranda.storage.scope import NIL, PLATFORM, Scope
from memoranda.storage.tables import work_signals
from memoranda.storage.transaction import Transaction
from memoranda.storage.types import one_of, upsert
from memoranda.words.ids import new_id

KNOWLEDGE: Final = "knowledge"
"""The kind of work that is documents waiting to be ingested."""
EMBEDDING: Final = "embedding"
"""The kind of work that is texts waiting for their vectors."""
KNOWLEDGE_VECTORS: Final = "knowledge_vectors"
"""The kind of work that is documents without vectors of a model that is to hold them, and vectors to clear."""
CONVERSATIONS: Final = "conversations"
"""The kind of work that is conversations with messages that no search finds yet."""
CONVERSATION_VECTORS: Final = "conversation_vectors"
"""The kind of work that is messages waiting for their vectors."""
CHAT_RUNS: Final = "chat_runs"
"""The kind of work that is runs of chats that have not ended, and somebody may never finish."""
SCRUB: Final = "scrub"
"""The kind of work that is rows deleted for good, whose last traces wait to leave the database's files."""

RAISE = upsert(work_signals, ["kind", "organization"], set_=["token", "raised_at"])
RAISED = (
    select(*(work_signals.c[name] for name in ("kind", "organization", "token", "raised_at")))
    .where(one_of(work_signals.c.kind, "kinds"))
    .order_by(work_signals.c.raised_at, work_signals.c.organization)
)
OWN = select(work_signals.c.token, work_signals.c.raised_at).where(
    work_signals.c.kind == bindparam("kind"),
    work_signals.c.organization == bindparam("organization"),
)
SETTLE = delete(work_signals).where(
    work_signals.c.kind == bindparam("kind"),
    work_signals.c.organization == bindparam("organization"),
    work_signals.c.token == bindparam("token"),
)


@dataclass(frozen=True)
class Signal:
    """Work of one kind may wait in `scope`; `token` is new with every raising."""

    scope: Scope
    token: UUID
    raised_at: datetime


def signal(tx: Transaction, kind: str) -> None:
    """Say, in the transaction that adds the work, that the transaction's scope has some."""
    tx.send(RAISE, kind=kind, organization=_id_of(tx.scope), token=new_id(), raised_at=tx.now)


def signals(tx: Transaction, kind: str) -> list[Signal]:
    """The signals of that kind, the longest raised first."""
    return signals_of(tx, [kind])[kind]


def signals_of(tx: Transaction, kinds: Collection[str]) -> dict[str, list[Signal]]:
    """The signals of each of those kinds, the longest raised first."""
    found: dict[str, list[Signal]] = {kind: [] for kind in kinds}
    for row in tx.all(RAISED, kinds=list(kinds)):
        scope = PLATFORM if row.organization == NIL else row.organization
        found[row.kind].append(Signal(scope, row.token, row.raised_at))
    return found


def own_signal(tx: Transaction, kind: str) -> Signal | None:
    """The transaction's own scope's signal of that kind, where it is raised."""
    row = tx.one(OWN, kind=kind, organization=_id_of(tx.scope))
    return None if row is None else Signal(tx.scope, row.token, row.raised_at)


def settle(tx: Transaction, kind: str, seen: Signal) -> bool:
    """Take the signal away unless it was raised again since it was seen; whether this took it."""
    return tx.run(SETTLE, kind=kind, organization=_id_of(seen.scope), token=seen.token) == 1


def settle_all(tx: Transaction, kind: str, seen: Iterable[Signal]) -> None:
    """`settle` each of them."""
    for each in seen:
        settle(tx, kind, each)


def _id_of(scope: Scope) -> UUID:
    return scope if isinstance(scope, UUID) else NIL
