"""An agent's conversation as a move finds it and leaves it; whoever calls holds the chat and so its workflow."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from memoranda.conversations.chats.branches import store
from memoranda.conversations.chats.branches.marks import kept_upto
from memoranda.conversations.chats.branches.models import Cursor, Ground, Kept, Snapshot
from memoranda.conversations.chats.errors import cannot_rewind
from memoranda.conversations.chats.models import Chat
from memoranda.conversations.models import Conversation, ConversationKey
from memoranda.conversations.replacing import Target, put
from memoranda.conversations.rows import store as rows
from memoranda.conversations.rows.store import Held
from memoranda.conversations.writing import fence_of
from memoranda.storage import Transaction


class Found(NamedTuple):
    """The conversation of one agent, held; none where nothing was ever saved."""

    agent_id: UUID | None
    held: Held | None
    ground: Ground


def key_of(chat: Chat, agent_id: UUID | None) -> ConversationKey:
    """The key of an agent's conversation in the chat."""
    return ConversationKey(
        workflow_id=chat.workflow_id, generation=chat.generation, agent_id=agent_id
    )


def hold(tx: Transaction, chat: Chat, agent_id: UUID | None) -> Found:
    """Hold the agent's conversation until the commit."""
    key = key_of(chat, agent_id)
    held = rows.hold_key(tx, key)
    if held is None:
        return Found(agent_id, None, Ground(fence_of(tx, key), 0))
    there = held.conversation
    return Found(agent_id, held, Ground(there.fence, store.compactions(tx, there.id)))


def snapshot_of(tx: Transaction, found: Found) -> Snapshot:
    """All of it, to be kept."""
    there = found.held
    messages = [] if there is None else store.whole(tx, there.conversation.id)
    return Snapshot(found.agent_id, found.ground, messages)


def cut(tx: Transaction, found: Found, cursor: Cursor, most: int) -> Conversation | None:
    """Take it back to where a run began; as it is then, or None where there is nothing to take back.

    Raises `CannotRewind` where it was cleared or compacted since, or does not begin as it did then.
    """
    if found.ground != cursor.ground:
        raise cannot_rewind(found.agent_id)
    if found.held is None:
        return None
    lines = store.lines(tx, found.held.conversation.id)
    kept = kept_upto(lines, cursor.given)
    if kept is None:
        kept = kept_upto(lines, cursor.stored)
    if kept is None:
        raise cannot_rewind(found.agent_id)
    return _put(tx, found.held, Target(kept, ()), most)


def bring_back(tx: Transaction, found: Found, snapshot: Snapshot, most: int) -> Conversation | None:
    """Let it be again what was kept; as it is then. Raises `CannotRewind` where it was cleared or compacted since."""
    if found.ground != snapshot.ground:
        raise cannot_rewind(found.agent_id)
    if found.held is None:
        return None
    return _put(tx, found.held, _target(snapshot.messages), most)


def _target(messages: Sequence[Kept]) -> Target:
    return Target(0, [each.written for each in messages], [each.ts for each in messages])


def _put(tx: Transaction, held: Held, target: Target, most: int) -> Conversation | None:
    stored = rows.outline(tx, held.conversation.id)
    if target.digests(stored) == [row.digest for row in stored]:
        return None
    return put(tx, held, stored, target, most, action="moved")
