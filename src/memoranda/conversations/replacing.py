"""How one list takes another's place within a transaction: what is left goes to the archive, the rest is chained anew."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memoranda.conversations.compaction import store as compactions
from memoranda.conversations.difference import Placing, difference
from memoranda.conversations.digests import NO_CHAIN, chains
from memoranda.conversations.errors import too_large
from memoranda.conversations.finding import store as index
from memoranda.conversations.models import ChangeAction, Conversation
from memoranda.conversations.rows import store as rows
from memoranda.conversations.rows.store import Held, Outlined, Placed, Written
from memoranda.storage import Row, Transaction


class Target(NamedTuple):
    """The list that there shall be: the first `kept` rows as they are, and these messages after them.

    `times` are when those were said, where they come back and are no new ones.
    """

    kept: int
    messages: Sequence[Written]
    times: Sequence[datetime] = ()

    def digests(self, stored: Sequence[Outlined]) -> list[str]:
        """Of the whole list."""
        return [
            *(row.digest for row in stored[: self.kept]),
            *(each.digest for each in self.messages),
        ]


def replace(tx: Transaction, held: Held, messages: Sequence[Written], most: int) -> Conversation:
    """Let these be the messages; where they begin with what was compacted since, that stays compacted."""
    stored = rows.outline(tx, held.conversation.id)
    return put(tx, held, stored, _target(tx, held.conversation.id, stored, messages), most)


def put(
    tx: Transaction,
    held: Held,
    stored: Sequence[Outlined],
    target: Target,
    most: int,
    *,
    action: ChangeAction = "saved",
) -> Conversation:
    """Write what differs from the `stored` rows: those that are left go to the archive, the others get their chains."""
    there = held.conversation
    digests = target.digests(stored)
    changes = difference(
        [row.position for row in stored],
        [row.digest for row in stored],
        digests,
        held.last_position,
    )
    linked = list(chains(digests))
    before = {row.position: row for row in rows.take_away(tx, there.id, changes.left)}
    formers = {each.former for each in changes.placed}
    pins = Counter(row.digest for at, row in before.items() if row.pinned and at not in formers)
    placed = [_placed(target, each, linked, before, pins) for each in changes.placed]
    size = (
        there.bytes
        - sum(row.bytes for row in before.values())
        + sum(each.written.bytes for each in placed)
    )
    if size > most:
        raise too_large(size, most)
    if before:
        rows.keep_within(tx, there.id, most)
    known = {row.position: row.chain for row in stored}
    links = [(at, linked[n]) for n, at in changes.kept if known[at] != linked[n]]
    rows.place(tx, there.id, placed)
    rows.rechain(tx, there.id, links)
    now = rows.settle(
        tx,
        held,
        length=len(linked),
        size=size,
        digest=linked[-1] if linked else NO_CHAIN,
        last_position=max([held.last_position, *(each.position for each in placed)]),
    )
    again = [each.position for each in placed if each.position <= held.last_position]
    if changes.left or again:
        index.take_out(tx, there.id, since=min(changes.left[:1] + again))
    if placed:
        index.mark(tx, there.id)
    rows.changed(tx, now, action)
    return now


def _placed(
    target: Target,
    placing: Placing,
    linked: Sequence[str],
    before: Mapping[int, Row],
    pins: Counter[str],
) -> Placed:
    """The row of a message; one that moved keeps its time and pin, and one of `pins` is pinned wherever it is."""
    said = target.messages[placing.place - target.kept]
    at, chain = placing.position, linked[placing.place]
    if placing.former is not None:
        moved = before[placing.former]
        return Placed(at, said._replace(pinned=moved.pinned), chain, moved.created_at)
    if pins[said.digest]:
        pins[said.digest] -= 1
        said = said._replace(pinned=True)
    return Placed(
        at, said, chain, target.times[placing.place - target.kept] if target.times else None
    )


def _target(
    tx: Transaction,
    conversation_id: UUID,
    stored: Sequence[Outlined],
    messages: Sequence[Written],
) -> Target:
    """The list as given; where it begins with what was compacted since, what stands for that, and the rest."""
    based = compactions.rebased(tx, conversation_id, [each.digest for each in messages])
    if (
        based is None
        or not 0 < based.kept <= len(stored)
        or stored[based.kept - 1].chain != based.digest
    ):
        return Target(0, messages)
    return Target(based.kept, messages[based.cut :])
