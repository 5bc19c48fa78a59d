"""The SQL of the verbs that change memories, each a whole change within one transaction."""

from collections.abc import Sequence
from typing import cast
from uuid import UUID

from memoranda.memories import chain
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import (
    UNSET,
    Author,
    Candidate,
    Edit,
    check_future,
    check_secrets,
    mark_of,
    moved_key,
)
from memoranda.memories.changes.pair import Holding, hold_lower
from memoranda.memories.changes.statement import (
    ending,
    make_room,
    meet,
    meet_moved,
    memory_of,
    say,
)
from memoranda.memories.changes.store import Change, append, set_pinned, settle
from memoranda.memories.errors import NotRestorable, unknown_memory
from memoranda.memories.heads import store as heads
from memoranda.memories.heads.store import audience, head_of
from memoranda.memories.models import Memory
from memoranda.memories.views import store as views
from memoranda.memories.ways import Ways
from memoranda.storage import Row, Transaction

__all__ = [
    "Ways",
    "audience",
    "change",
    "forget",
    "hold",
    "remember",
    "restore",
    "tombstone",
]


def remember(
    tx: Transaction,
    candidate: Candidate,
    ways: Ways,
    *,
    memory_id: UUID | None = None,
    action: str | None = None,
    decided_by: Author | None = None,
) -> Memory:
    """Begin a chain (as `memory_id`, where one is given) or add to the one that is there.

    Answers the memory as it then stands. The activity names `decided_by` where another
    than the author lets it be said. Raises `DuplicateMemory` when a live memory
    says the same, `MemoriesFull` and `PinsFull`. Where another writer was first, the
    transaction ends in `ConstraintViolated`: run again, it meets the new head.
    """
    check_future(tx.now, candidate.expires_at)
    mark = mark_of(candidate.text)
    met = meet(tx, candidate, mark)
    memory, changed = say(tx, candidate, mark, met, memory_id=memory_id, action=action)
    settle(tx, [changed._replace(author=decided_by or changed.author)], ways)
    return memory


def change(
    tx: Transaction,
    memory_id: UUID,
    edit: Edit,
    author: Author,
    ways: Ways,
    *,
    expected_version: int | None = None,
    pinned: bool | None = None,
    to: Audience | None = None,
    action: str = "updated",
) -> Memory:
    """Edit, pin and move in one, and answer the memory as it then stands; a moved one has a new id.

    What is so already makes no revision and no event; the same text and nothing else is
    `DuplicateMemory`, as is a text that another memory of the audience holds. Raises
    `NotFound`, `Conflict` for a forgotten memory, `StaleVersion`, `MemoriesFull` and
    `PinsFull`; in a lost race `ConstraintViolated`, as `remember` does.
    """
    text_chars = ways.limits.text_chars
    holding = _hold_lower_for_change(tx, memory_id, edit, author, to, text_chars=text_chars)
    held, present = heads.active(tx, memory_id, author, expected_version)
    wanted = edit.of(present, text_chars)
    if wanted.expires_at != present.expires_at:
        check_future(tx.now, wanted.expires_at)
    if pinned is not None:
        wanted = wanted._replace(pinned=pinned)
    if to is not None and to != present.audience:
        return _move(tx, held, present, _moved(tx, wanted, to), ways, holding=holding)
    if wanted._replace(pinned=present.pinned) != present:
        return _edit(tx, held, present, wanted, ways, holding=holding, action=action)
    if wanted.pinned != present.pinned:
        return _pin(tx, held, wanted, ways)
    if edit.text is not UNSET:
        raise chain.said_already(head_of(held))
    return views.live_memory(tx, memory_id)[1]


def forget(
    tx: Transaction,
    memory_id: UUID,
    author: Author,
    ways: Ways,
    *,
    expected_version: int | None = None,
) -> Memory:
    """Add a tombstone that may be taken back. Raises as `tombstone` does."""
    return tombstone(tx, memory_id, author, ways, expected_version=expected_version)


def tombstone(
    tx: Transaction,
    memory_id: UUID,
    author: Author,
    ways: Ways,
    *,
    expected_version: int | None = None,
    continued_by_id: UUID | None = None,
    action: str | None = None,
) -> Memory:
    """End a memory: nothing but its history shows it; `continued_by_id` says where it goes on.

    Answers what it said, as a forgotten memory. Raises `NotFound`, `Conflict` when it is
    forgotten already, and `StaleVersion`.
    """
    held = heads.held(tx, memory_id)
    chain.parent_of_tombstone(head_of(held))
    heads.check_version(tx, held, expected_version)
    named = action or ("forgotten" if continued_by_id is None else "merged")
    ended = ending(tx, held, author, named, continued_by_id)
    memory = views.ended(tx, memory_id)
    settle(tx, [ended], ways)
    return memory


