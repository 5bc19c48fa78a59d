"""What is done with branches, each within one transaction."""

from collections.abc import Sequence
from typing import Final

from memoranda.conversations import replacing, writing
from memoranda.conversations import store as messages
from memoranda.conversations.branches import store
from memoranda.conversations.branches.models import MAIN, Branch
from memoranda.conversations.errors import check_generation, not_seen
from memoranda.conversations.generations import store as generations
from memoranda.conversations.models import Conversation, ConversationKey, StoredMessage
from memoranda.conversations.replacing import Target
from memoranda.conversations.rows import store as rows
from memoranda.conversations.rows.store import Written
from memoranda.conversations.writing import Expected, Place
from memoranda.storage import Transaction
from memoranda.words.errors import Conflict, Gone, NotFound

GIVEN: Final = "branch_from_turn_{turn}"
"""What a branch is called that nobody named."""


def read(tx: Transaction, place: Place, branch: str, most: int | None) -> list[StoredMessage]:
    """A branch's messages in their order, or the last of them. Raises as `_place_on`."""
    found = _conversation(tx, _place_on(tx, place, branch))
    if found is None:
        return []
    # All of one view: a page at a time could miss what is taken away meanwhile.
    limit = found.length if most is None else min(most, found.length)
    return messages.latest(tx, found.id, limit)[::-1] if limit else []


def append(
    tx: Transaction, place: Place, branch: str, turn: Sequence[Written], most: int
) -> Conversation:
    """Put messages behind the last one of a branch."""
    return writing.append(tx, _place_on(tx, place, branch), turn, Expected(), most)


def take_last(
    tx: Transaction, place: Place, branch: str, most: int
) -> tuple[Conversation, StoredMessage] | None:
    """Take the last message out of a branch; None where there is none."""
    held = _hold(tx, _place_on(tx, place, branch))
    last = messages.latest(tx, held.conversation.id, 1) if held else []
    if held is None or not last:
        return None
    stored = rows.outline(tx, held.conversation.id)
    shorter = replacing.put(tx, held, stored, Target(len(stored) - 1, ()), most)
    return shorter, last[0]


def branch_off(
    tx: Transaction, place: Place, source: str, turn: int, *, name: str | None, most: int
) -> tuple[Branch, Conversation]:
    """Make a branch of all that was said before a user's turn, which counts from 1."""
    key = _key(place)
    generations.lock(tx, key.workflow_id)
    held = _hold(tx, _place_on(tx, place, source))
    turns = store.turns(tx, held.conversation.id) if held else []
    if held is None or not 0 < turn <= len(turns):
        raise NotFound(
            f"The branch {source[:80]!r} has no turn {turn} of a user's: it has {len(turns)}.",
            turns=len(turns),
        )
    named = _free_name(tx, key, turn) if name is None else name
    if store.named(tx, key, named) is not None:
        raise Conflict(
            f"The branch name {named[:80]!r} has already been used here: choose another.",
            name=named,
        )
    there = held.conversation
    subject = place.subject.model_copy(
        update={"user_id": there.user_id, "agent_id": there.agent_id}
    )
    made = writing.begin_unnamed(tx, subject, key.generation)
    begun = store.before(tx, there.id, turns[turn - 1])
    if begun:
        at = Place(None, made.id, subject, place.seen)
        made = writing.append(tx, at, begun, Expected(), most)
    store.add(tx, key, named, made.id)
    return _branch(tx, named, made), made


def listed(tx: Transaction, place: Place) -> list[Branch]:
    """The branches that go on, the one that the conversation began as first."""
    key = _key(place)
    check_generation(key.workflow_id, key.generation, generations.present(tx, key.workflow_id))
    main = _conversation(tx, place)
    found = [] if main is None else [_branch(tx, MAIN, main)]
    for each in store.going_on(tx, key):
        there = messages.find(tx, each.conversation_id)
        if there is not None and place.seen(there):
            found.append(_branch(tx, each.name, there))
    return found


def remove(tx: Transaction, place: Place, name: str) -> list[Conversation]:
    """Delete a branch with what was said on it alone. Raises as `_place_on`."""
    at = _place_on(tx, place, name)
    _hold(tx, at)
    store.end(tx, _key(place), name, "deleted")
    return _told(tx, writing.purge(tx, at))


def clear(tx: Transaction, place: Place) -> tuple[Conversation | None, list[Conversation]]:
    """Take away all that was said, and every branch; what the conversation is then, and what is gone."""
    key = _key(place)
    generations.lock(tx, key.workflow_id)
    _conversation(tx, place)
    gone: list[Conversation] = []
    for each in store.going_on(tx, key):
        at = Place(None, each.conversation_id, place.subject, place.seen)
        _hold(tx, at)
        store.end(tx, key, each.name, "cleared")
        gone += writing.purge(tx, at)
    # Last, because it records an event, and who waits for that may hold a branch.
    cleared = writing.clear(tx, place)
    return cleared, _told(tx, gone)


def _place_on(tx: Transaction, place: Place, branch: str) -> Place:
    """The conversation of a branch. Raises `NotFound` for one that never was, or was deleted, and `Gone` for a cleared one.

    Raises `OlderGeneration` and `LaterGeneration` as `main` does.
    """
    if branch == MAIN:
        return place
    key = _key(place)
    check_generation(key.workflow_id, key.generation, generations.present(tx, key.workflow_id))
    found = store.named(tx, key, branch)
    if found is not None and found.ended == "cleared":
        raise Gone(f"The branch {branch[:80]!r} was cleared: go on with {MAIN!r}.", branch=branch)
    if found is None or found.conversation_id is None:
        raise NotFound(
            f"The branch {branch[:80]!r} does not exist. Choose one of those that are listed.",
            branch=branch,
        )
    return Place(None, found.conversation_id, place.subject, place.seen)


def _key(place: Place) -> ConversationKey:
    if place.key is None:
        raise AssertionError("branches are of a key")
    return place.key


def _conversation(tx: Transaction, place: Place) -> Conversation | None:
    """The conversation of a place, to be read. Raises `NotFound` for another's, and for an older generation."""
    if place.key is not None:
        found = messages.under_key(tx, place.key)
        present = generations.present(tx, place.key.workflow_id)
        check_generation(place.key.workflow_id, place.key.generation, present)
    else:
        found = None if place.id is None else messages.find(tx, place.id)
    if found is not None and not place.seen(found):
        raise not_seen(None)
    return found


def _hold(tx: Transaction, place: Place) -> rows.Held | None:
    """The conversation of a place, which nobody else changes until the commit."""
    found = _conversation(tx, place)
    return None if found is None else rows.hold(tx, found.id)


def _free_name(tx: Transaction, key: ConversationKey, turn: int) -> str:
    """A name that was never given; the caller holds the workflow's lock."""
    first = GIVEN.format(turn=turn)
    name, number = first, 1
    while store.named(tx, key, name) is not None:
        number += 1
        name = f"{first}_{number}"
    return name


def _told(tx: Transaction, gone: list[Conversation]) -> list[Conversation]:
    for each in gone:
        rows.changed(tx, each, "purged")
    return gone


def _branch(tx: Transaction, name: str, there: Conversation) -> Branch:
    return Branch(
        name=name,
        conversation_id=there.id,
        messages=there.length,
        turns=store.count_turns(tx, there.id),
        created_at=there.created_at,
    )
