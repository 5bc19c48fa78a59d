"""The SQL of what people and runs read of memories: one by its id, lists, histories, counts."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Select, and_, bindparam, func, or_, select, union_all

from memoranda.memories.about import read_refs
from memoranda.memories.audience import Audience
from memoranda.memories.chain import restorable_until
from memoranda.memories.errors import unknown_memory
from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN, UNUSED_AFTER
from memoranda.memories.models import Memory, MemoryStatus, Origin, Revision
from memoranda.runs.store import left
from memoranda.storage import Row, Transaction, contains, one_of
from memoranda.storage.tables import memories, memory_revisions, purged_memories
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject

m, r = memories.c, memory_revisions.c
NEWEST: Final = UUID(int=2**128 - 1)
"""A page that begins before this id begins at the newest memory."""
OLDEST: Final = UUID(int=0)
SOME_TIME: Final = datetime.min.replace(tzinfo=UTC)

# All that a memory shows, and of it what columns say: not where it stands.
_ALL: Final = tuple(Memory.model_fields)
_STATUS: Final = _ALL.index("status")
_BESIDE: Final = {"status", "restorable_until", "hint", "branch_left"}
FIELDS: Final = tuple(name for name in _ALL if name not in _BESIDE)
_KNOWN: Final = len(FIELDS)
_ORIGINS: Final = {origin.value: origin for origin in Origin}
# What a memory says is its revision's; the chain's row repeats some of it for the newest one.
# Its id alone finds a revision: of any further condition PostgreSQL takes the chance to be true
# off its guess, expects one row in all, and then reads all memories for each page.
AT_HEAD: Final = memories.join(memory_revisions, r.id == m.head_id)
SHOWN: Final = tuple((m if name in m else r)[name] for name in FIELDS)
# What a page of chains is chosen and shown by.
CHAIN: Final = (m.head_id, *(m[name] for name in FIELDS if name in m))
# The same as `m.live`. Said so, no index of live memories alone can be read, and pages in the order of
# their ids are read in that order, which none of those has.
SAYING: Final = m.folded.is_not(None)
UNEXPIRED: Final = or_(m.expires_at.is_(None), m.expires_at > bindparam("now"))

# Neither said nor given to a run for so long that a person may want to look at it.
UNUSED: Final = and_(
    m.recorded_at < bindparam("unused_before"),
    or_(m.used_at.is_(None), m.used_at < bindparam("unused_before")),
)

# A subject's user and agent. `= NULL` is never true: without a user it meets no user's memory.
NO_USERS, ITS_USERS = m.user_id.is_(None), m.user_id == bindparam("user")
FOR_USER: Final = and_(m.space.is_(None), or_(NO_USERS, ITS_USERS))
FOR_AGENT: Final = or_(m.agent_id.is_(None), m.agent_id == bindparam("agent"))

# A forgotten memory says what it said before its tombstone.
end = memory_revisions.alias("ends")
BEFORE_END: Final = memories.join(end, end.c.id == m.head_id).join(
    memory_revisions, r.id == end.c.supersedes_id
)
SAID_BEFORE: Final = (
    *(r.expires_at if name == "expires_at" else (m if name in m else r)[name] for name in FIELDS),
    end.c.continued_by_id.label("continued_by_id"),
)

# The past: the last version that was there, by its number and not by a clock's.
then = memory_revisions.alias("then")
LATER_THEN: Final = (
    select(then.c.id)
    .where(
        then.c.memory_id == r.memory_id,
        then.c.version > r.version,
        then.c.created_at <= bindparam("now"),
    )
    .exists()
)
IN_THE_PAST: Final = memories.join(memory_revisions, r.memory_id == m.id)
SHOWN_THEN: Final = tuple(
    r.created_at.label("recorded_at")
    if name == "recorded_at"
    else (r if name in {"version", "expires_at"} else m if name in m else r)[name]
    for name in FIELDS
)


class Whose(Enum):
    """What kind of reader a list is for: it makes another statement, and whom it is for does not."""

    ANYBODYS = "anybody's"
    A_USERS = "a user's"
    AN_AGENTS = "an agent's"
    A_SPACES = "a space's"


class Wanted(NamedTuple):
    """Which memories a page is to show, beside those that the caller may know."""

    status: MemoryStatus = MemoryStatus.ACTIVE
    pinned_only: bool = False
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    oldest_first: bool = False
    as_of: datetime | None = None
    unused_only: bool = False

    def has_tag_of(self, tags: Sequence[str]) -> bool:
        """Whether one of these is wanted, or no tag in particular is."""
        return not self.tags or not set(self.tags).isdisjoint(tags)


# What is over is not shown as if it could come back, until the night takes it away.
RESTORABLE: Final = and_(
    m.recorded_at > bindparam("kept_since"),
    or_(r.expires_at.is_(None), r.expires_at > bindparam("now")),
)


def _live(*criteria: ColumnElement[bool]) -> Select[Any]:
    return select(*SHOWN).select_from(AT_HEAD).where(UNEXPIRED, *criteria)


def _chains(*criteria: ColumnElement[bool]) -> Select[Any]:
    return select(*CHAIN).where(UNEXPIRED, *criteria)


def _ended(*criteria: ColumnElement[bool]) -> Select[Any]:
    return select(*SAID_BEFORE).select_from(BEFORE_END).where(~m.live, *criteria)


def _past() -> Select[Any]:
    unexpired = or_(r.expires_at.is_(None), r.expires_at > bindparam("now"))
    last = r.created_at <= bindparam("now"), ~LATER_THEN
    view = select(*SHOWN_THEN).select_from(IN_THE_PAST)
    return view.where(r.text.is_not(None), unexpired, *last)


@cache
def listing(wanted: Wanted, whose: Whose) -> Select[Any]:
    """The page of such memories. Of a filter only that there is one makes another statement."""
    forgotten = wanted.status is MemoryStatus.FORGOTTEN
    few = wanted.pinned_only or wanted.unused_only or forgotten
    of_revisions = wanted.as_of is not None or bool(wanted.categories or wanted.tags)
    by_chains = not forgotten and not of_revisions
    if wanted.as_of is not None:
        view = _past()
    elif forgotten:
        view = _ended(end.c.continued_by_id.is_(None), RESTORABLE)
    else:
        view = (_chains if by_chains else _live)(m.live if few else SAYING)
    if wanted.pinned_only:
        view = view.where(m.pinned)
    if wanted.unused_only:
        view = view.where(UNUSED)
    if wanted.categories:
        view = view.where(one_of(r.category, "in_categories"))
    if wanted.tags:
        view = view.where(or_(*(contains(r.tags, name) for name in _tags(wanted))))
    page = _page(view, whose, few=few, oldest=wanted.oldest_first)
    return _heads(page, m.id, oldest=wanted.oldest_first) if by_chains else page


def _page(view: Select[Any], whose: Whose, *, few: bool, oldest: bool) -> Select[Any]:
    """The page of all that `view` shows to such a reader."""
    # Few among many are read from their own index and then put in order; as an index's column, the
    # id would lead through all of the organization's memories instead.
    by: ColumnElement[UUID] = func.coalesce(m.id, m.id) if few else m.id
    view = view.where(by > bindparam("from") if oldest else by < bindparam("from"))
    if whose is Whose.ANYBODYS:
        return _first(view, by, oldest=oldest)
    if whose is Whose.A_SPACES:
        in_space = m.space == bindparam("space"), or_(NO_USERS, ITS_USERS)
        return _first(view.where(*in_space), by, oldest=oldest)
    view = view.where(m.space.is_(None), *((FOR_AGENT,) if whose is Whose.AN_AGENTS else ()))
    if few:
        return _first(view.where(FOR_USER), by, oldest=oldest)
    return _merged(view.where(NO_USERS), view.where(ITS_USERS), m.id, oldest=oldest)


def _first(view: Select[Any], *by: ColumnElement[Any], oldest: bool = False) -> Select[Any]:
    return view.order_by(*_order(by, oldest=oldest)).limit(bindparam("most"))


def _order(by: Iterable[ColumnElement[Any]], *, oldest: bool) -> list[ColumnElement[Any]]:
    return [each if oldest else each.desc() for each in by]


def _merged(
    nobodys: Select[Any], users: Select[Any], *by: Column[Any], oldest: bool = False
) -> Select[Any]:
    """The first of both, each read from an index in this order, which leads through no other user's.

    Each is of one user, or of none: to name the user in the order changes nothing, and tells
    PostgreSQL that the index has it.
    """
    firsts = [_first(half, m.user_id, *by, oldest=oldest) for half in (nobodys, users)]
    both = union_all(
        *(select(first.subquery(f"half_{place}")) for place, first in enumerate(firsts))
    ).subquery("both")
    return _first(select(both), *(both.c[each.name] for each in by), oldest=oldest)


def _heads(page: Select[Any], *by: Column[Any], oldest: bool = False) -> Select[Any]:
    """What the chains of a page say: theirs alone are looked up, whatever a planner expects."""
    chosen = page.subquery("chosen").c
    shown = ((chosen if name in chosen else r)[name] for name in FIELDS)
    order = _order((chosen[each.name] for each in by), oldest=oldest)
    return select(*shown).where(r.id == chosen.head_id).order_by(*order)


def _recent_personal() -> Select[Any]:
    view = _chains(m.live, m.space.is_(None), ITS_USERS, m.agent_id.is_(None))
    return _heads(_first(view, m.recorded_at, m.id), m.recorded_at, m.id)


def _recent_shared(*criteria: ColumnElement[bool]) -> Select[Any]:
    view = _chains(m.live, m.space.is_(None), *criteria)
    nobodys, users = view.where(NO_USERS), view.where(ITS_USERS, m.agent_id.is_not(None))
    return _heads(_merged(nobodys, users, m.recorded_at, m.id), m.recorded_at, m.id)


LIVE_MEMORY: Final = _live(m.live, m.id == bindparam("memory"))
LIVE_ONES: Final = _live(m.live, one_of(m.id, "ids"))
ENDED_MEMORY: Final = _ended(m.id == bindparam("memory"))
REVISIONS: Final = (
    select(*(r[name] for name in Revision.model_fields))
    .where(r.memory_id == bindparam("memory"))
    .order_by(r.version)
)
AUDIENCES: Final = select(m.id, m.user_id, m.agent_id, m.space).where(one_of(m.id, "ids"))
ABOUT: Final = select(m.subject_refs).where(m.id == bindparam("memory"))
PURGED: Final = select(
    purged_memories.c.user_id, purged_memories.c.agent_id, purged_memories.c.space
).where(purged_memories.c.id == bindparam("memory"))
RECENT_PERSONAL: Final = _recent_personal()
RECENT_SHARED: Final = _recent_shared(FOR_AGENT)
RECENT_SHARED_FOR_ANY_AGENT: Final = _recent_shared()


def live_memory(tx: Transaction, memory_id: UUID) -> tuple[Audience, Memory]:
    """The memory and for whom it is. Raises `NotFound`, also where it is forgotten or expired."""
    row = tx.one(LIVE_MEMORY, memory=memory_id, now=tx.now)
    if row is None:
        raise unknown_memory(memory_id)
    (memory,) = with_branches(tx, [shown(row)])
    return Audience(row.user_id, row.agent_id, row.space), memory


def live_ones(tx: Transaction, memory_ids: list[UUID]) -> list[Memory]:
    """Those of these memories that are live, in no order."""
    rows = tx.all(LIVE_ONES, ids=memory_ids, now=tx.now)
    return with_branches(tx, [shown(row) for row in rows])


def ended(tx: Transaction, memory_id: UUID) -> Memory:
    """A memory that has ended, with what it said before. Raises `NotFound` for any other."""
    row = tx.one(ENDED_MEMORY, memory=memory_id)
    if row is None:
        raise unknown_memory(memory_id)
    (memory,) = with_branches(tx, [_forgotten(row)])
    return memory


def revisions(tx: Transaction, memory_id: UUID) -> list[Revision]:
    """All of a memory's revisions, the oldest first."""
    return [Revision.model_validate(row._asdict()) for row in tx.all(REVISIONS, memory=memory_id)]


