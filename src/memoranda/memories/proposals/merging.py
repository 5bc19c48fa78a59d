"""Accepting a merge: one memory says what several said, and those end in it."""

from collections.abc import Collection, Iterable
from uuid import UUID

from memoranda.memories import chain
from memoranda.memories.candidate import Author, Candidate, Mark, mark_of
from memoranda.memories.changes.store import Change, append, end, settle
from memoranda.memories.heads import store as heads
from memoranda.memories.heads.store import audience_of, head_of
from memoranda.memories.models import Memory, MergedMemory
from memoranda.memories.store import hold
from memoranda.memories.views import store as views
from memoranda.memories.ways import Ways
from memoranda.storage import Row, Transaction
from memoranda.storage.errors import LostRace
from memoranda.words.errors import Conflict, NotFound


def merge(
    tx: Transaction,
    members: Iterable[MergedMemory],
    said: Candidate,
    ways: Ways,
    *,
    action: str,
    decided_by: Author,
) -> Memory:
    """Let the first of `members` say `said`, and end the others in it; answer it as it then stands.

    Raises `StaleVersion` and `Conflict` where one of them has changed or ended since,
    `DuplicateMemory` where yet another memory says it.
    """
    members = list(members)
    mark = mark_of(said.text)
    # What else has that text too, so that all of them are taken in the one order.
    other = heads.holder_of(tx, said.audience, mark)
    held = {each.id for each in members} | ({other.id} if other else set())
    hold(tx, list(held))
    survivor, *others = [_unchanged(tx, each) for each in members]
    wanted = said._replace(
        audience=audience_of(survivor), subject_key=survivor.subject_key, pinned=survivor.pinned
    )
    ended = [_ended_in(tx, other, wanted.author, survivor.id) for other in others]
    ended += _room(tx, wanted, mark, survivor.id, held)
    present = heads.said_in(tx, survivor.id, survivor.version)
    merged = Change(
        append(tx, head_of(survivor), wanted, mark),
        wanted.audience,
        decided_by,
        action,
        wanted,
        vector_of=survivor.id if present.text == wanted.text else None,
        details={"merged": [str(other.id) for other in others]},
    )
    settle(tx, [merged, *ended], ways)
    return views.live_memory(tx, survivor.id)[1]


def _unchanged(tx: Transaction, member: MergedMemory) -> Row:
    """The memory's chain, held, as long as it says what it said when the merge was proposed."""
    try:
        row = heads.held(tx, member.id)
    except NotFound:
        raise _gone(member.id) from None
    if not head_of(row).holds(tx.now):
        raise _gone(member.id)
    heads.check_version(tx, row, member.version)
    return row


def _gone(memory_id: UUID) -> Conflict:
    return Conflict(
        f"Memory {memory_id}, which this merge joins, says nothing any more. "
        "Discard the merge, and tidy up again.",
        memory_id=str(memory_id),
    )


def _ended_in(tx: Transaction, row: Row, author: Author, survivor_id: UUID) -> Change:
    """End a memory as a part of the merge, which alone is recorded."""
    return Change(
        end(tx, head_of(row), author, survivor_id),
        audience_of(row),
        author,
        "merged",
        recorded=False,
        active=-1,
        pinned=-row.pinned,
    )


def _room(
    tx: Transaction, wanted: Candidate, mark: Mark, survivor_id: UUID, held: Collection[UUID]
) -> list[Change]:
    """End the expired memory that stands under this text. Raises `DuplicateMemory` for a live one."""
    if wanted.subject_key is not None:
        return []
    other = heads.holder_of(tx, wanted.audience, mark, but=survivor_id)
    if other is None:
        return []
    if head_of(other).holds(tx.now):
        raise chain.said_already(head_of(other))
    if other.id not in held:
        raise LostRace  # it came meanwhile, and its turn to be held may be over
    return [_ended_in(tx, other, wanted.author, survivor_id)]
