"""The SQL of compactions: attempts, what they put away, and what may have been pinned meanwhile."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, update

from memoranda.conversations.compaction.models import ArchivedMessage, Compaction
from memoranda.conversations.content import read
from memoranda.conversations.digests import chain_after
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import (
    conversation_archive,
    conversation_compactions,
    conversation_messages,
)

k, a, m = conversation_compactions.c, conversation_archive.c, conversation_messages.c
NEWEST: Final = UUID(int=2**128 - 1)
_COLUMNS = tuple(k[name] for name in Compaction.model_fields)
INSERT_ATTEMPT = insert(conversation_compactions)
LAST_NUMBER = select(func.max(k.number).label("number")).where(
    k.conversation_id == bindparam("conversation")
)
ATTEMPTS = (
    select(*_COLUMNS)
    .where(k.conversation_id == bindparam("conversation"), k.id < bindparam("before"))
    .order_by(k.id.desc())
    .limit(bindparam("most"))
)
_LISTS: Final = ("source", "loaded", "result")
ACTIVATED = (
    select(*(k[f"{of}_{what}"] for of in _LISTS for what in ("length", "digest")))
    .where(k.conversation_id == bindparam("conversation"), k.status == "activated")
    .order_by(k.number)
)
ERASE = delete(conversation_compactions).where(one_of(k.conversation_id, "conversations"))
PUT_AWAY = (
    select(
        *(a.id, a.position, a.role, a.content, a.metadata, a.pinned, a.created_at),
        a.compaction_id,
    )
    .where(
        a.conversation_id == bindparam("conversation"),
        a.compaction_id.is_not(None),
        or_(
            a.position > bindparam("floor"),
            and_(a.position == bindparam("floor"), a.id > bindparam("last")),
        ),
    )
    .order_by(a.position, a.id)
    .limit(bindparam("most"))
)
PLACE_OF = select(a.position).where(a.id == bindparam("archived"))
PINNED = select(m.position).where(
    m.conversation_id == bindparam("conversation"),
    m.position <= bindparam("last"),
    m.pinned.is_(True),
)
PIN = (
    update(conversation_messages)
    .where(m.conversation_id == bindparam("conversation"), m.position == bindparam("place"))
    .values(pinned=bindparam("wanted"))
)


class Rebased(NamedTuple):
    """What the first `cut` messages of an older list have become: the first `kept` of the stored ones.

    `digest` is the chain that the last of those must have.
    """

    cut: int
    kept: int
    digest: str


def record(tx: Transaction, attempt: Compaction, **ends: Any) -> Compaction:
    """Record an attempt; `ends` are the list up to the boundary before and after, where it was activated."""
    none = {f"{of}_length": 0 for of in _LISTS} | {f"{of}_digest": "" for of in _LISTS}
    tx.run(INSERT_ATTEMPT, **dict(attempt), **{**none, **ends})
    return attempt


def next_number(tx: Transaction, conversation_id: UUID) -> int:
    """The number of the compaction that is about to be activated."""
    row = tx.one(LAST_NUMBER, conversation=conversation_id)
    return 1 + (row.number or 0 if row else 0)


def attempts(
    tx: Transaction, conversation_id: UUID, before: UUID | None, most: int
) -> list[Compaction]:
    """The attempts at a conversation, the newest first."""
    rows = tx.all(ATTEMPTS, conversation=conversation_id, before=before or NEWEST, most=most)
    return [Compaction.model_validate(row._asdict()) for row in rows]


def put_away(
    tx: Transaction, conversation_id: UUID, after: UUID | None, most: int
) -> list[ArchivedMessage]:
    """The messages that compactions put away, in the order in which they were said, from after that one."""
    place = tx.one(PLACE_OF, archived=after) if after else None
    floor, last = (place.position, after) if place else (0, NEWEST)
    rows = tx.all(PUT_AWAY, conversation=conversation_id, floor=floor, last=last, most=most)
    return [_archived(row) for row in rows]


def pinned(tx: Transaction, conversation_id: UUID, last: int) -> set[int]:
    """The positions up to `last` whose messages are pinned."""
    return {row.position for row in tx.all(PINNED, conversation=conversation_id, last=last)}


def pin(tx: Transaction, conversation_id: UUID, position: int, *, wanted: bool) -> bool:
    """Pin or unpin the message there; False where there is none."""
    return tx.run(PIN, conversation=conversation_id, place=position, wanted=wanted) == 1


def rebased(tx: Transaction, conversation_id: UUID, digests: Sequence[str]) -> Rebased | None:
    """Whether a list begins with what has been compacted since; `digests` are its messages'.

    So a turn that began before a compaction is saved after it, as the exact tail. None where it
    begins with nothing that was.
    """
    found: Rebased | None = None
    at = Rebased(0, 0, "")
    for row in tx.all(ACTIVATED, conversation=conversation_id):
        for length, digest in (
            (row.source_length, row.source_digest),
            (row.loaded_length, row.loaded_digest),
        ):
            needed = length - at.kept
            if length and _is_continued(at, digests[at.cut :], needed, digest):
                found = at = Rebased(at.cut + needed, row.result_length, row.result_digest)
                break
    return found


def erase(tx: Transaction, conversation_ids: Sequence[UUID]) -> None:
    """Leave nothing of how these conversations were compacted; what that cost stays."""
    tx.run(ERASE, conversations=list(conversation_ids))


def _is_continued(at: Rebased, rest: Sequence[str], needed: int, digest: str) -> bool:
    """Whether the list that is known so far and `needed` more of the rest have that digest together."""
    if not 0 <= needed <= len(rest):
        return False
    chain = at.digest
    for each in rest[:needed]:
        chain = chain_after(chain, each)
    return chain == digest


def _archived(row: Row) -> ArchivedMessage:
    return ArchivedMessage.model_validate(
        {
            "id": row.id,
            "position": row.position,
            "role": row.role,
            "content": read(row.content),
            "metadata": read(row.metadata),
            "pinned": row.pinned,
            "ts": row.created_at,
            "compaction_id": row.compaction_id,
        }
    )