def restore(
    tx: Transaction, memory_id: UUID, author: Author, ways: Ways, *, action: str = "restored"
) -> Memory:
    """Let a forgotten memory say again what it said last.

    Raises `NotFound`, `Conflict` for a memory that is live or goes on as another one,
    `DuplicateMemory` where another says it by now, `MemoriesFull`, `NotRestorable`
    when its time has passed, and `SecretFound` for what would be refused today.
    """
    seen = heads.seen(tx, memory_id, author)
    ended = seen is not None and not seen[0].live and seen[1].subject_key is None
    holding = hold_lower(tx, memory_id, seen[1] if seen is not None and ended else None)
    held = heads.held(tx, memory_id)
    again = _restorable(tx, held, author)
    check_secrets(again.text, again.title, again.category, again.tags)
    mark = mark_of(again.text)
    rest = make_room(tx, again, mark, holding)
    head = append(tx, head_of(held), again, mark)
    back = Change(head, again.audience, author, action, again, fresh=True, active=1, forgotten=-1)
    settle(tx, [back, *rest], ways)
    return memory_of(tx, head, again, held)


def hold(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    """Wait for these memories in the order of their ids, before a write that changes several of them.

    Those that are not there are left out.
    """
    for memory_id in sorted(memory_ids):
        heads.wait(tx, memory_id)


def _hold_lower_for_change(
    tx: Transaction,
    memory_id: UUID,
    edit: Edit,
    author: Author,
    to: Audience | None,
    *,
    text_chars: int,
) -> Holding:
    """Hold what the change may end or go on with, where its turn comes first; most changes need nothing."""
    wanted = None
    if edit.text is not UNSET or to is not None:
        seen = heads.seen(tx, memory_id, author)
        if seen is not None and seen[0].live:
            present = seen[1]
            if to is not None and to != present.audience:
                wanted = _moved(tx, edit.of(present, text_chars), to)
            elif edit.text is not UNSET and present.subject_key is None:
                wanted = edit.of(present, text_chars)
    return hold_lower(tx, memory_id, wanted)


def _moved(tx: Transaction, said: Candidate, to: Audience) -> Candidate:
    """The same for another audience, under its own key."""
    organization = cast("UUID", tx.scope)  # the platform has no memories
    key = moved_key(said.subject_key, said.audience, to, organization)
    return said._replace(audience=to, subject_key=key)


def _edit(
    tx: Transaction,
    held: Row,
    present: Candidate,
    wanted: Candidate,
    ways: Ways,
    *,
    holding: Holding,
    action: str,
) -> Memory:
    same = wanted.text == present.text
    mark = mark_of(wanted.text)
    rest = [] if same else make_room(tx, wanted, mark, holding)
    head = append(tx, head_of(held), wanted, mark)
    edited = Change(
        head,
        wanted.audience,
        wanted.author,
        action,
        wanted,
        vector_of=held.id if same else None,
        pinned=head.pinned - held.pinned,
    )
    settle(tx, [edited, *rest], ways)
    return memory_of(tx, head, wanted, held)


def _pin(tx: Transaction, held: Row, wanted: Candidate, ways: Ways) -> Memory:
    set_pinned(tx, held.id, pinned=wanted.pinned)
    _, memory = views.live_memory(tx, held.id)
    pinned = Change(
        head_of(held),
        wanted.audience,
        wanted.author,
        "pinned" if wanted.pinned else "unpinned",
        details={"pinned": wanted.pinned},
        pinned=wanted.pinned - held.pinned,
    )
    settle(tx, [pinned], ways)
    return memory


def _move(
    tx: Transaction,
    held: Row,
    present: Candidate,
    wanted: Candidate,
    ways: Ways,
    *,
    holding: Holding,
) -> Memory:
    mark = mark_of(wanted.text)
    met = meet_moved(tx, wanted, mark, holding)
    memory, begun = say(tx, wanted, mark, met, action="moved", moved=held)
    begun = begun._replace(
        vector_of=held.id if wanted.text == present.text else None,
        details={"continues_id": str(held.id)},
    )
    ended = ending(tx, held, wanted.author, "moved", memory.id)
    settle(tx, [begun, ended._replace(recorded=False)], ways)
    return memory


def _restorable(tx: Transaction, held: Row, author: Author) -> Candidate:
    """What a tombstone took away, for `author` to say again."""
    head = head_of(held)
    if head.live:
        if head.holds(tx.now):
            raise heads.ended_already(head, "is active, so that there is nothing to restore")
        raise unknown_memory(held.id)
    last = heads.said_in(tx, held.id, held.version)
    if last.continued_by_id is not None:
        raise heads.ended_already(head, "goes on as another memory, which its history names")
    said = heads.said_in(tx, held.id, held.version - 1)
    if chain.restorable_until(last.created_at, said.expires_at) <= tx.now:
        raise NotRestorable(
            f"Memory {held.id} was forgotten too long ago, or has expired since. Remember it anew.",
            memory_id=str(held.id),
        )
    return heads.candidate_of(held, said, author)
