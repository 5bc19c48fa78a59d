"""The SQL of memories: the heads of chains, what is added to them, and the live views."""

from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    insert,
    or_,
    select,
    union_all,
    update,
)

from memoranda.memories import chain
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate, digest
from memoranda.memories.chain import Head
from memoranda.memories.models import Memory, MemoryStatus, Revision
from memoranda.runs.store import record_activity
from memoranda.storage import Row, Transaction, mine
from memoranda.storage.tables import memories, memory_revisions
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from memoranda.words.text import fold

m, r = memories.c, memory_revisions.c
NEWEST: Final = UUID(int=2**128 - 1)
"""A page that begins before this id begins at the newest memory."""

AT_HEAD = memories.join(memory_revisions, and_(r.memory_id == m.id, r.id == m.head_id))
HEAD = (m.id, m.head_id, m.version, m.live, m.expires_at, m.created_at, m.pinned)
DERIVED = {"status", "restorable_until"}
# Projected columns come from the memory's own row, the rest from the revision at its head.
SHOWN = tuple((m if name in m else r)[name] for name in Memory.model_fields if name not in DERIVED)
UNEXPIRED = or_(m.expires_at.is_(None), m.expires_at > bindparam("now"))

# A subject's user and agent. `= NULL` is never true: without a user it meets no user's memory.
ITS_USERS = m.user_id == bindparam("user")
FOR_USER = and_(m.space.is_(None), or_(m.user_id.is_(None), ITS_USERS))
FOR_AGENT = or_(m.agent_id.is_(None), m.agent_id == bindparam("agent"))
SHARED = or_(m.user_id.is_(None), m.agent_id.is_not(None))


def _live(*criteria: ColumnElement[bool]) -> Select[Any]:
    view = select(*SHOWN).select_from(AT_HEAD)
    return view.where(m.live, UNEXPIRED, *criteria).limit(bindparam("most"))


def _page(*criteria: ColumnElement[bool]) -> Select[Any]:
    return _live(m.id < bindparam("before"), *criteria).order_by(m.id.desc())


def _recent(*criteria: ColumnElement[bool]) -> Select[Any]:
    # The chains first and by themselves: then a database walks them in this order, and stops.
    first = select(memories).where(m.live, UNEXPIRED, *criteria)
    first = first.order_by(m.recorded_at.desc(), m.id.desc()).limit(bindparam("most"))
    n = first.subquery("newest").c
    shown = ((n if name in n else r)[name] for name in Memory.model_fields if name not in DERIVED)
    at_head = and_(r.memory_id == n.id, r.id == n.head_id)
    return select(*shown).where(at_head).order_by(n.recorded_at.desc(), n.id.desc())


def _holder(*criteria: ColumnElement[bool]) -> Select[Any]:
    same = (m.audience == bindparam("spelled"), m.folded_digest == bindparam("digest"), m.live)
    return select(*HEAD).where(mine(memories), *same, *criteria)


HEAD_UNDER_KEY = (
    select(*HEAD, r.text)
    .select_from(AT_HEAD)
    .where(m.audience == bindparam("spelled"), m.subject_key == bindparam("key"))
)
# Two halves, so that each is read from its own index. An expired memory under a key holds nothing.
HOLDERS = union_all(
    _holder(m.subject_key.is_(None)), _holder(m.subject_key.is_not(None), UNEXPIRED)
)
INSERT_MEMORY = insert(memories)
INSERT_REVISION = insert(memory_revisions)
PROJECTED = ("head_id", "version", "live", "folded", "folded_digest", "recorded_at", "expires_at")
MOVE_HEAD = (
    update(memories)
    .where(m.id == bindparam("memory"))
    .values({name: bindparam(f"new_{name}") for name in PROJECTED})
)
CHAIN = select(
    *HEAD, m.user_id, m.agent_id, m.space, m.audience, m.subject_key, m.folded_digest
).where(m.id == bindparam("memory"))
LIVE_MEMORY = _live(m.space.is_(None), m.id == bindparam("memory"))
REVISIONS = (
    select(*(r[name] for name in Revision.model_fields))
    .where(r.memory_id == bindparam("memory"))
    .order_by(r.version)
)
EVERYTHING = _page()
COVERED = _page(FOR_USER, FOR_AGENT)
COVERED_FOR_ANY_AGENT = _page(FOR_USER)
RECENT_PERSONAL = _recent(m.space.is_(None), ITS_USERS, m.agent_id.is_(None))
RECENT_SHARED = _recent(SHARED, FOR_USER, FOR_AGENT)
RECENT_SHARED_FOR_ANY_AGENT = _recent(SHARED, FOR_USER)


