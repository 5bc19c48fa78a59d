"""The SQL of finding the chain that a write is about, and holding it until the commit."""

import json
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, bindparam, or_, select, union_all

from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate, Mark
from memoranda.memories.chain import Head
from memoranda.memories.errors import StaleVersion, unknown_memory
from memoranda.storage import Row, Transaction, mine
from memoranda.storage.tables import memories, memory_revisions
from memoranda.words.errors import Conflict

m, r = memories.c, memory_revisions.c
COLUMNS: Final = (
    *(m.id, m.head_id, m.version, m.live, m.expires_at, m.created_at, m.pinned),
    *(m.user_id, m.agent_id, m.space, m.audience, m.subject_key, m.uses, m.used_at),
    m.subject_refs,
)
UNEXPIRED: Final = or_(m.expires_at.is_(None), m.expires_at > bindparam("now"))


def _holder(*criteria: ColumnElement[bool]) -> Select[Any]:
    same = (m.audience == bindparam("spelled"), m.folded_digest == bindparam("digest"), m.live)
    return select(*COLUMNS).where(mine(memories), *same, *criteria)


TITLED: Final = (
    select(m.id)
    .select_from(memories.join(memory_revisions, r.id == m.head_id))
    .where(
        mine(memories),
        m.audience == bindparam("spelled"),
        m.live,
        UNEXPIRED,
        r.title == bindparam("title"),
    )
)
AUDIENCE: Final = select(m.user_id, m.agent_id, m.space).where(m.id == bindparam("memory"))
SEEN: Final = select(*COLUMNS).where(m.id == bindparam("memory"))
# A writer holds its chain's row: the next one waits, and then sees what this one wrote.
HELD: Final = SEEN.with_for_update()
BY_KEY: Final = select(*COLUMNS).where(
    m.audience == bindparam("spelled"), m.subject_key == bindparam("key")
)
HELD_BY_KEY: Final = BY_KEY.with_for_update()
# Two halves, so that each is read from its own index. An expired memory under a key holds nothing.
HOLDERS: Final = union_all(
    _holder(m.subject_key.is_(None)), _holder(m.subject_key.is_not(None), UNEXPIRED)
)
SAID: Final = select(
    r.text, r.title, r.category, r.tags, r.expires_at, r.continued_by_id, r.created_at
).where(r.memory_id == bindparam("memory"), r.version == bindparam("said_in"))


def held(tx: Transaction, memory_id: UUID) -> Row:
    """The chain, which until the commit nobody else changes. Raises `NotFound`."""
    row = tx.one(HELD, memory=memory_id)
    if row is None:
        raise unknown_memory(memory_id)
    return row


def wait(tx: Transaction, memory_id: UUID) -> None:
    """Wait for the chain, and hold it, if it is there."""
    tx.one(HELD, memory=memory_id)


def seen(tx: Transaction, memory_id: UUID, author: Author) -> tuple[Row, Candidate] | None:
    """The chain and what it said last, as it is just now: somebody may be changing it."""
    row = tx.one(SEEN, memory=memory_id)
    if row is None:
        return None
    said = tx.one(SAID, memory=memory_id, said_in=row.version if row.live else row.version - 1)
    return None if said is None else (row, candidate_of(row, said, author))


def by_key(tx: Transaction, spelled: str, key: str, *, but: UUID) -> Row | None:
    """The audience's other chain under that key, as it is just now."""
    row = tx.one(BY_KEY, spelled=spelled, key=key)
    return None if row is None or row.id == but else row


def held_by_key(tx: Transaction, spelled: str, key: str) -> Row | None:
    """The audience's chain under that key, held likewise."""
    return tx.one(HELD_BY_KEY, spelled=spelled, key=key)


def active(
    tx: Transaction, memory_id: UUID, author: Author, expected_version: int | None
) -> tuple[Row, Candidate]:
    """The chain of a memory that people can see, and what it says, as `author` would say it.

    Raises `NotFound`, `Conflict` for one that is forgotten, and `StaleVersion`.
    """
    row = held(tx, memory_id)
    head = head_of(row)
    if not head.live:
        raise ended_already(head, "is forgotten: restore it first")
    if not head.holds(tx.now):
        raise unknown_memory(memory_id)
    check_version(tx, row, expected_version)
    return row, candidate_of(row, said_in(tx, memory_id, row.version), author)


def holder_of(
    tx: Transaction, audience: Audience, mark: Mark, *, but: UUID | None = None
) -> Row | None:
    """Of the audience's other chains with that text, the one that holds it; else one that did and has expired."""
    rows = tx.all(HOLDERS, spelled=audience.spelled, digest=mark.digest, now=tx.now)
    others = [row for row in rows if row.id != but]
    return min(others, key=lambda row: not head_of(row).holds(tx.now), default=None)


def check_title_is_free(
    tx: Transaction, audience: Audience, title: str, *, but: UUID | None = None
) -> None:
    """Raise `Conflict` where another memory of the audience has the title; until the commit nobody else takes it.

    It holds against those alone who ask this too.
    """
    tx.lock(f"title of a memory {json.dumps([audience.spelled, title])}")
    rows = tx.all(TITLED, spelled=audience.spelled, title=title, now=tx.now)
    taken = next((row.id for row in rows if row.id != but), None)
    if taken is not None:
        raise Conflict(
            f"Memory {taken} has this title already: choose another one.",
            field="title",
            taken_by=str(taken),
        )


def said_in(tx: Transaction, memory_id: UUID, version: int) -> Row:
    """What that version of a memory says."""
    row = tx.one(SAID, memory=memory_id, said_in=version)
    if row is None:  # a head and what it follows are always there
        raise AssertionError(f"memory {memory_id} has no version {version}")
    return row


def audience(tx: Transaction, memory_id: UUID) -> Audience:
    """For whom the memory is, forgotten or not. Raises `NotFound`."""
    row = tx.one(AUDIENCE, memory=memory_id)
    if row is None:
        raise unknown_memory(memory_id)
    return Audience(*row)


def check_version(tx: Transaction, row: Row, expected: int | None) -> None:
    """Raise `StaleVersion`, with what the memory says now, unless it is at the expected version."""
    if expected is not None and expected != row.version:
        raise StaleVersion(
            f"Memory {row.id} is at version {row.version} by now, not at {expected}. "
            "Look at what it says, and decide again.",
            memory_id=str(row.id),
            version=row.version,
            text=said_in(tx, row.id, row.version).text,
        )


def ended_already(head: Head, how: str) -> Conflict:
    """The refusal of a change to a memory that has ended."""
    return Conflict(
        f"Memory {head.memory_id} {how}.", memory_id=str(head.memory_id), version=head.version
    )


def head_of(row: Row) -> Head:
    """The chain's newest revision."""
    return Head(
        memory_id=row.id,
        revision_id=row.head_id,
        version=row.version,
        live=row.live,
        expires_at=row.expires_at,
        created_at=row.created_at,
        pinned=row.pinned,
    )


def audience_of(row: Row) -> Audience:
    """For whom the chain is."""
    return Audience(user_id=row.user_id, agent_id=row.agent_id, space=row.space)


def candidate_of(row: Row, said: Row, author: Author) -> Candidate:
    """What a revision says, for `author` to say again."""
    return Candidate(
        audience=audience_of(row),
        subject_key=row.subject_key,
        text=said.text,
        title=said.title,
        category=said.category,
        tags=tuple(said.tags),
        expires_at=said.expires_at,
        author=author,
        pinned=row.pinned,
        # As it is stored, so that what can't be read is carried on and not lost.
        subject_refs=row.subject_refs,
    )
