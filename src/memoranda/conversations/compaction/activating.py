"""Puts a summary in the place of what it stands for: one transaction, and only if nothing of that has changed."""

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.conversations.compaction import store
from memoranda.conversations.compaction.models import Compaction
from memoranda.conversations.compaction.planning import Candidate, Plan
from memoranda.conversations.digests import chains
from memoranda.conversations.models import Conversation
from memoranda.conversations.preparing import turn_of
from memoranda.conversations.rows import store as rows
from memoranda.conversations.rows.store import Held, Outlined, Placed
from memoranda.storage import Transaction

OUTDATED = (
    "What the summary was made of has changed meanwhile: it was cleared, saved anew, compacted, pinned "
    "or unpinned. Compact it again."
)


class Activated(NamedTuple):
    """The attempt as it was recorded, and the conversation as it is now; None where nothing has changed."""

    attempt: Compaction
    conversation: Conversation | None


def activate(tx: Transaction, plan: Plan, made: Candidate, attempt: Compaction) -> Activated:
    """Let the candidate take effect if the list still begins with what it was made of.

    What was appended meanwhile stays behind it, exactly. The messages that the summary stands for go to the
    archive. Else the attempt is recorded as outdated, and nothing changes.
    """
    held = rows.hold(tx, plan.conversation.id)
    if held is None or held.ended_at is not None:
        return Activated(outdated(attempt), None)
    stored = rows.outline(tx, plan.conversation.id)
    if not _is_current(tx, plan, stored):
        return Activated(store.record(tx, outdated(attempt)), None)
    return _put(tx, plan, made, attempt, held=held, stored=stored)


def outdated(attempt: Compaction) -> Compaction:
    """The attempt as one that came too late."""
    return attempt.model_copy(
        update={"status": "outdated", "reason": OUTDATED, "messages": 0, "number": None}
    )


def _is_current(tx: Transaction, plan: Plan, stored: Sequence[Outlined]) -> bool:
    """Whether all before the boundary says the same, in the same places, and is pinned the same."""
    end = plan.boundary.end
    if len(stored) < end or stored[end - 1].chain != plan.source_digest:
        return False
    head = plan.head
    if [row.position for row in stored[:end]] != [message.position for message in head]:
        return False
    pinned = {message.position for message in head if message.pinned}
    return store.pinned(tx, plan.conversation.id, head[-1].position) == pinned


def _put(
    tx: Transaction,
    plan: Plan,
    made: Candidate,
    attempt: Compaction,
    *,
    held: Held,
    stored: Sequence[Outlined],
) -> Activated:
    conversation_id, end = plan.conversation.id, plan.boundary.end
    taken = {message.position for message in plan.taken}
    place, [summary] = plan.taken[0].position, turn_of([made.summary])
    left = [(row.position, row.digest) for row in stored if row.position not in taken]
    list_now = sorted([*left, (place, summary.digest)])
    linked = dict(
        zip(
            (position for position, _ in list_now),
            chains(digest for _, digest in list_now),
            strict=True,
        )
    )
    moved = rows.take_away(tx, conversation_id, sorted(taken), compaction_id=attempt.id)
    rows.place(tx, conversation_id, [Placed(place, summary, linked[place])])
    known = {row.position: row.chain for row in stored}
    rows.rechain(
        tx,
        conversation_id,
        [(at, linked[at]) for at, _ in left if known[at] != linked[at]],
    )
    there = held.conversation
    now = rows.settle(
        tx,
        held,
        length=len(list_now),
        size=there.bytes - sum(row.bytes for row in moved) + summary.bytes,
        digest=linked[list_now[-1][0]],
        last_position=held.last_position,
    )
    done = _record(tx, plan, attempt, linked, result_length=end - len(taken) + 1)
    rows.changed(tx, now, "compacted")
    return Activated(done, now)


def _record(
    tx: Transaction, plan: Plan, attempt: Compaction, linked: dict[int, str], *, result_length: int
) -> Compaction:
    """Record what was compacted, and by what a list from before it is known."""
    number = store.next_number(tx, plan.conversation.id)
    in_order = sorted(linked)
    return store.record(
        tx,
        attempt.model_copy(update={"status": "activated", "number": number, "reason": None}),
        source_length=plan.boundary.end,
        source_digest=plan.source_digest,
        loaded_length=plan.loaded.length,
        loaded_digest=plan.loaded.digest,
        result_length=result_length,
        result_digest=linked[in_order[result_length - 1]],
    )


def fail(tx: Transaction, attempt: Compaction) -> Compaction:
    """Record an attempt that changed nothing; where the conversation is gone, so is the attempt."""
    if rows.hold(tx, attempt.conversation_id) is None:
        return attempt
    return store.record(tx, attempt)
