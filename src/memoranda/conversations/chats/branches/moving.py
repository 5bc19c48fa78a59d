"""A move from one branch to another, within one transaction: agents' memories go along, or nothing changes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from memoranda.conversations.chats import store as chats
from memoranda.conversations.chats import tree
from memoranda.conversations.chats.branches import lists, store
from memoranda.conversations.chats.branches.models import Cursor, Snapshot
from memoranda.conversations.chats.errors import branch_unavailable
from memoranda.conversations.chats.models import Chat, ChatRun
from memoranda.conversations.chats.store import Place
from memoranda.conversations.models import Conversation
from memoranda.storage import Transaction


class Ways(NamedTuple):
    """A chat's tree and runs, and where in it the chat is."""

    places: Mapping[UUID, Place]
    runs: Sequence[ChatRun]
    leaf: UUID | None

    @property
    def shown(self) -> list[Place]:
        """The path that is shown."""
        return tree.path(self.places, self.leaf)

    def back_to(self, place: UUID | None) -> tree.Crossing:
        """What is left by whoever goes on anew behind that message, or from the beginning."""
        return self._crossing(place)

    def over_to(self, leaf: UUID) -> tree.Crossing:
        """What is left by whoever comes back to a leaf, and come back to."""
        return self._crossing(leaf)._replace(to=leaf)

    def _crossing(self, leaf: UUID | None) -> tree.Crossing:
        after = tree.path(self.places, leaf)
        return tree.crossing(tree.standing(self.shown, self.runs), tree.standing(after, self.runs))


def ways_of(tx: Transaction, chat: Chat) -> Ways:
    """The ways that there are in a chat that is held."""
    return Ways(chats.outline(tx, chat.id), chats.runs_of(tx, chat.id), chat.active_leaf)


def go(
    tx: Transaction, chat: Chat, ways: Ways, crossing: tree.Crossing, most: int
) -> list[Conversation]:
    """Leave a part of the path that is shown.

    Each agent that a run on the part left or on the part to come began with is taken along; what it knew on the
    part left is kept. Answers the conversations that changed. Raises `CannotRewind` and `BranchUnavailable`.
    """
    to = crossing.to
    left = store.cursors(tx, crossing.left)
    entered = {each.agent_id for each in store.cursors(tx, crossing.entered)}
    kept = {} if to is None else store.kept(tx, to)
    began: dict[UUID | None, Cursor] = {}
    for cursor in left:
        began.setdefault(cursor.agent_id, cursor)
    agents = sorted({*began, *entered}, key=str)
    found = [lists.hold(tx, chat, agent_id) for agent_id in agents]
    for each in found:
        if to is not None and each.agent_id in entered and each.agent_id not in kept:
            raise branch_unavailable(to)
    _keep(tx, chat, ways, [lists.snapshot_of(tx, each) for each in found])
    changed = [
        lists.bring_back(tx, each, kept[each.agent_id], most)
        if each.agent_id in kept
        else lists.cut(tx, each, began[each.agent_id], most)
        for each in found
    ]
    if to is not None:
        store.drop(tx, [to])  # it is where the chat is now
    store.keep_within(tx, chat.id)
    chats.leave(tx, crossing.left, crossing.entered)
    return [each for each in changed if each is not None]


def _keep(tx: Transaction, chat: Chat, ways: Ways, snapshots: Sequence[Snapshot]) -> None:
    """Keep what is left for the day on which somebody comes back, which nobody can to where a branch goes on."""
    leaf = ways.leaf
    if leaf is None or any(place.parent_id == leaf for place in ways.places.values()):
        return
    for snapshot in snapshots:
        store.keep(tx, chat, leaf, snapshot)
