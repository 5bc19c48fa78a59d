"""What changes a conversation, each within one transaction: append, save, clear, reset and purge."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias
from uuid import UUID

from memoranda.conversations.compaction import store as compactions
from memoranda.conversations.digests import NO_CHAIN, chain_after
from memoranda.conversations.errors import (
    check_generation,
    late_save,
    moved_on,
    not_seen,
    older_generation,
    too_large,
)
from memoranda.conversations.finding import store as index
from memoranda.conversations.generations import store as generations
from memoranda.conversations.models import ChangeAction, Conversation, ConversationKey
from memoranda.conversations.replacing import replace
from memoranda.conversations.rows import store as rows
from memoranda.conversations.rows.store import Held, Placed, Written
from memoranda.conversations.store import create
from memoranda.storage import Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject

Seen: TypeAlias = Callable[[Conversation], bool]
"""Whether the caller may know of a conversation."""


class Place(NamedTuple):
    """Which conversation is meant, by its key or its id, and by whom: whose it becomes where it is made."""

    key: ConversationKey | None
    id: UUID | None
    subject: ContextSubject
    seen: Seen


class Taken(NamedTuple):
    """The key has a conversation already."""

    by: Conversation


class Expected(NamedTuple):
    """What the conversation has to be for a change to be made; None is whatever it is."""

    fence: int | None = None
    length: int | None = None
    digest: str | None = None


def append(
    tx: Transaction, place: Place, turn: Sequence[Written], expected: Expected, most: int
) -> Conversation:
    """Put a turn behind the last message; all of it or nothing, at the cost of the turn."""
    held = _held(tx, place, expected)
    _check(tx, held, expected)
    return _append(tx, held, turn, most)


def save(
    tx: Transaction, place: Place, messages: Sequence[Written], expected: Expected, most: int
) -> tuple[Conversation, bool]:
    """Let these be the messages, in their order; what is there already is not written again.

    Answers too whether anything changed.
    """
    held = _held(tx, place, expected)
    _check(tx, held, expected)
    there = held.conversation
    if _goes_on(there, messages):
        if len(messages) == there.length:
            return there, False
        return _append(tx, held, messages[there.length :], most, action="saved"), True
    return replace(tx, held, messages, most), True


def clear(tx: Transaction, place: Place) -> Conversation | None:
    """Take all that was said away, and let no save that was begun before come through; what it is then.

    None for a key without a conversation, which has another fence from now on too.
    """
    held = _found(tx, place)
    if held is None:
        key = _locked(tx, place)
        held = _found(tx, place)
        if held is None:
            generations.set_fence(tx, key, fence_of(tx, key) + 1)
            return None
    _check(tx, held, Expected())
    (there,) = _empty(tx, [held.conversation], ended=False)
    rows.changed(tx, there, "cleared")
    return there


def end_generation(tx: Transaction, workflow_id: str) -> tuple[int, list[Conversation]]:
    """Let the next generation of the workflow begin, and end all conversations that there are.

    The caller records what changed. Answers the generation, and the conversations as they are then.
    """
    generations.lock(tx, workflow_id)
    generation = generations.begin_next(tx, workflow_id)
    found = generations.going_on(tx, workflow_id)
    generations.drop_fences(tx, workflow_id, generation)
    return generation, _empty(tx, found, ended=True)


def purge_workflow(tx: Transaction, workflow_id: str) -> list[Conversation]:
    """Delete every conversation of the workflow; a save that was begun before meets the next generation."""
    generations.lock(tx, workflow_id)
    generation = generations.begin_next(tx, workflow_id)
    found = generations.of_workflow(tx, workflow_id)
    generations.drop_fences(tx, workflow_id, generation)
    return _remove(tx, found)


def purge(tx: Transaction, place: Place) -> list[Conversation]:
    """Delete a conversation; a save that was begun before finds another fence. Raises `NotFound`."""
    held = _found(tx, place)
    return [] if held is None else _purge(tx, [held.conversation])


def purge_whole(tx: Transaction, place: Place) -> list[Conversation]:
    """Delete a conversation with all that it was branched into, likewise; the caller holds its workflow."""
    held = _found(tx, place)
    if held is None:
        return []
    return _purge(tx, [held.conversation, *generations.branches_of(tx, held.conversation)])


def purge_user(tx: Transaction, user_id: UUID) -> list[Conversation]:
    """Delete every conversation of the user."""
    return _purge(tx, generations.of_user(tx, user_id))


def fence_of(tx: Transaction, key: ConversationKey) -> int:
    """The fence of a key that has no conversation. Raises `OlderGeneration`, and `LaterGeneration`."""
    present = generations.present(tx, key.workflow_id)
    check_generation(key.workflow_id, key.generation, present)
    return generations.fence(tx, key)


def begin(tx: Transaction, key: ConversationKey, subject: ContextSubject) -> Conversation | Taken:
    """Make an empty conversation, unless another one has that key already."""
    generations.lock(tx, key.workflow_id)
    taken = rows.hold_key(tx, key)
    if taken is not None:
        return Taken(taken.conversation)
    made = _make(tx, key, subject).conversation
    rows.changed(tx, made, "created")
    return made


def begin_unnamed(tx: Transaction, subject: ContextSubject, generation: int) -> Conversation:
    """Make an empty conversation of no workflow."""
    made = create(tx, _blank(tx, None, subject, generation))
    rows.changed(tx, made, "created")
    return made


def _make(
    tx: Transaction, key: ConversationKey, subject: ContextSubject, fence: int | None = None
) -> Held:
    """Make the conversation of a key that has none, unless its generation or fence is an older one.

    The caller holds the workflow's lock.
    """
    present = fence_of(tx, key)
    if fence is not None and fence != present:
        raise late_save(present)
    made = _blank(tx, key.workflow_id, subject, key.generation)
    return Held(create(tx, made.model_copy(update={"fence": present})), 0, None)


def _blank(
    tx: Transaction, workflow_id: str | None, subject: ContextSubject, generation: int
) -> Conversation:
    return Conversation(
        id=new_id(),
        workflow_id=workflow_id,
        generation=generation,
        agent_id=subject.agent_id,
        user_id=subject.user_id,
        length=0,
        bytes=0,
        fence=0,
        digest="",
        created_at=tx.now,
        updated_at=tx.now,
    )


def _held(tx: Transaction, place: Place, expected: Expected) -> Held:
    held = _found(tx, place)
    if held is not None:
        return held
    key = _locked(tx, place)
    # Somebody may have made it before the lock was free.
    return _found(tx, place) or _make(tx, key, place.subject, expected.fence)


def _found(tx: Transaction, place: Place) -> Held | None:
    """The conversation, held; None for a key that has none. Raises `NotFound` for an id, or for another's."""
    if place.key is None:
        if place.id is None:
            raise AssertionError("a place names a key or an id")
        held = rows.hold(tx, place.id)
        if held is None:
            raise not_seen(place.id)
    else:
        held = rows.hold_key(tx, place.key)
    if held is not None and not place.seen(held.conversation):
        raise not_seen(place.id)
    return held


