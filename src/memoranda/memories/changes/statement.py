"""What somebody says: the chain that it comes to, what it becomes there, and what ends for it."""

from typing import NamedTuple
from uuid import UUID

from memoranda.memories import chain
from memoranda.memories.about import read_refs
from memoranda.memories.candidate import Author, Candidate, Mark
from memoranda.memories.chain import Head
from memoranda.memories.changes.pair import Holding, hold_other
from memoranda.memories.changes.store import Change, append, begin, end
from memoranda.memories.heads import store as heads
from memoranda.memories.heads.store import head_of
from memoranda.memories.models import Memory, MemoryStatus
from memoranda.storage import Row, Transaction
from memoranda.words.errors import Conflict


class Met(NamedTuple):
    """The chain that a statement comes to, and what it says now where a key names it; without one it begins one."""

    row: Row | None
    said: Row | None = None


def meet(tx: Transaction, candidate: Candidate, mark: Mark) -> Met:
    """The chain of the statement's key, held, or the one that has its text."""
    if candidate.subject_key is None:
        return Met(heads.holder_of(tx, candidate.audience, mark))
    row = heads.held_by_key(tx, candidate.audience.spelled, candidate.subject_key)
    return Met(row, None if row is None else heads.said_in(tx, row.id, row.version))


def meet_moved(tx: Transaction, candidate: Candidate, mark: Mark, holding: Holding) -> Met:
    """Likewise for what is moved there, from the chain that is held. Raises `Conflict` where a live one is."""
    row = hold_other(tx, candidate, mark, holding)
    if row is None:
        return Met(None)
    if head_of(row).holds(tx.now):
        raise _taken(head_of(row))
    named = candidate.subject_key is not None
    return Met(row, heads.said_in(tx, row.id, row.version) if named else None)


def say(
    tx: Transaction,
    candidate: Candidate,
    mark: Mark,
    met: Met,
    *,
    memory_id: UUID | None = None,
    action: str | None = None,
    moved: Row | None = None,
) -> tuple[Memory, Change]:
    """Write what a chain says from now on, or begin it, as what continues `moved`.

    Answers the memory as it then stands, and what is to be settled. Raises
    `DuplicateMemory` when it says the same already.
    """
    of = (candidate.audience, candidate.author)
    if met.row is None:
        head = begin(tx, candidate, mark, memory_id=memory_id, moved=moved)
        begun = Change(
            head, *of, action or "created", candidate, fresh=True, active=1, pinned=head.pinned
        )
        return memory_of(tx, head, candidate, moved), begun
    parent, said = head_of(met.row), met.said
    chain.parent_of_next(parent, same_text=said is None or said.text == candidate.text, now=tx.now)
    if parent.holds(tx.now):
        candidate = candidate._replace(pinned=candidate.pinned or parent.pinned)
    lapsed = parent.live and not parent.holds(tx.now)
    head = append(tx, parent, candidate, mark)
    added = Change(
        head,
        *of,
        action or "updated",
        candidate,
        fresh=not parent.live,
        active=not parent.live,
        forgotten=-(not parent.live and said is not None and said.continued_by_id is None),
        pinned=head.pinned - parent.pinned,
        lapsed=lapsed,
        lapsed_pins=lapsed and parent.pinned,
    )
    return memory_of(tx, head, candidate, met.row), added


def ending(
    tx: Transaction, held: Row, author: Author, action: str, continued_by_id: UUID | None
) -> Change:
    """Write the tombstone of a chain that is held; what is to be settled."""
    lapsed = not head_of(held).holds(tx.now)
    return Change(
        end(tx, head_of(held), author, continued_by_id),
        heads.audience_of(held),
        author,
        action,
        details={} if continued_by_id is None else {"continued_by_id": str(continued_by_id)},
        active=-1,
        forgotten=continued_by_id is None,
        pinned=-held.pinned,
        lapsed=lapsed,
        lapsed_pins=lapsed and held.pinned,
    )


def make_room(tx: Transaction, wanted: Candidate, mark: Mark, holding: Holding) -> list[Change]:
    """End the expired memory that still stands under this text. Raises `DuplicateMemory` for a live one."""
    if wanted.subject_key is not None:
        return []
    other = hold_other(tx, wanted, mark, holding)
    if other is None:
        return []
    if head_of(other).holds(tx.now):
        raise chain.said_already(head_of(other))
    return [ending(tx, other, wanted.author, "merged", holding.memory_id)]


def _taken(head: Head) -> Conflict:
    """The refusal of a move to where another memory stands in the way."""
    return Conflict(
        f"That audience has memory {head.memory_id} under this attribute or with this text already. "
        "Forget one of them first.",
        memory_id=str(head.memory_id),
        version=head.version,
    )


def memory_of(tx: Transaction, head: Head, said: Candidate, used: Row | None) -> Memory:
    """The memory as it now stands; `used` is the chain whose use it goes on counting."""
    author = said.author
    return Memory(
        id=head.memory_id,
        user_id=said.audience.user_id,
        agent_id=said.audience.agent_id,
        space=said.audience.space,
        subject_key=said.subject_key,
        status=MemoryStatus.ACTIVE,
        version=head.version,
        text=said.text,
        title=said.title,
        category=said.category,
        tags=said.tags,
        pinned=head.pinned,
        origin=author.origin,
        author_user_id=author.user_id,
        author_agent_id=author.agent_id,
        run_id=author.run_id,
        conversation_id=author.conversation_id,
        expires_at=head.expires_at,
        created_at=head.created_at,
        recorded_at=tx.now,
        uses=used.uses if used else 0,
        used_at=used.used_at if used else None,
        subject_refs=read_refs(said.subject_refs),
    )