def audiences(tx: Transaction, memory_ids: list[UUID]) -> dict[UUID, Audience]:
    """For whom these memories are, where they are there."""
    rows = tx.all(AUDIENCES, ids=memory_ids)
    return {row.id: Audience(row.user_id, row.agent_id, row.space) for row in rows}


def subject_refs(tx: Transaction, memory_id: UUID) -> tuple[ResourceRef, ...]:
    """What the memory is about, forgotten or not."""
    row = tx.one(ABOUT, memory=memory_id)
    return () if row is None else read_refs(row.subject_refs)


def purged(tx: Transaction, memory_id: UUID) -> Audience | None:
    """For whom a memory was that is purged; None where no memory of that id was."""
    row = tx.one(PURGED, memory=memory_id)
    return None if row is None else Audience(*row)


def page(
    tx: Transaction,
    reader: ContextSubject | None,
    wanted: Wanted,
    cursor: UUID | None,
    most: int,
    *,
    space: str | None = None,
) -> list[Memory]:
    """Such memories as `reader` may know (None: anybody's), in the order of their chains' ids.

    With a space: those of that space that are its user's, or no user's.

    The newest chain comes first unless the oldest is wanted first; the page goes on from
    `cursor`. A tag is looked for in the text of the list of tags, so that a row in a
    million may have another one: the caller looks at the tags once more.
    """
    statement = listing(_shape(wanted), _whose(reader, space))
    rows = tx.all(
        statement,
        **{"from": cursor or (OLDEST if wanted.oldest_first else NEWEST)},
        now=wanted.as_of or tx.now,
        unused_before=tx.now - UNUSED_AFTER,
        kept_since=tx.now - KEPT_WHEN_FORGOTTEN,
        most=most,
        user=reader and reader.user_id,
        agent=reader and reader.agent_id,
        space=space,
        in_categories=list(wanted.categories),
        **{
            name: json.dumps(tag, ensure_ascii=False)
            for name, tag in zip(_tags(wanted), wanted.tags, strict=True)
        },
    )
    make = _forgotten if wanted.status is MemoryStatus.FORGOTTEN else shown
    return with_branches(tx, [make(row) for row in rows], wanted.as_of)