def _locked(tx: Transaction, place: Place) -> ConversationKey:
    if place.key is None:
        raise AssertionError("only a key can be without a conversation")
    generations.lock(tx, place.key.workflow_id)
    return place.key


def _check(tx: Transaction, held: Held, expected: Expected) -> None:
    there = held.conversation
    if held.ended_at is not None:
        present = generations.present(tx, there.workflow_id or "")
        raise older_generation(there.workflow_id, there.generation, present)
    if expected.fence is not None and expected.fence != there.fence:
        raise late_save(there.fence)
    if (expected.length is not None and expected.length != there.length) or (
        expected.digest is not None and expected.digest != there.digest
    ):
        raise moved_on(there.id, there.length, there.digest)


def _goes_on(there: Conversation, messages: Sequence[Written]) -> bool:
    """Whether the list begins with all that is stored: known from its chain, and not by reading it."""
    if len(messages) < there.length:
        return False
    chain = NO_CHAIN
    for each in messages[: there.length]:
        chain = chain_after(chain, each.digest)
    return chain == there.digest


def _append(
    tx: Transaction,
    held: Held,
    turn: Sequence[Written],
    most: int,
    *,
    action: ChangeAction = "appended",
) -> Conversation:
    there, last = held.conversation, held.last_position
    size = there.bytes + sum(each.bytes for each in turn)
    if size > most:
        raise too_large(size, most)
    placed: list[Placed] = []
    chain = there.digest
    for position, each in enumerate(turn, last + 1):
        chain = chain_after(chain, each.digest)
        placed.append(Placed(position, each, chain))
    rows.place(tx, there.id, placed)
    longer = rows.settle(
        tx,
        held,
        length=there.length + len(turn),
        size=size,
        digest=chain,
        last_position=last + len(turn),
    )
    index.mark(tx, there.id)
    rows.changed(tx, longer, action)
    return longer


def _purge(tx: Transaction, found: list[Conversation]) -> list[Conversation]:
    for each in found:
        if each.workflow_id is not None:
            generations.set_fence(tx, _key_of(each), each.fence + 1)
    return _remove(tx, found)


def _remove(tx: Transaction, found: list[Conversation]) -> list[Conversation]:
    """Delete conversations that are held, with all that was made of them."""
    if found:
        index.erase(tx, [each.id for each in found])
        generations.remove(tx, found)
        signal(tx, SCRUB)
    return found


def _empty(tx: Transaction, found: list[Conversation], *, ended: bool) -> list[Conversation]:
    if not found:
        return []
    ids = [each.id for each in found]
    index.erase(tx, ids)
    compactions.erase(tx, ids)
    rows.empty(tx, ids)
    return generations.emptied(tx, found, ended=ended)


def _key_of(there: Conversation) -> ConversationKey:
    return ConversationKey(
        workflow_id=there.workflow_id or "",
        generation=there.generation,
        agent_id=there.agent_id,
    )