def remember(tx: Transaction, candidate: Candidate) -> Memory:
    """Begin a chain or add to the one that is there; answer the memory as it then stands.

    Raises `DuplicateMemory` when a live memory says the same. Where another writer
    was first, the transaction ends in `ConstraintViolated`: run again, it meets the new head.
    """
    if candidate.expires_at is not None and candidate.expires_at <= tx.now:
        raise Invalid("expires_at is in the past: give a time to come.", field="expires_at")
    folded = fold(candidate.text)
    mark = digest(folded)
    parent = _parent(tx, candidate, mark)
    if parent is None:
        head = chain.first(new_id(), new_id(), expires_at=candidate.expires_at, now=tx.now)
        _insert_memory(tx, head, candidate, folded, mark)
    else:
        head = parent.followed_by(new_id(), expires_at=candidate.expires_at)
    _insert_revision(tx, parent, head, candidate.author, candidate)
    if parent is not None:
        _move_head(tx, head, folded, mark)
    _record(tx, "memory_fact_updated" if parent else "memory_fact_created", head, candidate.author)
    of, key = candidate.audience, candidate.subject_key
    return _memory(tx, head, candidate.author, candidate, audience=of, subject_key=key)


def forget(tx: Transaction, memory_id: UUID, author: Author) -> Memory:
    """Add a tombstone, which has no text.

    Raises `NotFound`, or `Conflict` when the memory is forgotten already; in a lost
    race `ConstraintViolated`, as `remember` does.
    """
    found = _chain(tx, memory_id)
    tx.lock(_lock(found.audience, found.subject_key, found.folded_digest))
    found = _chain(tx, memory_id)  # as it is now that nobody else adds to it
    parent = chain.parent_of_tombstone(_head(found))
    head = parent.followed_by(new_id(), live=False)
    _insert_revision(tx, parent, head, author, None)
    _move_head(tx, head, None, None)
    _record(tx, "memory_fact_forgotten", head, author)
    of, key = _audience(found), found.subject_key
    return _memory(tx, head, author, None, audience=of, subject_key=key)


def audience(tx: Transaction, memory_id: UUID) -> Audience:
    """For whom the memory is, forgotten or not. Raises `NotFound`."""
    return _audience(_chain(tx, memory_id))


def live_memory(tx: Transaction, memory_id: UUID) -> Memory | None:
    """The memory, unless it is forgotten or expired or not there at all."""
    row = tx.one(LIVE_MEMORY, memory=memory_id, now=tx.now, most=1)
    return None if row is None else _shown(row)


def revisions(tx: Transaction, memory_id: UUID) -> list[Revision]:
    """All of a memory's revisions, the oldest first."""
    return [Revision.model_validate(row._asdict()) for row in tx.all(REVISIONS, memory=memory_id)]


def everything(tx: Transaction, before: UUID | None, most: int) -> list[Memory]:
    """Live memories of every audience, the newest chain first, from before the memory `before`."""
    return [
        _shown(row) for row in tx.all(EVERYTHING, before=before or NEWEST, now=tx.now, most=most)
    ]


def covered(
    tx: Transaction, subject: ContextSubject, before: UUID | None, most: int
) -> list[Memory]:
    """The same of the memories that `subject` may know."""
    statement = COVERED_FOR_ANY_AGENT if subject.agent_id is None else COVERED
    rows = tx.all(statement, before=before or NEWEST, now=tx.now, most=most, **_reader(subject))
    return [_shown(row) for row in rows]


def recent(tx: Transaction, subject: ContextSubject, *, personal: bool, most: int) -> list[Memory]:
    """Live memories that `subject` may know, the last recorded first.

    `personal` picks those that are its user's own and of no agent; otherwise all the others.
    """
    if personal:
        statement = RECENT_PERSONAL
    else:
        statement = RECENT_SHARED_FOR_ANY_AGENT if subject.agent_id is None else RECENT_SHARED
    rows = tx.all(statement, now=tx.now, most=most, **_reader(subject))
    return [_shown(row) for row in rows]


def _parent(tx: Transaction, candidate: Candidate, mark: bytes) -> Head | None:
    spelled = candidate.audience.spelled
    tx.lock(_lock(spelled, candidate.subject_key, mark))
    if candidate.subject_key is None:
        rows = tx.all(HOLDERS, spelled=spelled, digest=mark, now=tx.now)
        head = chain.strongest([_head(row) for row in rows], tx.now)
        return chain.parent_of_next(head, same_text=True, now=tx.now)
    row = tx.one(HEAD_UNDER_KEY, spelled=spelled, key=candidate.subject_key)
    if row is None:
        return None
    return chain.parent_of_next(_head(row), same_text=row.text == candidate.text, now=tx.now)