def recent(tx: Transaction, subject: ContextSubject, *, personal: bool, most: int) -> list[Memory]:
    """Live memories that `subject` may know, the last recorded first.

    `personal` picks those that are its user's own and of no agent; otherwise all the others.
    """
    if personal:
        statement = RECENT_PERSONAL
    else:
        statement = RECENT_SHARED_FOR_ANY_AGENT if subject.agent_id is None else RECENT_SHARED
    rows = tx.all(statement, now=tx.now, most=most, user=subject.user_id, agent=subject.agent_id)
    return with_branches(tx, [shown(row) for row in rows])


def with_branches(
    tx: Transaction, memories: list[Memory], then: datetime | None = None
) -> list[Memory]:
    """The memories, of which those say so that were written on a branch that was left, and with `then` was by that time."""
    runs = {each.run_id for each in memories if each.run_id is not None}
    gone = left(tx, runs, then) if runs else frozenset()
    if not gone:
        return memories
    return [
        each.model_copy(update={"branch_left": True}) if each.run_id in gone else each
        for each in memories
    ]


def shown(
    row: Row, status: MemoryStatus = MemoryStatus.ACTIVE, until: datetime | None = None
) -> Memory:
    """The memory of a row of `SHOWN`, and of what stands beside it."""
    values = (*row[:_STATUS], status, *row[_STATUS:_KNOWN], until, None, False)
    fields = dict(zip(_ALL, values, strict=True))
    fields["tags"] = tuple(fields["tags"])
    fields["origin"] = _ORIGINS[fields["origin"]]
    fields["subject_refs"] = read_refs(fields["subject_refs"])
    return Memory.kept(fields)


def _forgotten(row: Row) -> Memory:
    until = None
    if row.continued_by_id is None:
        until = restorable_until(row.recorded_at, row.expires_at)
    return shown(row, MemoryStatus.FORGOTTEN, until)


def _whose(reader: ContextSubject | None, space: str | None) -> Whose:
    if space is not None:
        return Whose.A_SPACES
    if reader is None:
        return Whose.ANYBODYS
    return Whose.A_USERS if reader.agent_id is None else Whose.AN_AGENTS


def _tags(wanted: Wanted) -> list[str]:
    """What the tags are called that a statement looks for."""
    return [f"with_tag_{place}" for place, _ in enumerate(wanted.tags)]


def _shape(wanted: Wanted) -> Wanted:
    """What of a wish makes another statement: not what is looked for, but by what."""
    return wanted._replace(
        categories=("",) if wanted.categories else (),
        tags=("",) * len(wanted.tags),
        as_of=None if wanted.as_of is None else SOME_TIME,
    )
