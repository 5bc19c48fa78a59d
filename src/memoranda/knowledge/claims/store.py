"""Who takes which source in: claims that hold by a lease, and how they end."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, select, update

from memoranda.knowledge.models import Claim
from memoranda.storage import Row, Transaction
from memoranda.storage.tables import knowledge_sources, knowledge_uploads

LEASE: Final = timedelta(seconds=60)
"""How long a claim holds without a sign of life; then another worker takes over."""

_source: BindParameter[UUID] = bindparam("source")

WAITING: Final = (
    select(knowledge_sources.c.id).where(knowledge_sources.c.status == "pending").limit(1)
)
_FREE = (knowledge_sources.c.lease_until.is_(None)) | (
    knowledge_sources.c.lease_until < bindparam("now")
)
NEXT_FREE: Final = (
    select(knowledge_sources.c.id)
    .where(knowledge_sources.c.status == "pending", _FREE)
    .order_by(knowledge_sources.c.updated_at, knowledge_sources.c.id)
    .limit(1)
)
# A source that nobody holds now, and whose bytes or last retry came in before `longest`.
OVERDUE: Final = (
    select(knowledge_sources.c.id)
    .where(
        knowledge_sources.c.status == "pending",
        knowledge_sources.c.digest != "",  # a removed one is no document any more
        knowledge_sources.c.updated_at < bindparam("longest"),
        _FREE,
    )
    .order_by(knowledge_sources.c.updated_at, knowledge_sources.c.id)
    .limit(1)
)
# The condition stands here again: between the look and the claim, another worker may have come.
CLAIM: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source, knowledge_sources.c.status == "pending", _FREE)
    .values(
        lease_owner=bindparam("worker"),
        lease_until=bindparam("until"),
        attempts=knowledge_sources.c.attempts + 1,
    )
)
_CLAIMED = (
    (knowledge_sources.c.id == _source)
    & (knowledge_sources.c.status == "pending")
    & (knowledge_sources.c.lease_owner == bindparam("worker"))
)
CLAIMED: Final = select(
    knowledge_sources.c.kind,
    knowledge_sources.c.title,
    knowledge_sources.c.attempts,
    knowledge_sources.c.digest,
).where(_CLAIMED)
UPLOAD: Final = (
    select(knowledge_uploads.c.content)
    .join(knowledge_sources, knowledge_uploads.c.source_id == knowledge_sources.c.id)
    .where(_CLAIMED)
)
EXTEND: Final = update(knowledge_sources).where(_CLAIMED).values(lease_until=bindparam("until"))
RELEASE: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(lease_owner=None, lease_until=bindparam("until"))
)
HAND_BACK: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(lease_owner=None, lease_until=None, attempts=knowledge_sources.c.attempts - 1)
)
READ: Final = update(knowledge_sources).where(_CLAIMED).values(chunks=bindparam("cut"))
WAIT: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(
        lease_owner=None,
        lease_until=bindparam("until"),
        attempts=knowledge_sources.c.attempts - 1,
    )
)
FINISH: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(
        status=bindparam("new_status"),
        reason=bindparam("why"),
        chunks=bindparam("made"),
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)


def waiting(tx: Transaction) -> bool:
    """Whether any source of the scope still waits, claimed or not."""
    return tx.one(WAITING) is not None


def claim(tx: Transaction, worker_id: UUID, lease: timedelta) -> UUID | None:
    """Take the source that waits longest and that nobody holds; None when there is none."""
    row = tx.one(NEXT_FREE, now=tx.now)
    if row is None:
        return None
    taken = tx.run(CLAIM, source=row.id, worker=worker_id, now=tx.now, until=tx.now + lease)
    return row.id if taken else None


def claim_overdue(
    tx: Transaction, worker_id: UUID, lease: timedelta, longest: timedelta
) -> UUID | None:
    """Take a source that has waited for longer than `longest` and that nobody holds; None without one."""
    row = tx.one(OVERDUE, now=tx.now, longest=tx.now - longest)
    if row is None:
        return None
    taken = tx.run(CLAIM, source=row.id, worker=worker_id, now=tx.now, until=tx.now + lease)
    return row.id if taken else None


def claimed(tx: Transaction, claim: Claim) -> Row | None:
    """What the worker holds: (kind, title, attempts, digest); None where its claim is lost."""
    return tx.one(CLAIMED, **_held(claim))


def upload(tx: Transaction, claim: Claim) -> bytes | None:
    """The bytes to read, for the worker that holds the claim."""
    row = tx.one(UPLOAD, **_held(claim))
    return None if row is None else row.content


def extend(tx: Transaction, claim: Claim, lease: timedelta) -> bool:
    """Hold a claim for longer; False where it is lost."""
    return tx.run(EXTEND, **_held(claim), until=tx.now + lease) == 1


def release(tx: Transaction, claim: Claim, pause: timedelta) -> bool:
    """Give a claim back; nobody takes it again before `pause` is over."""
    return tx.run(RELEASE, **_held(claim), until=tx.now + pause) == 1


def hand_back(tx: Transaction, claim: Claim) -> bool:
    """Give a claim back as if it had never been taken: a worker that was stopped is no failed try."""
    return tx.run(HAND_BACK, **_held(claim)) == 1


def wait(tx: Transaction, claim: Claim, pause: timedelta) -> bool:
    """Give a claim back for `pause`, as if it had never been taken: what it waits for is no fault of its own."""
    return tx.run(WAIT, **_held(claim), until=tx.now + pause) == 1


def read(tx: Transaction, claim: Claim, chunks: int) -> bool:
    """Say how many chunks the document that is taken in was cut into; False where the claim is lost."""
    return tx.run(READ, **_held(claim), cut=chunks) == 1


def alone(tx: Transaction, source_id: UUID) -> None:
    """Let one at a time renew, write or remove a source; whoever waited looks at it anew.

    Else a removal does not see the index rows that an ingestion is about to commit, and leaves them.
    """
    tx.lock(f"knowledge document {source_id}")


def fail(tx: Transaction, claim: Claim, reason: str) -> bool:
    """End a source as failed, with the reason that a person reads; the upload stays for another try."""
    return _finish(tx, claim, "failed", reason=reason)


def succeed(tx: Transaction, claim: Claim, chunks: int) -> bool:
    """End a source as ready, with so many chunks; False where the claim is lost."""
    return _finish(tx, claim, "ready", made=chunks)


def _finish(
    tx: Transaction, claim: Claim, status: str, *, reason: str | None = None, made: int = 0
) -> bool:
    values = {"new_status": status, "why": reason, "made": made, "now": tx.now}
    return tx.run(FINISH, **_held(claim), **values) == 1


def _held(claim: Claim) -> dict[str, UUID]:
    return {"source": claim.source_id, "worker": claim.worker_id}