def _lock(spelled: str, key: str | None, mark: bytes | None) -> str:
    """What the writers of one chain wait for: its key, or the text that stands for one."""
    return f"memory:{spelled}:{key}" if key else f"memory:{spelled}#{(mark or b'').hex()}"


def _insert_memory(
    tx: Transaction, head: Head, candidate: Candidate, folded: str, mark: bytes
) -> None:
    tx.run(
        INSERT_MEMORY,
        id=head.memory_id,
        user_id=candidate.audience.user_id,
        agent_id=candidate.audience.agent_id,
        space=candidate.audience.space,
        audience=candidate.audience.spelled,
        subject_key=candidate.subject_key,
        subject_refs=[],
        head_id=head.revision_id,
        version=head.version,
        live=head.live,
        folded=folded,
        folded_digest=mark,
        recorded_at=tx.now,
        expires_at=head.expires_at,
        created_at=head.created_at,
    )


def _insert_revision(
    tx: Transaction, parent: Head | None, head: Head, author: Author, said: Candidate | None
) -> None:
    tx.run(
        INSERT_REVISION,
        id=head.revision_id,
        memory_id=head.memory_id,
        version=head.version,
        supersedes_id=parent.revision_id if parent else None,
        text=said.text if said else None,
        title=said.title if said else None,
        category=said.category if said else None,
        tags=said.tags if said else (),
        expires_at=head.expires_at,
        origin=author.origin,
        author_user_id=author.user_id,
        author_agent_id=author.agent_id,
        run_id=author.run_id,
        conversation_id=author.conversation_id,
        forgotten_at=None if head.live else tx.now,
        created_at=tx.now,
    )


def _move_head(tx: Transaction, head: Head, folded: str | None, mark: bytes | None) -> None:
    tx.run(
        MOVE_HEAD,
        memory=head.memory_id,
        new_head_id=head.revision_id,
        new_version=head.version,
        new_live=head.live,
        new_folded=folded,
        new_folded_digest=mark,
        new_recorded_at=tx.now,
        new_expires_at=head.expires_at,
    )


def _record(tx: Transaction, event: str, head: Head, author: Author) -> None:
    record_activity(
        tx,
        event,
        subject_id=head.memory_id,
        user_id=author.user_id,
        agent_id=author.agent_id,
        version=head.version,
    )


def _chain(tx: Transaction, memory_id: UUID) -> Row:
    row = tx.one(CHAIN, memory=memory_id)
    if row is None:
        raise unknown_memory(memory_id)
    return row


def unknown_memory(memory_id: UUID) -> NotFound:
    """The refusal of a memory that is not there, or not for this caller."""
    return NotFound(
        f"There is no memory {memory_id}. A list of memories shows the ids that there are.",
        memory_id=str(memory_id),
    )


def _head(row: Row) -> Head:
    return Head(
        memory_id=row.id,
        revision_id=row.head_id,
        version=row.version,
        live=row.live,
        expires_at=row.expires_at,
        created_at=row.created_at,
        pinned=row.pinned,
    )


def _audience(row: Row) -> Audience:
    return Audience(user_id=row.user_id, agent_id=row.agent_id, space=row.space)


def _reader(subject: ContextSubject) -> dict[str, UUID | None]:
    return {"user": subject.user_id, "agent": subject.agent_id}


def _memory(
    tx: Transaction,
    head: Head,
    author: Author,
    said: Candidate | None,
    *,
    audience: Audience,
    subject_key: str | None,
) -> Memory:
    return Memory(
        id=head.memory_id,
        user_id=audience.user_id,
        agent_id=audience.agent_id,
        subject_key=subject_key,
        status=MemoryStatus.ACTIVE if head.live else MemoryStatus.FORGOTTEN,
        version=head.version,
        text=said.text if said else None,
        title=said.title if said else None,
        category=said.category if said else None,
        tags=said.tags if said else (),
        pinned=head.pinned,
        origin=author.origin,
        author_user_id=author.user_id,
        author_agent_id=author.agent_id,
        run_id=author.run_id,
        conversation_id=author.conversation_id,
        expires_at=head.expires_at,
        created_at=head.created_at,
        recorded_at=tx.now,
    )


def _shown(row: Row) -> Memory:
    return Memory.model_validate({"status": MemoryStatus.ACTIVE, **row._asdict()})
